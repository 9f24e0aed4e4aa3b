import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ListOrder } from '../../schema/enums.ts';
import type { Page, PageWindow } from '../../schema/page.ts';
import type { Database } from '../../src/database/database.ts';
import { decodeListCursor, encodeListCursor } from '../../src/database/read/list-cursor.ts';
import { compactCounters, countWrongTotals, rebuildTotals } from '../../src/database/write/list-counters.ts';
import { defects } from '../../src/domain/readers/defect.reader.ts';
import { inductions } from '../../src/domain/readers/induction.reader.ts';
import { meetings } from '../../src/domain/readers/meeting.reader.ts';
import { photos } from '../../src/domain/readers/photo.reader.ts';
import { subcontractors } from '../../src/domain/readers/subcontractor.reader.ts';
import { timesheets } from '../../src/domain/readers/timesheet.reader.ts';
import { useService } from '../support/harness.ts';

const ROWS = 1500;
const SEED = 22;

interface ListCase {
  /** Columns of a row beside those that all lists have, and their values. */
  columns: Record<string, string>;
  /** Values of each filter, and its condition in the plain query, in which `$` is the value. */
  filters: Record<string, [condition: string, values: unknown[]]>;
  active?: string;
  findPage(database: Database, where: object, window: PageWindow): Promise<Page<{ id: string }>>;
}

const service = useService();
let client: pg.Client;
let cases: Record<string, ListCase>;
let builderId: string;

/** SQL of one of the values for row `n`. */
const pickSql = (salt: string, values: readonly (string | null)[]) =>
  `(array[${values.map((value) => (value === null ? 'null' : `'${value}'`)).join()}]::text[])[1 + abs(hashtext('${salt}' || n)) % ${values.length}]`;
/** Within 100 days, mostly in the first and on half hours, so that bounds of ranges are hit exactly. */
const instant = (salt: string) =>
  `timestamptz '2026-02-01Z' + abs(hashtext('${salt}' || n)) % (case n % 3 when 0 then 4800 else 96 end) * interval '30 minutes'`;

