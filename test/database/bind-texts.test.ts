import pg from 'pg';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { Meeting } from '../../entities/meeting.entity.ts';
import { createUser, updateUser } from '../../src/domain/access/users.ts';
import { OPERATOR } from '../support/audit.ts';
import { operations } from '../support/definition.ts';
import { useService } from '../support/harness.ts';
import { OperationCalls } from '../support/operation-calls.ts';
import { createSamples, type Samples } from '../support/samples.ts';

const service = useService();
let samples: Samples;
beforeAll(async () => {
  samples = await createSamples(service.databases.au1, service.findDemoClient('A').builderIds[0]!);
});

/** Runs the work, and returns the texts of its statements, as PostgreSQL receives them and logs those that fail. */
async function recordStatements(work: () => Promise<unknown>): Promise<string[]> {
  const query = vi.spyOn(pg.Client.prototype, 'query');
  await work();
  const sent = query.mock.calls.map(([statement]) => statement as unknown as string | { text?: string });
  query.mockRestore();
  return sent.map((statement) => (typeof statement === 'string' ? statement : (statement.text ?? '')));
}

const textsOf = (value: unknown): string[] =>
  typeof value === 'string' ? [value] : value && typeof value === 'object' ? Object.values(value).flatMap(textsOf) : [];

describe('the statements of writes', () => {
  it('have no text that an integrator has sent', async () => {
    const inject = vi.spyOn(service.app, 'inject');
    const statements = await recordStatements(async () => {
      const token = await service.tokenOf('A');
      const calls = new OperationCalls(service, samples);
      for (const operation of operations.filter(({ method }) => method !== 'GET')) await calls.rest(operation, token);
    });
    const sent = (inject.mock.calls as unknown[][]).flatMap(([request]) => {
      const { payload } = request as { payload?: unknown };
      return textsOf(typeof payload === 'string' && payload.startsWith('{') ? JSON.parse(payload) : payload);
    });
    inject.mockRestore();
    // Others are words of the contract.
    const texts = [...new Set(sent)].filter((text) => /[ .@/-]|\d/.test(text) && text.length > 5);
    expect(texts).toContain('Weekly site meeting');
    expect(statements.some((text) => text.startsWith('insert into "meeting"'))).toBe(true);
    for (const text of texts) expect(statements.filter((statement) => statement.includes(text))).toEqual([]);
  });

  it('have neither name nor address of a user, also in the audit log', async () => {
    const context = { database: service.databases.au1, clock: service.clock, source: OPERATOR };
    const statements = await recordStatements(async () => {
      const user = { name: 'Priya Nair', email: 'priya@people.example', password: null };
      const { userId } = await createUser(context, user);
      await updateUser(context, userId, { name: 'Priya Nair-Webb', email: 'nair@people.example' });
    });
    expect(statements.some((text) => text.startsWith('insert into "audit_entry"'))).toBe(true);
    expect(statements.filter((text) => /nair|priya/i.test(text))).toEqual([]);
  });

  it.each(['', "it's", "\\'; drop table meeting; --", 'é漢😀\n\t"$1 ?', 'null', 'x'.repeat(1_000_000)])(
    'store and find a text as it is: %j',
    async (title) => {
      const em = service.databases.au1.fork();
      const id = samples.MeetingId!;
      await em.nativeUpdate(Meeting, { id }, { title });
      expect(await em.execute('select id from meeting where title = ? and id in (?)', [title, [id]])).toEqual([{ id }]);
    },
  );

  it('may have more texts than values can be bound', async () => {
    const ids = Array.from({ length: 70_000 }, (_, index) => `meet_${index}`);
    const em = service.databases.au1.fork();
    expect(await em.count(Meeting, { id: { $in: [...ids, samples.MeetingId!] } })).toBe(1);
  });
});
