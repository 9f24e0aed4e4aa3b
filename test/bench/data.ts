import pg from 'pg';
import { SCOPES } from '../../schema/scopes.ts';
import { Database } from '../../src/database/database.ts';
import { compactCounters } from '../../src/database/write/list-counters.ts';
import { hashSecret } from '../../src/shared/secrets.ts';
import { id, PROJECTS, SUBCONTRACTORS, siteStatements } from './data-site.ts';

/** Who asks, and for what. */
export interface DataSet {
  clientId: string;
  clientSecret: string;
  /** Connected to every builder but the last. */
  builderId: string;
  unconnectedBuilderId: string;
  projectId: string;
  subcontractorId: string;
  companySubcontractorId: string;
  archivedSubcontractorId: string;
  unconnectedSubcontractorId: string;
  /** Who may enter the project's site, or once might. */
  gateWorkerIds: string[];
  /** The builders that the client is connected to, their projects, and some of what they have. */
  builders: { id: string; projectIds: string[]; subcontractorIds: string[]; workerIds: string[]; photoIds: string[] }[];
}

interface DataSize {
  /** Builders that the client is connected to. */
  builders: number;
  /** In all, spread evenly over the builders and their projects. */
  timesheets: number;
}

const PROFILES = 100;

const CLIENT_SECRET = 'bench-secret-as-long-as-a-real-one-0123456789';

/** The photos have no bytes: jobs would fail to render them while the service is measured. */
async function discardRenditions(client: pg.Client): Promise<void> {
  const { rows } = await client.query(`select to_regclass('photo_rendition') as name`);
  if (rows[0].name) await client.query('delete from photo_rendition');
}

/** Adds up the totals, as the service does within a minute. The schema of another build may have others, which that build adds up. */
async function compactTotals(client: pg.Client, url: string): Promise<void> {
  const { rows } = await client.query(`select to_regclass('list_month_total') as name`);
  if (!rows[0].name) return;
  const database = new Database('au1', url);
  await compactCounters(database);
  await database.close();
}

/** Bulk data of one region, the same each time, and a client that may read it. */
export async function loadData(url: string, size: DataSize): Promise<DataSet> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statements(size));
    await client.query(siteStatements(size.builders));
    await discardRenditions(client);
    await compactTotals(client, url);
    await client.query('vacuum analyze');
    const { rows } =
      await client.query(`select 'cli_bench' as "clientId", '${CLIENT_SECRET}' as "clientSecret", ${id('buil', '1')} as "builderId",
      ${id('buil', `${size.builders + 1}`)} as "unconnectedBuilderId", ${id('proj', '1')} as "projectId",
      ${id('sub', '2')} as "subcontractorId", ${id('sub', '1')} as "companySubcontractorId",
      ${id('sub', '3')} as "archivedSubcontractorId",
      ${id('sub', `${size.builders * SUBCONTRACTORS + 2}`)} as "unconnectedSubcontractorId",
      array(select a.worker_id from site_access a where a.project_id = ${id('proj', '1')} order by a.worker_id) as "gateWorkerIds",
      (select json_agg(json_build_object('id', b.id,
        'projectIds', array(select p.id from project p where p.builder_id = b.id order by p.id),
        'subcontractorIds', array(select s.id from subcontractor s
          where s.builder_id = b.id and not s.is_builder and s.archived_at is null order by s.id),
        'workerIds', array(select w.id from worker w where w.builder_id = b.id order by w.id),
        'photoIds', array(select p.id from photo p where p.builder_id = b.id order by p.id limit 100)) order by b.id)
        from builder b join connection c on c.builder_id = b.id) as builders`);
    return rows[0];
  } finally {
    await client.end();
  }
}