beforeAll(async () => {
  client = new pg.Client({ connectionString: service.databases.au1.url });
  await client.connect();
  const [own, otherId] = service.findDemoClient('A').builderIds as [string, string];
  builderId = own;
  const idsOf = async (table: string, of = builderId) =>
    (await client.query<{ id: string }>(`select id from ${table} where builder_id = $1 order by id`, [of])).rows.map(
      ({ id }) => id,
    );
  const projects = (await idsOf('project')).slice(0, 3);
  const folders = ['fold_a1', 'fold_a2'];
  await client.query(
    `insert into photo_folder (id, created_at, updated_at, builder_id, name) select id, now(), now(), $1, id from unnest($2::text[]) id`,
    [builderId, folders],
  );
  const [profile] = await idsOf('person_profile');
  const [worker] = await idsOf('worker');
  const companies = (
    await client.query('select id from subcontractor where builder_id = $1 and archived_at is null order by id', [
      builderId,
    ])
  ).rows.map(({ id }) => id as string);
  const builder: ListCase['filters'][string] = ['builder_id = $', [builderId, builderId, builderId, otherId]];
  const project: ListCase['filters'][string] = ['project_id = $', projects];
  const ranges: ListCase['filters'] = {
    startDate: [
      'date >= $',
      [
        ...['2026-02-01T00:00:00.000Z', '2026-02-01T13:00:00.000Z', '2026-02-02T00:00:00.000Z'],
        ...['2026-02-19T00:00:00.000Z', '2026-02-28T23:59:59.999Z', '2026-03-01T00:00:00.001Z'],
      ],
    ],
    endDate: [
      'date <= $',
      [
        ...['2026-02-01T23:59:59.999Z', '2026-02-02T11:30:00.000Z', '2026-03-01T00:00:00.000Z'],
        ...['2026-02-28T23:59:59.999Z', '2026-04-17T09:30:00.000Z', '2026-04-30T23:59:59.999Z'],
      ],
    ],
  };
  cases = {
    timesheet: {
      columns: {
        ...{ project_id: pickSql('p', projects), profile_id: `'${profile}'`, hours: '1', date: instant('d') },
        status: pickSql('s', ['APPROVED_1', 'REJECTED', 'REJECTED']),
      },
      filters: {
        ...{ builderId: builder, projectId: project, ...ranges },
        status: ['status = $', ['APPROVED_1', 'REJECTED', 'APPROVED_2']],
      },
      findPage: (database, where, window) => timesheets.findPage(database, where, window),
    },
    photo: {
      columns: {
        ...{ project_id: pickSql('p', [...projects, null]), folder_id: pickSql('f', [...folders, null]) },
        ...{
          file_name: `'a'`,
          content_type: `'image/jpeg'`,
          key: `'photos/' || $1 || '/' || n`,
          file_size: '1',
          sort_date: 'now()',
        },
        ...{ source: pickSql('s', ['GALLERY', 'SITE_DIARY']), archived_at: 'case when n % 7 = 0 then now() end' },
      },
      filters: {
        ...{ builderId: builder, projectId: project, folderId: ['folder_id = $', folders] },
        source: ['source = any($)', [['GALLERY'], ['SITE_DIARY', 'GALLERY'], ['ITP']]],
      },
      active: 'archived_at is null',
      findPage: (database, where, window) => photos.findPage(database, where, window),
    },
    meeting: {
      columns: {
        ...{ project_id: pickSql('p', [...projects, null]), title: `'a'`, date: instant('d') },
        status: pickSql('s', ['DRAFT', 'COMPLETED']),
      },
      filters: {
        ...{ builderId: builder, projectId: project, ...ranges },
        status: ['status = any($)', [['DRAFT'], ['DRAFT', 'COMPLETED']]],
      },
      findPage: (database, where, window) => meetings.findPage(database, where, window),
    },
    defect: {
      columns: {
        ...{ project_id: pickSql('p', projects), title: `'a'`, identifier: '100000 + n', priority: `'LOW'` },
        status: pickSql('s', ['OPEN', 'CLOSED']),
      },
      filters: { builderId: builder, projectId: project, status: ['status = $', ['OPEN', 'CLOSED']] },
      findPage: (database, where, window) => defects.findPage(database, where, window),
    },
    induction: {
      columns: {
        ...{ project_id: pickSql('p', projects), worker_id: `'${worker}'`, identifier: '100000 + n' },
        ...{ subcontractor_id: pickSql('u', companies.slice(0, 2)), type: `'PROJECT_INDUCTION'` },
        status: pickSql('s', ['REVIEWED', 'WAITING_REVIEW']),
      },
      filters: {
        ...{ projectId: project, subcontractorId: ['subcontractor_id = $', companies.slice(0, 3)] },
        ...{ workerId: ['worker_id = $', [worker]], status: ['status = $', ['REVIEWED', 'WAITING_REVIEW']] },
      },
      findPage: (database, where, window) => inductions.findPage(database, where, window),
    },
    subcontractor: {
      columns: { name: `'a'`, archived_at: 'case when n % 7 = 0 then now() end' },
      filters: { builderId: builder, isBuilder: ['is_builder = $', [false]] },
      active: 'archived_at is null',
      findPage: (database, where, window) => subcontractors.findPage(database, where, window),
    },
  };
  for (const [table, { columns }] of Object.entries(cases)) await insert(table, columns, builderId, 1);
  await compactCounters(service.databases.au1);
  // Changes that are not compacted yet: moves between days, deletes and inserts.
  for (const [table, { columns }] of Object.entries(cases)) {
    await insert(table, columns, builderId, 2);
    await client.query(`update ${table} set created_at = created_at + interval '30 hours' where id like '%x1x_7'`);
    if (columns.project_id)
      await client.query(`update ${table} set project_id = $1 where id like '%x1x_3'`, [projects[0]]);
    if (columns.date) await client.query(`update ${table} set date = date + interval '1 day' where id like '%x1x_5'`);
    await client.query(`delete from ${table} where id like '%x1x_9'`);
  }
});

