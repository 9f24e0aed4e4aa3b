import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { compactCounters } from '../../src/database/write/list-counters.ts';
import { useService } from '../support/harness.ts';

const BUILDER = 'buil_backlog';

const service = useService();
let client: pg.Client;

beforeAll(async () => {
  client = new pg.Client({ connectionString: service.databases.au1.url });
  await client.connect();
  await client.query(`insert into photo (id, created_at, updated_at, builder_id, source, file_name, content_type, key, file_size, sort_date)
    select 'att_1', now(), now(), id, 'GALLERY', 'a.jpg', 'image/jpeg', 'photos/' || id || '/a.jpg', 1, now() from builder limit 1`);
  await compactCounters(service.databases.au1);
});

afterAll(() => client?.end());

/** Adds a backlog of 2,500 counter rows of five totals. */
async function addBacklog(): Promise<void> {
  await client.query(
    `insert into list_total (list, builder_id, kind, added) select 'timesheet', $1, 'K' || n % 5, 2 from generate_series(1, 2500) n`,
    [BUILDER],
  );
}

const countRows = async () => {
  const { rows } = await client.query(
    `select count(*)::int as counters, sum(added)::int as total from list_total where builder_id = $1`,
    [BUILDER],
  );
  return rows[0];
};

describe('the counters', () => {
  it.each(['meeting', 'defect', 'induction', 'subcontractor', 'timesheet', 'photo'])(
    'have no row for a %s that changes in other columns only',
    async (table) => {
      const before = await client.query('select count(*) from list_total where list = $1', [table]);
      const { rowCount } = await client.query(
        `update ${table} set created_at = created_at + interval '1 day'
         where id = (select id from ${table} where ${['subcontractor', 'photo'].includes(table) ? 'archived_at is null' : 'true'} limit 1)`,
      );
      const after = await client.query('select count(*) from list_total where list = $1', [table]);
      expect([rowCount, after.rows]).toEqual([1, before.rows]);
    },
  );

  it('are vacuumed by the number of their dead rows', async () => {
    const { rows } = await client.query(`select reloptions as options from pg_class where relname = 'list_total'`);
    expect(rows).toEqual([{ options: ['autovacuum_vacuum_scale_factor=0', 'autovacuum_vacuum_threshold=500'] }]);
  });
});

describe('compaction of the counters', () => {
  beforeEach(addBacklog);

  it('skips its run while another instance compacts', async () => {
    const database = service.databases.au1;
    const before = await countRows();
    await client.query('begin');
    await client.query(`select pg_advisory_xact_lock(hashtext('builder-integration-api counters'))`);
    expect(await compactCounters(database)).toEqual({ compacted: 0 });
    await client.query('rollback');
    expect(await countRows()).toEqual(before);
    await compactCounters(database);
  });

  it('completes a backlog of any size, in statements that each replace a bounded number of rows', async () => {
    const database = service.databases.au1;
    const before = await countRows();
    await client.query(`create function reject_many() returns trigger language plpgsql as $$ begin
        if (select count(*) from deleted) > 400 then raise exception '% replaces more than 400 rows', tg_table_name; end if;
        return null;
      end $$`);
    await client.query(`create trigger reject_many after delete on list_total
      referencing old table as deleted for each statement execute function reject_many()`);
    await compactCounters(database, 400);
    await client.query('drop function reject_many cascade');
    expect(before).toMatchObject({ total: 10_000 });
    expect(await countRows()).toEqual({ counters: 5, total: 10_000 });
    expect(await compactCounters(database, 400)).toEqual({ compacted: 0 });
  });
});