function statements({ builders, timesheets }: DataSize): string {
  const all = builders + 1;
  const scopes = `'{${SCOPES.join()}}'`;
  const begin = `'2025-01-06T00:00:00Z'::timestamptz`;
  // The builder of the nth project, subcontractor or profile: they come in runs, builder by builder.
  const owner = (perBuilder: number) => id('buil', `(n - 1) / ${perBuilder} + 1`);
  return `
    insert into builder (id, created_at, updated_at, name, logo_key)
      select ${id('buil', 'n')}, ${begin} + n * interval '1 hour', ${begin} + n * interval '1 day',
        'Builder ' || n || ' Pty Ltd', case when n % 2 = 1 then 'logos/' || ${id('buil', 'n')} || '/logo.png' end
      from generate_series(1, ${all}) n;
    insert into integrator (id, created_at, updated_at, name) values ('intg_bench', ${begin}, ${begin}, 'Bench');
    insert into oauth_client (id, created_at, updated_at, integrator_id, name, type, grants, scopes)
      values ('cli_bench', ${begin}, ${begin}, 'intg_bench', 'Bench', 'CONFIDENTIAL', '{client_credentials}', ${scopes});
    insert into oauth_client_secret (client_id, digest, created_at)
      values ('cli_bench', '${hashSecret(CLIENT_SECRET)}', ${begin});
    insert into connection (created_at, updated_at, integrator_id, builder_id, status, scopes)
      select ${begin}, ${begin}, 'intg_bench', ${id('buil', 'n')}, 'ACTIVE', ${scopes}
      from generate_series(1, ${builders}) n;
    insert into project (id, created_at, updated_at, builder_id, status, name, integrations)
      select ${id('proj', 'n')}, ${begin} + n * interval '1 minute', ${begin} + n * interval '1 hour', ${owner(PROJECTS)},
        (array['IN_PROGRESS', 'COMPLETE', 'UPCOMING'])[n % 3 + 1], n || ' Collins Street',
        jsonb_build_array(jsonb_build_object('type', 'PROCORE', 'sourceId', n::text, 'companyId', '7'))
      from generate_series(1, ${all * PROJECTS}) n;
    insert into subcontractor (id, created_at, updated_at, builder_id, name, abn, is_builder, address, tags, integrations,
        archived_at)
      select ${id('sub', 'n')}, ${begin} + n * interval '1 minute', ${begin} + n * interval '1.5 hours',
        ${owner(SUBCONTRACTORS)}, 'Subcontractor ' || n || ' – Électricité', 51824753556 + n || '',
        n % ${SUBCONTRACTORS} = 1,
        jsonb_build_object('street', n || ' George St', 'suburb', 'Parramatta', 'state', 'NSW', 'postcode', '2150',
          'country', case when n % 2 = 0 then 'AU' end),
        case when n % 3 = 0 then '{}' else array['Electrical', 'Tier "' || n % 4 || '", local'] end,
        jsonb_build_array(jsonb_build_object('type', 'PROCORE', 'sourceId', n::text, 'companyId', '7')),
        case when n % ${SUBCONTRACTORS} = 3 then ${begin} + interval '1 year' end
      from generate_series(1, ${all * SUBCONTRACTORS}) n;
    insert into subcontractor_project (subcontractor_id, project_id, statuses)
      select ${id('sub', 'n')}, ${id('proj', `(n - 1) / ${SUBCONTRACTORS} * ${PROJECTS} + (n + k * 7) % ${PROJECTS} + 1`)},
        case k when 0 then array['INVITED', 'ACCEPTED', 'SWMS_UPLOADED'] when 1 then array['ACCEPTED', 'INVITED']
          else array['PREQUALIFIED', 'INVITED'] end
      from generate_series(1, ${all * SUBCONTRACTORS}) n cross join generate_series(0, 2) k;
    insert into person_profile (id, builder_id, full_name, type)
      select ${id('pers', 'n')}, ${owner(PROFILES)}, 'Person O''Neill ' || n, case when n % 5 = 0 then 'admin' else 'worker' end
      from generate_series(1, ${all * PROFILES}) n;
    insert into timesheet_cost_code (id, builder_id, code, description)
      select ${id('tscc', 'n')}, ${owner(20)}, (n * 100)::text, 'Concrete ' || n from generate_series(1, ${all * 20}) n;
    insert into timesheet_time_type (id, builder_id, name)
      select ${id('tstt', 'n')}, ${owner(4)}, (array['Ordinary', 'Overtime', 'Double time', 'Travel'])[(n - 1) % 4 + 1]
      from generate_series(1, ${all * 4}) n;
    insert into timesheet (id, created_at, updated_at, builder_id, project_id, profile_id, cost_code_id, time_type_id,
        status, date, hours, notes, timesheet_group_id)
      select ${id('ts', 'n')}, ${begin} + n * interval '61.5 seconds', ${begin} + n * interval '90.125 seconds',
        ${id('buil', 'b + 1')}, ${id('proj', `b * ${PROJECTS} + n / ${builders} % ${PROJECTS} + 1`)},
        ${id('pers', `b * ${PROFILES} + n * 7 % ${PROFILES} + 1`)},
        case when n % 10 > 0 then ${id('tscc', 'b * 20 + n % 20 + 1')} end,
        case when n % 12 > 0 then ${id('tstt', 'b * 4 + n % 4 + 1')} end,
        (array['WAITING_REVIEW', 'APPROVED_1', 'APPROVED_2', 'REJECTED'])[n / 7 % 4 + 1],
        date_trunc('day', ${begin} + n * interval '61.5 seconds'), 4 + n % 17 * 0.25,
        case when n % 3 = 0 then 'Poured slab ' || n end, ${id('tsg', 'n / 5')}
      from (select n, n % ${builders} as b from generate_series(1, ${timesheets}) n) numbered;`;
}
