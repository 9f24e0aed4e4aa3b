import { join } from 'node:path';
import pg from 'pg';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import type { Statement } from '../../src/database/pool/pg-pipeline.ts';
import * as attendance from '../../src/domain/attendance/record-statements.ts';
import * as photoReports from '../../src/domain/photo-reports/sync-statements.ts';
import { operations } from '../support/definition.ts';
import { type Service, useService } from '../support/harness.ts';
import { OperationCalls } from '../support/operation-calls.ts';
import { recordReads } from '../support/recorded-reads.ts';
import { createSamples, type Samples } from '../support/samples.ts';

const SNAPSHOT = join(import.meta.dirname, '../samples', 'builder-statements.txt');

/** A comparison of the builder with a parameter or value, the assignment of a new row, and neither one that may be omitted. */
const COMPARISON = /\bbuilder_id"?\s*(?:=|in)\s*(?:any\s*)?\(?\s*(?:\$\d|q\.|')/i;
const NEW_ROW = /\binsert into [\w"]+ \([^)]*\bbuilder_id\b/i;
const OPTIONAL = /is null or [\w."]*builder_id/i;

/** Parts of a statement that changes rows. */
const CHANGE = /\b(insert into|delete from|update(?= "?\w+"?(?: \w+)? set\b)) "?(\w+)/i;

/** Tables that a timer writes, which may run during a request. */
const TIMED = new Set(['usage_day', 'request_log']);

const service = useService();
let samples: Samples;

beforeAll(async () => {
  samples = await createSamples(service.databases.au1, service.findDemoClient('A').builderIds[0]!);
});

/** Whether the text of a statement names the builder, which routing by builder would need. */
const namesBuilder = ({ name, text }: Statement): boolean =>
  // The id of a builder is its own.
  /^Builder[.~]/.test(name) || ((COMPARISON.test(text) || NEW_ROW.test(text)) && !OPTIONAL.test(text));

const isStatement = (value: unknown): value is Statement => typeof (value as Statement).text === 'string';

/** Returns the prepared writes, and those that MikroORM makes while every operation that writes is called. They are named by their table. */
async function recordWrites(): Promise<Statement[]> {
  let isRequested = false;
  const request: Service['request'] = async (...args) => {
    isRequested = true;
    return service.request(...args).finally(() => {
      isRequested = false;
    });
  };
  const calls = new OperationCalls(Object.create(service, { request: { value: request } }), samples);
  const sent: (string | Statement)[] = [];
  const { query } = pg.Client.prototype;
  const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...args: unknown[]) {
    if (isRequested) sent.push(args[0] as string | Statement);
    return Reflect.apply(query, this, args);
  } as typeof query);
  const token = await service.tokenOf('A');
  for (const operation of operations.filter(({ method }) => method !== 'GET')) {
    const { status, body } = await calls.rest(operation, token);
    if (status >= 300) throw new Error(`${operation.operationId}: ${body}`);
  }
  spy.mockRestore();
  const prepared = [...Object.values(attendance), ...Object.values(photoReports)].filter(isStatement);
  return [...sent, ...prepared].flatMap((each) => {
    const { name, text } = typeof each === 'string' ? { name: '', text: each } : each;
    const [, verb, table] = CHANGE.exec(text) ?? [];
    return verb && !TIMED.has(table!) ? [{ name: name || `${verb} ${table}`, text }] : [];
  });
}

describe('the statements of the service', () => {
  it('name the builder or not, by their text (`-u` writes the snapshot, which `npm run bench -- scale` reads)', async () => {
    // A function call reads no table. It is recorded only when the first read of the log happened too early.
    const reads = [...(await recordReads(service, samples)).values()].filter(({ text }) => /\bfrom\b/.test(text));
    const kinds = { read: reads, write: await recordWrites() };
    const lines = Object.entries(kinds).flatMap(([kind, statements]) =>
      // Several statements of MikroORM may have one name.
      [...Map.groupBy(statements, ({ name }) => name)].map(
        ([name, same]) => `${kind} ${same.every(namesBuilder) ? 'names' : 'lacks'} ${name}`,
      ),
    );
    await expect(`${lines.sort().join('\n')}\n`).toMatchFileSnapshot(SNAPSHOT);
  });
});