afterAll(() => client?.end());

async function insert(table: string, columns: Record<string, string>, builderId: string, part: number) {
  const [from, count] = part === 1 ? [1, ROWS] : [ROWS + 1, ROWS / 10];
  await client.query(
    `insert into ${table} (id, created_at, updated_at, builder_id, ${Object.keys(columns).join(', ')})
     select '${table}x${part}x_' || n, ${instant('c')}, now(), $1, ${Object.values(columns).join(', ')}
     from generate_series(${from}::int, ${from + count - 1}) n`,
    [builderId],
  );
}

/** Returns the names of the statements that the work executes. */
async function recordStatementNames(work: () => Promise<unknown>): Promise<string[]> {
  const names: string[] = [];
  const end = service.databases.au1.onStatement(({ name }) => names.push(name));
  await work().finally(end);
  return names;
}

/** Numbers from 0 to 1, the same in each run. */
function* generateRandomNumbers(seed: number): Generator<number, never> {
  for (let state = seed; ; ) {
    state = (state * 1103515245 + 12345) % 2147483648;
    yield state / 2147483648;
  }
}

describe('a page of a large list', () => {
  it.each(['timesheet', 'photo', 'meeting', 'defect', 'induction', 'subcontractor'])(
    'equals that of the plain query for random filters, offsets and orders of each %s (LST-1, LST-4, LST-15)',
    async (table) => {
      const { filters, active = 'true', findPage } = cases[table]!;
      const random = generateRandomNumbers(SEED);
      const next = (below: number) => Math.floor(random.next().value * below);
      for (let round = 0; round < 60; round++) {
        const where: Record<string, unknown> = {};
        // The first filter always applies: the builder or a parent.
        for (const [index, [name, [, values]]] of Object.entries(filters).entries()) {
          if (index === 0 || next(2) === 0) where[name] = values[next(values.length)];
        }
        const conditions = Object.keys(where).map((name, index) => filters[name]![0].replace('$', `$${index + 1}`));
        const { rows } = await client.query<{ id: string }>(
          `select id from ${table} where ${[active, ...conditions].join(' and ')} order by created_at, id`,
          Object.values(where),
        );
        const order = next(2) === 0 ? ListOrder.asc : ListOrder.desc;
        const ids = rows.map(({ id }) => id);
        if (order === 'desc') ids.reverse();
        for (const offset of [0, 499, 500, next(ids.length + 1), Math.max(0, ids.length - 25), ids.length + 3]) {
          const limit = 1 + next(25);
          const page = await findPage(service.databases.au1, where, { offset, limit, order });
          const found = { total: page.meta.totalCount, ids: page.data.map(({ id }) => id) };
          expect(found, JSON.stringify({ where, offset, limit, order })).toEqual({
            total: ids.length,
            ids: ids.slice(offset, offset + limit),
          });
        }
        let cursor: string | null | undefined = '';
        const limit = 1 + Math.max(24, Math.floor(ids.length / 5));
        for (let offset = 0; cursor != null && round < 20; offset += limit) {
          const window = { offset: 0, limit, cursor, order };
          const page: Page<{ id: string }> = await findPage(service.databases.au1, where, window);
          cursor = page.meta.nextCursor;
          const found = { total: page.meta.totalCount, ids: page.data.map(({ id }) => id), isLast: cursor === null };
          expect(found, JSON.stringify({ where, limit, order, after: offset })).toEqual({
            total: ids.length,
            ids: ids.slice(offset, offset + limit),
            isLast: offset + limit >= ids.length,
          });
        }
      }
    },
  );

  it('takes one statement', async () => {
    const database = service.databases.au1;
    const where = {
      builderId: service.findDemoClient('A').builderIds[0]!,
      status: 'REJECTED',
      startDate: '2026-02-01T12:00:00Z',
    };
    const count = await service.countStatements('au1', () =>
      timesheets.findPage(database, where, { offset: 600, limit: 5 }),
    );
    expect(count).toBe(1);
  });

  it.each([
    ['page', {}, 0],
    ['page', { source: ['GALLERY'] }, 0],
    ['page', { source: ['ITP', 'GALLERY'] }, 0],
    ['deep', {}, 500],
  ])('is read as %s of photos with %j at offset %i', async (kind, where, offset) => {
    const names = await recordStatementNames(() =>
      photos.findPage(service.databases.au1, { builderId, ...where }, { offset, limit: 5 }),
    );
    expect(names.map((name) => /\.(\w+)/.exec(name)![1])).toEqual([kind]);
  });

  it.each([
    [1, ListOrder.asc, 'next'],
    [50_000, ListOrder.asc, 'ordered'],
    [1, ListOrder.desc, 'next'],
    [50_000, ListOrder.desc, 'ordered'],
  ])(
    'is read in the order of the list after a cursor of a range of %i rows or more, else by the range: %s',
    async (total, order, kind) => {
      const where = { builderId, startDate: '2026-02-01T12:00:00Z' };
      const window = { offset: 0, limit: 5, order };
      const first = await timesheets.findPage(service.databases.au1, where, { ...window, cursor: '' });
      const scope = { list: 'Timesheet', isDescending: order === 'desc', filters: where };
      const position = decodeListCursor(scope, first.meta.nextCursor!)!;
      const expected = await timesheets.findPage(service.databases.au1, where, { ...window, offset: 5 });
      const cursor = encodeListCursor(scope, { ...position, total: String(total) });
      let page: Page<{ id: string }> | undefined;
      const names = await recordStatementNames(async () => {
        page = await timesheets.findPage(service.databases.au1, where, { ...window, cursor });
      });
      expect(names.map((name) => /\.(\w+)/.exec(name)![1])).toEqual([kind]);
      expect(page!.data).toEqual(expected.data);
      expect(page!.meta.totalCount).toBe(total);
    },
  );

  it('has the total of the first page by cursor, which later ones do not count (LST-13)', async () => {
    const read = (cursor: string) =>
      timesheets.findPage(service.databases.au1, { builderId }, { offset: 0, limit: 5, cursor });
    const first = await read('');
    await insert('timesheet', cases.timesheet!.columns, builderId, 3);
    const second = await read(first.meta.nextCursor!);
    expect(second.meta.totalCount).toBe(first.meta.totalCount);
    expect((await read('')).meta.totalCount).toBe(first.meta.totalCount + ROWS / 10);
    await client.query(`delete from timesheet where id like 'timesheetx3x%'`);
  });

  it('by cursor counts the total where the first one was read without', async () => {
    const scope = { list: 'Timesheet', filters: { builderId } };
    const first = await timesheets.findPage(service.databases.au1, { builderId }, { offset: 0, limit: 5, cursor: '' });
    const position = { ...decodeListCursor(scope, first.meta.nextCursor!)!, total: '' };
    const cursor = encodeListCursor(scope, position);
    const page = await timesheets.findPage(service.databases.au1, { builderId }, { offset: 0, limit: 5, cursor });
    expect(page.meta.totalCount).toBe(first.meta.totalCount);
  });

  it.each(['abc', '1.5', '1e400', '-1', '99999999999'])('rejects a made-up cursor with the total %s', (total) => {
    const scope = { list: 'Timesheet', filters: { builderId } };
    const cursor = encodeListCursor(scope, { afterValue: '2020-01-01', afterId: 'ab', total });
    expect(() => decodeListCursor(scope, cursor)).toThrow('cursor');
  });

  it('is exact while a transaction with later rows is open, after its end, and before and after compaction', async () => {
    const database = service.databases.au1;
    const where = {
      builderId: service.findDemoClient('A').builderIds[0]!,
      status: 'REJECTED',
      startDate: '2026-02-01T00:00:00Z',
    };
    const window = { offset: 700, limit: 25 };
    const read = async () => {
      const { meta, data } = await timesheets.findPage(database, where, window);
      return { total: meta.totalCount, ids: data.map(({ id }) => id) };
    };
    const plain = async () => {
      const { rows } = await client.query<{ id: string }>(
        'select id from timesheet where builder_id = $1 and status = $2 and date >= $3 order by created_at, id',
        Object.values(where),
      );
      return { total: rows.length, ids: rows.slice(700, 725).map(({ id }) => id) };
    };
    const before = await plain();
    expect(await read()).toEqual(before);
    const writer = new pg.Client({ connectionString: database.url });
    await writer.connect();
    await writer.query('begin');
    await writer.query(
      `update timesheet set created_at = created_at - interval '3 days' where id like 'timesheetx1x_%4'`,
    );
    await writer.query(`delete from timesheet where id like 'timesheetx1x_%1'`);
    expect(await read()).toEqual(before);
    // A compaction neither waits for the writer nor takes its changes.
    await compactCounters(database);
    expect(await read()).toEqual(before);
    await writer.query('commit');
    await writer.end();
    const after = await plain();
    expect(after).not.toEqual(before);
    expect(await read()).toEqual(after);
    await compactCounters(database);
    expect(await read()).toEqual(after);
  });
});

