import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compactCounters, rebuildTotals } from '../../src/database/write/list-counters.ts';
import { photos } from '../../src/domain/readers/photo.reader.ts';
import { timesheets } from '../../src/domain/readers/timesheet.reader.ts';
import { ConcurrentTransaction } from '../support/concurrent-transaction.ts';
import { useService } from '../support/harness.ts';

const service = useService();
let client: pg.Client;
let builderId: string;
let projects: string[];

/** Selects the totals that differ from `count(*)` in the same snapshot. */
const SELECT_WRONG_TOTALS = `
  select list, builder_id, project_id, parent_id, kind, sum(kept) as kept, sum(counted) as counted from (
    select list, builder_id, project_id, parent_id, kind, added as kept, 0 as counted from list_total
    union all select 'timesheet', builder_id, project_id, null, status, 0, 1 from timesheet
    union all select 'photo', builder_id, project_id, null, source, 0, 1 from photo where archived_at is null
    union all select 'photo', builder_id, null, folder_id, source, 0, 1 from photo where archived_at is null and folder_id is not null
    union all select 'meeting', builder_id, project_id, null, status, 0, 1 from meeting
    union all select 'defect', builder_id, project_id, null, status, 0, 1 from defect
    union all select 'induction', builder_id, project_id, null, status, 0, 1 from induction
    union all select 'induction', builder_id, null, subcontractor_id, status, 0, 1 from induction
    union all select 'subcontractor', builder_id, null, null, is_builder::text, 0, 1 from subcontractor where archived_at is null) side_by_side
  group by 1, 2, 3, 4, 5 having sum(kept) <> sum(counted)`;

/** Timesheets of which groups of four have the same creation time. */
const INSERT = `insert into timesheet (id, created_at, updated_at, builder_id, project_id, profile_id, status, date, hours)
  select $1 || n, timestamptz '2026-01-01' + n / 4 * interval '1 second', now(), $2, ($3::text[])[1 + n % 2],
    (select id from person_profile where builder_id = $2 limit 1),
    (array['APPROVED_1', 'REJECTED', 'WAITING_REVIEW'])[1 + n % 3], '2026-01-01', 1
  from generate_series(1, $4::int) n`;

beforeAll(async () => {
  client = new pg.Client({ connectionString: service.databases.au1.url });
  await client.connect();
  builderId = service.findDemoClient('A').builderIds[0]!;
  const { rows } = await client.query('select id from project where builder_id = $1 order by id', [builderId]);
  projects = rows.map(({ id }) => id);
});

afterAll(() => client?.end());

/** Number of sessions in transactions that have begun a rebuild. */
const countSessions = async () => {
  const sql = `select count(*)::int as count from pg_stat_activity where datname = current_database() and xact_start is not null
    and (query like 'insert into list_total%' or query like 'select pg_try_advisory_xact_lock%')`;
  return (await client.query(sql)).rows[0].count;
};

