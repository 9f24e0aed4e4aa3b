import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { timesheets } from '../resolvers/timesheet/timesheet.reader.ts';
import type { Statement } from '../src/database/wire.ts';
import { type Service, startService } from './harness.ts';

let service: Service;
let tokens: Record<'A' | 'B', string>;

beforeAll(async () => {
  service = await startService();
  tokens = { A: await service.as('A'), B: await service.as('B') };
});

afterAll(() => service?.stop());

const runner = () => service.databases.au1.runner;

/** Names of the statements that the work takes, but for the check of the token. */
async function statementsOf(work: () => Promise<unknown>): Promise<string[]> {
  const names: string[] = [];
  const end = runner().onStatement(({ name }) => names.push(name));
  await work();
  end();
  return names.filter((name) => name !== 'access.facts');
}

/** Whose list, which part of it, by which token. */
function lists() {
  return (['A', 'B'] as const).flatMap((name) =>
    service
      .demo(name)
      .builderIds.flatMap((id) =>
        ['', 'limit=1', 'offset=3&limit=2', 'offset=400'].map(
          (query) => [`/timesheets?${query}`, tokens[name], id] as const,
        ),
      ),
  );
}

const read = async ([url, token, builderId]: readonly [url: string, token: string, builderId: string]) => {
  const { statusCode, body } = await service.get(url, token, { 'x-service-builder-id': builderId });
  return { statusCode, body };
};

describe('reads that are asked for in one turn of the event loop', () => {
  it('are answered by one statement, each with what it would get alone', async () => {
    const alone: unknown[] = [];
    for (const list of lists()) alone.push(await read(list));
    expect(new Set(alone.map((answer) => JSON.stringify(answer))).size).toBeGreaterThan(6);
    let together: unknown[] = [];
    const names = await statementsOf(async () => {
      together = await Promise.all(lists().map(read));
    });
    expect(together).toEqual(alone);
    expect(names).toEqual(['Timesheet.page(builderId)']);
  });

  it('never give one the records of another: a builder that is not connected is refused beside one that is', async () => {
    const [own] = service.demo('A').builderIds;
    const foreign = service.demo('B').builderIds.find((id) => !service.demo('A').builderIds.includes(id))!;
    const [mine, theirs, refused] = await Promise.all([
      read(['/timesheets', tokens.A, own!]),
      read(['/timesheets', tokens.B, foreign]),
      read(['/timesheets', tokens.A, foreign]),
    ]);
    expect([mine.statusCode, theirs.statusCode, refused.statusCode]).toEqual([200, 200, 403]);
    const ids = ({ body }: { body: string }) => JSON.parse(body).data.map(({ id }: { id: string }) => id) as string[];
    expect(ids(mine).filter((id) => ids(theirs).includes(id))).toEqual([]);
  });

  it('are asked alone where they may take long: far down a large list, and where it has to be counted', async () => {
    const { au1 } = service.databases;
    const [builderId] = service.demo('A').builderIds;
    const window = { offset: 1000, limit: 25 };
    const names = await statementsOf(() =>
      Promise.all([timesheets.page(au1, { builderId }, window), timesheets.page(au1, { builderId }, window)]),
    );
    expect(names).toEqual(['Timesheet.deep(builderId)', 'Timesheet.deep(builderId)']);
  });
});

describe('a statement for several at once', () => {
  const divide: Statement = {
    name: 'divide',
    text: 'select q.n, 12 / q.v::int from unnest($1::text[]) with ordinality q(v, n)',
  };
  const spell: Statement = {
    name: 'spell',
    text: `select q.n, item from unnest($1::text[], $2::text[]) with ordinality q(list, after, n)
      cross join lateral unnest(q.list::text[]) item where item > q.after order by q.n, item desc`,
  };

  it('gives each asker the rows of its own values, in their order, and none where there are none', async () => {
    const answers = await Promise.all([
      runner().ask(spell, [
        [['a', 'c', 'b'], 'a'],
        [[], ''],
      ]),
      runner().ask(spell, [[['x "y" \\ {z},', 'ü'], 'c']]),
    ]);
    expect(answers.map((lists) => lists.map((rows) => rows.map(([, item]) => item)))).toEqual([
      [['c', 'b'], []],
      [['ü', 'x "y" \\ {z},']],
    ]);
  });

  it('fails for the one alone whose values are at fault', async () => {
    const [good, bad, other] = await Promise.allSettled([
      runner().ask(divide, [['3'], ['4']]),
      runner().ask(divide, [['1'], ['0']]),
      runner().ask(divide, [['6']]),
    ]);
    expect(good).toMatchObject({
      value: [[['1', '4']], [['2', '3']]],
    });
    expect(bad).toMatchObject({ reason: { code: '22012' } });
    expect(other).toMatchObject({ value: [[['1', '2']]] });
  });

  it('takes a hundred at a time, or all of one who asks for more', async () => {
    const ask = (count: number) => runner().ask(divide, new Array(count).fill(['3']));
    const names = await statementsOf(() => Promise.all([ask(60), ask(40), ask(1), ask(150)]));
    expect(names).toEqual(['divide', 'divide', 'divide']);
  });
});
