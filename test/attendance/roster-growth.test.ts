import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROSTER } from '../../entities/gate-lists.type.ts';
import { readChanges } from '../../src/domain/attendance/change-lists.ts';
import { createGateFixture } from '../support/attendance.ts';
import { useService } from '../support/harness.ts';
import { addProject } from '../support/rows.ts';

/* A project of 50,000 workers, each of whose entries changed at another millisecond (ATT-36). */

const WORKERS = 50_000;
const FIRST_CHANGE = Date.parse('2026-01-01T00:00:00.000Z');

const service = useService();
const { builderId, workers } = createGateFixture();
let projectId: string;
let client: pg.Client;

beforeAll(async () => {
  const database = service.databases.au1;
  projectId = await addProject(service, builderId);
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  // Without triggers, which would take most of the time.
  await client.query('set session_replication_role = replica');
  await client.query(
    `insert into worker (id, created_at, updated_at, builder_id, subcontractor_id, full_name)
      select 'wkr_many' || n, now(), now(), builder_id, subcontractor_id, 'Worker ' || n from worker, generate_series(1, $2::int) n where id = $1`,
    [workers.active[0], WORKERS],
  );
  await client.query(
    `insert into site_access (builder_id, worker_id, project_id, granted_at, listed_at)
      select $1, 'wkr_many' || n, $2, now(), $3::timestamptz + n * interval '1 millisecond' from generate_series(1, $4::int) n`,
    [builderId, projectId, new Date(FIRST_CHANGE).toISOString(), WORKERS],
  );
  await client.query('vacuum analyze site_access, worker');
});

afterAll(() => client.end());

/** Returns the first and the last worker of a page, and the pages of 8 KiB that its statement reads. */
async function explainPage(updatedSince: string | null, cursor = '') {
  const { runner, primary } = service.databases.au1;
  const { run } = runner;
  let sent: Parameters<typeof run> | undefined;
  runner.run = (...args) => {
    if (args[0].name === 'gate.roster') sent = args;
    return run.apply(runner, args);
  };
  const window = { updatedSince, cursor };
  const page = await readChanges<{ workerId: string }>(primary, ROSTER, { builderId, projectId }, {}, window);
  runner.run = run;
  const [{ text }, values] = sent!;
  await client.query(`prepare page as ${text}`);
  const literals = values.map((value) => pg.escapeLiteral(String(value)));
  const { rows } = await client.query(`explain (analyze, buffers, format json) execute page(${literals.join()})`);
  await client.query('deallocate page');
  const [{ Plan: plan }] = rows[0]['QUERY PLAN'];
  const buffers = plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
  return { ids: page.data.map(({ workerId }) => workerId), nextCursor: page.meta.nextCursor, buffers };
}

describe('a page of the roster', () => {
  it('costs the same at the beginning, after a cursor and since a time', async () => {
    const first = await explainPage(null);
    expect(first.ids.slice(0, 2)).toEqual(['wkr_many1', 'wkr_many2']);
    const since = await explainPage(new Date(FIRST_CHANGE + 40_000).toISOString());
    expect(since.ids[0]).toBe('wkr_many40000');
    const next = await explainPage(null, since.nextCursor);
    expect(next.ids[0]).toBe('wkr_many40100');
    for (const { buffers } of [since, next]) expect(buffers).toBeLessThan(2 * first.buffers);
  });
});