describe('totals of large lists', () => {
  it('count the rows that were inserted together', async () => {
    expect((await client.query(SELECT_WRONG_TOTALS)).rows).toEqual([]);
  });

  it('equal count(*) in every snapshot, during concurrent writes, moves, archiving, deletes and compaction (LST-1)', async () => {
    const writer = async (name: string) => {
      const own = new pg.Client({ connectionString: service.databases.au1.url });
      await own.connect();
      for (let round = 0; round < 12; round++) {
        const prefix = `ts_${name}${round}x`;
        await own.query(INSERT, [prefix, builderId, projects.slice(0, 2), 20]);
        await own.query('begin');
        await own.query('update timesheet set project_id = $2 where id like $1', [`${prefix}1%`, projects[2]]);
        await own.query(`update timesheet set status = 'APPROVED_2' where id like $1`, [`${prefix}%2`]);
        await own.query(
          `update photo set archived_at = case when archived_at is null then now() end, project_id = $2
           where id in (select id from photo order by md5(id || $1) limit 5 for update skip locked)`,
          [prefix, projects[round % 3]],
        );
        await own.query(round % 3 ? 'commit' : 'rollback');
        await own.query('delete from timesheet where id like $1', [`${prefix}_`]);
      }
      await own.end();
    };
    let writing = true;
    const writers = Promise.all(['a', 'b', 'c'].map(writer)).finally(() => {
      writing = false;
    });
    const compact = async () => {
      while (writing) await compactCounters(service.databases.au1);
    };
    const compactions = [compact(), compact()];
    const wrong: unknown[] = [];
    do wrong.push(...(await client.query(SELECT_WRONG_TOTALS)).rows);
    while (writing);
    await Promise.all([writers, ...compactions]);
    wrong.push(...(await client.query(SELECT_WRONG_TOTALS)).rows);
    expect(wrong).toEqual([]);
  });

  it('are corrected once by rebuilds at the same time', async () => {
    await client.query(`insert into list_total (list, builder_id, kind, added) values ('photo', $1, 'GALLERY', 3)`, [
      builderId,
    ]);
    const other = await ConcurrentTransaction.open(service.databases.au1.url);
    let rebuilds: Promise<{ corrected: number }>[] = [];
    try {
      await other.whileOpen('lock table list_total in share row exclusive mode', [], async () => {
        rebuilds = Array.from({ length: 4 }, () => rebuildTotals(service.databases.au1));
        await other.untilWaiting(1);
        // The others wait for the first one, if they run one after the other, and for the table otherwise.
        await expect.poll(countSessions, { interval: 10 }).toBe(4);
      });
      const corrected = (await Promise.all(rebuilds)).map((each) => each.corrected);
      expect(corrected.sort()).toEqual([0, 0, 0, 1]);
    } finally {
      await other.close();
    }
    expect((await client.query(SELECT_WRONG_TOTALS)).rows).toEqual([]);
  });

  it('are one row each after compaction', async () => {
    await compactCounters(service.databases.au1);
    const { rows } = await client.query(
      'select from list_total group by list, builder_id, project_id, parent_id, kind having count(*) > 1 or sum(added) = 0',
    );
    expect(rows).toEqual([]);
    expect(await compactCounters(service.databases.au1)).toEqual({ compacted: 0 });
  });

  it.each([[undefined], [['GALLERY']], [['SITE_DIARY', 'GALLERY']]])(
    'are the totals of the photo list with the sources %j',
    async (source) => {
      const { rows } = await client.query(
        `select count(*)::int as total from photo where builder_id = $1 and archived_at is null
           and ($2::text[] is null or source = any($2))`,
        [builderId, source],
      );
      const page = await photos.findPage(service.databases.au1, { builderId, source }, { offset: 0, limit: 1 });
      expect(page.meta.totalCount).toBe(rows[0].total);
    },
  );
});

describe('a page of a large list', () => {
  it('is empty at the largest offset (LST-5)', async () => {
    for (const path of [`/builders/${builderId}/photos`, '/timesheets']) {
      const answer = await service.get(`${path}?offset=2147483647`, await service.tokenOf('A'), {
        'x-service-builder-id': builderId,
      });
      expect([answer.statusCode, answer.json().data], path).toEqual([200, []]);
    }
  });

  beforeAll(() => client.query(INSERT, ['ts_deep', builderId, projects.slice(0, 2), 1300]));

  const filters = [{}, { projectId: 0 }, { status: 'REJECTED' }, { projectId: 1, status: 'APPROVED_1' }];
  it.each(filters)('has the same order at every offset, filtered by %j (LST-4)', async ({ projectId, status }) => {
    const where = { builderId, projectId: projectId === undefined ? null : projects[projectId]!, status };
    const { rows } = await client.query<{ id: string }>(
      `select id from timesheet where builder_id = $1 and ($2::text is null or project_id = $2)
         and ($3::text is null or status = $3) order by created_at, id`,
      [builderId, where.projectId, status ?? null],
    );
    const total = rows.length;
    const offsets = [
      0,
      1,
      498,
      499,
      500,
      501,
      Math.floor(total / 2),
      total - 26,
      total - 25,
      total - 1,
      total,
      total + 600,
    ];
    for (const offset of offsets.filter((value) => value >= 0)) {
      for (const limit of [1, 25]) {
        const { data, meta } = await timesheets.findPage(service.databases.au1, where, { offset, limit });
        expect(meta.totalCount).toBe(total);
        expect(data.map(({ id }) => id)).toEqual(rows.slice(offset, offset + limit).map(({ id }) => id));
      }
    }
  });
});
