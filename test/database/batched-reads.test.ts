import pg from 'pg';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { CostCode } from '../../entities/cost-code.entity.ts';
import type { Statement } from '../../src/database/pool/pg-pipeline.ts';
import { StatementRunner } from '../../src/database/pool/statement-runner.ts';
import { defects } from '../../src/domain/readers/defect.reader.ts';
import { photos } from '../../src/domain/readers/photo.reader.ts';
import { costCodes, timesheets } from '../../src/domain/readers/timesheet.reader.ts';
import { useService } from '../support/harness.ts';

const service = useService();
let tokens: Record<'A' | 'B', string>;

beforeAll(async () => {
  tokens = { A: await service.tokenOf('A'), B: await service.tokenOf('B') };
});

const runner = () => service.databases.au1.runner;

/** Returns the names of the statements that the work sends, except that of the token's check. */
async function recordStatements(work: () => Promise<unknown>): Promise<string[]> {
  const names: string[] = [];
  const removeListener = service.databases.au1.onStatement(({ name }) => names.push(name));
  await work();
  removeListener();
  return names.filter((name) => name !== 'access.facts');
}

/** URL, token and builder of each list that the tests read. */
function listRequests() {
  return (['A', 'B'] as const).flatMap((name) =>
    service
      .findDemoClient(name)
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

describe('reads that are issued in one tick of the event loop', () => {
  it('share statements, with the results that each has alone', async () => {
    const alone: unknown[] = [];
    for (const list of listRequests()) alone.push(await read(list));
    expect(new Set(alone.map((answer) => JSON.stringify(answer))).size).toBeGreaterThan(6);
    let together: unknown[] = [];
    const names = await recordStatements(async () => {
      together = await Promise.all(listRequests().map(read));
    });
    expect(together).toEqual(alone);
    expect(new Set(names).size).toBe(1);
    // While two integrators are active, each begins one request in a turn of the event loop, and PostgreSQL may answer between turns.
    expect(names.length).toBeLessThanOrEqual(Math.ceil(listRequests().length / 2));
  });

  it('do not mix records of builders: a builder without a connection is 403 in the same batch', async () => {
    const [own] = service.findDemoClient('A').builderIds;
    const foreign = service
      .findDemoClient('B')
      .builderIds.find((id) => !service.findDemoClient('A').builderIds.includes(id))!;
    const [mine, theirs, refused] = await Promise.all([
      read(['/timesheets', tokens.A, own!]),
      read(['/timesheets', tokens.B, foreign]),
      read(['/timesheets', tokens.A, foreign]),
    ]);
    expect([mine.statusCode, theirs.statusCode, refused.statusCode]).toEqual([200, 200, 403]);
    const ids = ({ body }: { body: string }) => JSON.parse(body).data.map(({ id }: { id: string }) => id) as string[];
    expect(ids(mine).filter((id) => ids(theirs).includes(id))).toEqual([]);
  });

  it('run alone when they are slow: at a large offset, and when a large list has to be counted', async () => {
    const { au1 } = service.databases;
    const [builderId] = service.findDemoClient('A').builderIds;
    const far = { offset: 1000, limit: 25 };
    const ranged = { builderId, startDate: '2026-01-01T00:00:00.000Z' };
    const twice = (page: () => Promise<unknown>) => recordStatements(() => Promise.all([page(), page()]));
    expect(await twice(() => timesheets.findPage(au1, { builderId }, far))).toHaveLength(2);
    expect(await twice(() => timesheets.findPage(au1, ranged, { ...far, offset: 0 }))).toHaveLength(2);
    expect(await twice(() => defects.findPage(au1, { builderId }, far))).toHaveLength(2);
    expect(await twice(() => defects.findPage(au1, { builderId }, { ...far, offset: 0 }))).toHaveLength(1);
  });

  it('return the photos of each builder and source separately', async () => {
    const { au1 } = service.databases;
    const builderIds = [...service.findDemoClient('A').builderIds, ...service.findDemoClient('B').builderIds];
    await au1.fork().execute(
      `insert into photo (id, created_at, updated_at, builder_id, project_id, source, file_name, content_type, key, file_size, sort_date)
       select 'att_many' || row_number() over (), now(), now(), p.builder_id, p.id, (array['GALLERY', 'SITE_DIARY', 'DEFECT'])[1 + n % 3],
         'a.jpg', 'image/jpeg', 'photos/' || p.builder_id || '/' || p.id || n, n, now() - n * interval '1 second'
       from project p, generate_series(1, 40) n where p.builder_id = any(?::text[])`,
      [`{${builderIds}}`],
    );
    const requests = builderIds.flatMap((builderId) =>
      [['GALLERY'], ['SITE_DIARY', 'DEFECT'], undefined].flatMap((source) =>
        [0, 7].map(
          (offset) =>
            [
              { builderId, source },
              { offset, limit: 5 },
            ] as const,
        ),
      ),
    );
    const alone: unknown[] = [];
    for (const [where, window] of requests) alone.push(await photos.findPage(au1, where, window));
    expect(new Set(alone.map((page) => JSON.stringify(page))).size).toBe(
      new Set(requests.map((one) => JSON.stringify(one))).size,
    );
    expect(await Promise.all(requests.map(([where, window]) => photos.findPage(au1, where, window)))).toEqual(alone);
  });
});

describe('a batched statement', () => {
  const divide: Statement = {
    name: 'divide',
    text: 'select q.n, 12 / q.v::int from unnest($1::text[]) with ordinality q(v, n)',
  };
  const spell: Statement = {
    name: 'spell',
    text: `select q.n, item from unnest($1::text[], $2::text[]) with ordinality q(list, after, n)
      cross join lateral unnest(q.list::text[]) item where item > q.after order by q.n, item desc`,
  };

  const toRows = (...values: string[]) => values.map((value) => [value]);

  it('returns to each query the rows of its own values, in order, or no rows', async () => {
    const answers = await Promise.all([
      runner().executeBatched(spell, [[['a', 'c', 'b'], 'a']]),
      runner().executeBatched(spell, [[[], '']]),
      runner().executeBatched(spell, [[['x "y" \\ {z},', 'ü'], 'c']]),
      runner().executeBatched(
        spell,
        ['a', 'c', 'd'].map((after) => [['b', 'd'], after]),
      ),
    ]);
    expect(answers.map((lists) => lists.map((rows) => rows.map(([, item]) => item)))).toEqual([
      [['c', 'b']],
      [[]],
      [['ü', 'x "y" \\ {z},']],
      [['d', 'b'], ['d'], []],
    ]);
  });

  it('rejects only the query with the invalid value', async () => {
    const [good, bad, other] = await Promise.allSettled([
      runner().executeBatched(divide, toRows('3', '4')),
      runner().executeBatched(divide, toRows('1', '0')),
      runner().executeBatched(divide, [['6']]),
    ]);
    expect(good).toMatchObject({
      value: [[['1', '4']], [['2', '3']]],
    });
    expect(bad).toMatchObject({ reason: { code: '22012' } });
    expect(other).toMatchObject({ value: [[['1', '2']]] });
  });

  it('rejects when the runner is closed, and leaves no connection open', async () => {
    const url = new URL(service.databases.au1.url);
    url.searchParams.set('application_name', 'closing');
    const closing = new StatementRunner(url.href);
    const query = closing.executeBatched(divide, [['3']]);
    await Promise.all([closing.close(), expect(query).rejects.toThrow('closed')]);
    const open = { name: 'open', text: "select 1 from pg_stat_activity where application_name = 'closing'" };
    expect(await runner().run(open, [])).toEqual([]);
  });

  it('reads on an open connection while the first one was lost and cannot be opened again', async () => {
    const { url } = service.databases.au1;
    const admin = new pg.Client({ connectionString: url });
    await admin.connect();
    await admin.query("create role limited login password 'limited' connection limit 2");
    const limitedUrl = Object.assign(new URL(url), { username: 'limited', password: 'limited' }).href;
    const limited = new StatementRunner(limitedUrl, { regular: 2, reserve: 0 });
    const findPid: Statement = { name: 'pid', text: 'select pg_backend_pid()::text' };
    const [first, second] = await Promise.all([limited.run(findPid, []), limited.run(findPid, [])]);
    await admin.query('select pg_terminate_backend($1, 5000)', [first![0]![0]]);
    const other = new pg.Client({ connectionString: limitedUrl });
    await other.connect();
    await vi.waitFor(async () => expect(await limited.run(findPid, [])).toEqual(second));
    await other.end();
    await limited.close();
    await admin.query('drop role limited');
    await admin.end();
  });

  it.each([
    ['eight queries', new Array(9).fill(1), 2],
    ['64 rows of parameters', [60, 4, 1], 2],
    ['all rows of parameters of one larger query', [100, 1], 2],
  ])('runs at most %s per batch', async (_what, counts, statements) => {
    const execute = (count: number) => runner().executeBatched(divide, toRows(...new Array(count).fill('3')));
    expect(await recordStatements(() => Promise.all(counts.map(execute)))).toEqual(
      new Array(statements).fill('divide'),
    );
  });
});

describe('a read without parameters', () => {
  it('returns all rows', async () => {
    const { au1 } = service.databases;
    expect(await costCodes.findAll(au1, {})).toHaveLength(await au1.fork().count(CostCode));
  });
});