describe('the totals', () => {
  it('are exact after concurrent writes and compactions', async () => {
    const database = service.databases.au1;
    const builderId = service.findDemoClient('A').builderIds[0]!;
    const writers = [3, 4, 5].map(async (part) => {
      const own = new pg.Client({ connectionString: database.url });
      await own.connect();
      for (let round = 0; round < 10; round++) {
        await own.query('begin');
        await own.query(
          `insert into meeting (id, created_at, updated_at, builder_id, title, date, status)
           select 'meetingx${part}x' || $2 || '_' || n, timestamptz '2026-02-01Z' + n * interval '5 hours', now(), $1, 'a', now(), 'DRAFT'
           from generate_series(1, 20) n`,
          [builderId, round],
        );
        await own.query(`update meeting set status = 'COMPLETED' where id like 'meetingx${part}x%_7'`);
        await own.query(round % 3 ? 'commit' : 'rollback');
        await own.query(`delete from meeting where id like 'meetingx${part}x%_1_'`);
      }
      await own.end();
    });
    let writing = true;
    const compact = async () => {
      while (writing) await compactCounters(database);
    };
    const compactions = [compact(), compact()];
    await Promise.all(writers).finally(() => {
      writing = false;
    });
    await Promise.all(compactions);
    expect(Object.values(await countWrongTotals(client))).toEqual([0, 0, 0, 0, 0, 0]);
  });

  it('are found wrong and corrected by a rebuild', async () => {
    const database = service.databases.au1;
    await compactCounters(database);
    await client.query(`update list_total set added = added + 1 where list = 'defect' and kind = 'OPEN'`);
    await client.query(`delete from list_total where list = 'photo' and parent_id is not null`);
    await client.query(`insert into list_total (list, builder_id, kind, added)
      values ('induction', 'buil_none', 'REVIEWED', 2), ('meeting', 'buil_none', 'DRAFT', -1)`);
    const wrong = await countWrongTotals(client);
    expect(
      Object.keys(wrong)
        .filter((list) => wrong[list]! > 0)
        .sort(),
    ).toEqual(['defect', 'induction', 'meeting', 'photo']);
    await rebuildTotals(database);
    expect(Object.values(await countWrongTotals(client))).toEqual([0, 0, 0, 0, 0, 0]);
  });
});
