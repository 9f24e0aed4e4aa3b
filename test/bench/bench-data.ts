import pg from 'pg';
import { SCOPES } from '../../schema/scopes.ts';
import { Database } from '../../src/database/database.ts';
import { compactCounters } from '../../src/database/write/list-counters.ts';
import { hashSecret } from '../../src/shared/secrets.ts';
import {
  createBuilderDataStatements,
  PROJECTS_PER_BUILDER,
  SUBCONTRACTORS_PER_BUILDER,
  toIdExpression,
} from './builder-data.ts';

/** The client of the measured requests, and ids that they need. */
export interface BenchData {
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
  /** Workers with present or past access to the site of the project. */
  gateWorkerIds: string[];
  /** The builders that the client is connected to, with their projects and some of their records. */
  builders: { id: string; projectIds: string[]; subcontractorIds: string[]; workerIds: string[]; photoIds: string[] }[];
}

interface DataSize {
  /** Builders that the client is connected to. */
  builders: number;
  /** Total timesheets, spread evenly over the builders and their projects. */
  timesheets: number;
}

const PROFILES_PER_BUILDER = 100;

const CLIENT_SECRET = 'bench-secret-as-long-as-a-real-one-0123456789';

/** Deletes the pending renditions. The photos have no stored images, so that rendering jobs would fail during measurements. */
async function discardRenditions(client: pg.Client): Promise<void> {
  const { rows } = await client.query(`select to_regclass('photo_rendition') as name`);
  if (rows[0].name) await client.query('delete from photo_rendition');
}

/** Compacts the list totals, as the service does within a minute. The totals of another build may differ; that build compacts its own. */
async function compactTotals(client: pg.Client, url: string): Promise<void> {
  const { rows } = await client.query(
    `select from information_schema.columns where table_name = 'list_total' and column_name = 'parent_id'`,
  );
  if (rows.length === 0) return;
  const database = new Database('au1', url);
  await compactCounters(database);
  await database.close();
}

/** Loads deterministic data into a region, and a client that is connected to all builders but the last. */
export async function loadBenchData(url: string, size: DataSize): Promise<BenchData> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(createStatements(size));
    await client.query(createBuilderDataStatements(size.builders));
    await discardRenditions(client);
    await compactTotals(client, url);
    await client.query('vacuum analyze');
    const { rows } =
      await client.query(`select 'cli_bench' as "clientId", '${CLIENT_SECRET}' as "clientSecret", ${toIdExpression('buil', '1')} as "builderId",
      ${toIdExpression('buil', `${size.builders + 1}`)} as "unconnectedBuilderId", ${toIdExpression('proj', '1')} as "projectId",
      ${toIdExpression('sub', '2')} as "subcontractorId", ${toIdExpression('sub', '1')} as "companySubcontractorId",
      ${toIdExpression('sub', '3')} as "archivedSubcontractorId",
      ${toIdExpression('sub', `${size.builders * SUBCONTRACTORS_PER_BUILDER + 2}`)} as "unconnectedSubcontractorId",
      array(select a.worker_id from site_access a where a.project_id = ${toIdExpression('proj', '1')} order by a.worker_id) as "gateWorkerIds",
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

function createStatements({ builders, timesheets }: DataSize): string {
  const totalBuilders = builders + 1;
  const scopes = `'{${SCOPES.join()}}'`;
  const startTime = `'2025-01-06T00:00:00Z'::timestamptz`;
  // Id of the builder of the nth project, subcontractor or profile; these rows are ordered by builder.
  const toBuilderId = (perBuilder: number) => toIdExpression('buil', `(n - 1) / ${perBuilder} + 1`);
  return `
    insert into builder (id, created_at, updated_at, name, logo_key)
      select ${toIdExpression('buil', 'n')}, ${startTime} + n * interval '1 hour', ${startTime} + n * interval '1 day',
        'Builder ' || n || ' Pty Ltd', case when n % 2 = 1 then 'logos/' || ${toIdExpression('buil', 'n')} || '/logo.png' end
      from generate_series(1, ${totalBuilders}) n;
    insert into integrator (id, created_at, updated_at, name) values ('intg_bench', ${startTime}, ${startTime}, 'Bench');
    insert into oauth_client (id, created_at, updated_at, integrator_id, name, type, grants, scopes)
      values ('cli_bench', ${startTime}, ${startTime}, 'intg_bench', 'Bench', 'CONFIDENTIAL', '{client_credentials}', ${scopes});
    insert into oauth_client_secret (client_id, digest, created_at)
      values ('cli_bench', '${hashSecret(CLIENT_SECRET)}', ${startTime});
    insert into connection (created_at, updated_at, integrator_id, builder_id, status, scopes)
      select ${startTime}, ${startTime}, 'intg_bench', ${toIdExpression('buil', 'n')}, 'ACTIVE', ${scopes}
      from generate_series(1, ${builders}) n;
    insert into project (id, created_at, updated_at, builder_id, status, name, integrations)
      select ${toIdExpression('proj', 'n')}, ${startTime} + n * interval '1 minute', ${startTime} + n * interval '1 hour', ${toBuilderId(PROJECTS_PER_BUILDER)},
        (array['IN_PROGRESS', 'COMPLETE', 'UPCOMING'])[n % 3 + 1], n || ' Collins Street',
        jsonb_build_array(jsonb_build_object('type', 'PROCORE', 'sourceId', n::text, 'companyId', '7'))
      from generate_series(1, ${totalBuilders * PROJECTS_PER_BUILDER}) n;
    insert into subcontractor (id, created_at, updated_at, builder_id, name, abn, is_builder, address, tags, integrations,
        archived_at)
      select ${toIdExpression('sub', 'n')}, ${startTime} + n * interval '1 minute', ${startTime} + n * interval '1.5 hours',
        ${toBuilderId(SUBCONTRACTORS_PER_BUILDER)}, 'Subcontractor ' || n || ' – Électricité', 51824753556 + n || '',
        n % ${SUBCONTRACTORS_PER_BUILDER} = 1,
        jsonb_build_object('street', n || ' George St', 'suburb', 'Parramatta', 'state', 'NSW', 'postcode', '2150',
          'country', case when n % 2 = 0 then 'AU' end),
        case when n % 3 = 0 then '{}' else array['Electrical', 'Tier "' || n % 4 || '", local'] end,
        jsonb_build_array(jsonb_build_object('type', 'PROCORE', 'sourceId', n::text, 'companyId', '7')),
        case when n % ${SUBCONTRACTORS_PER_BUILDER} = 3 then ${startTime} + interval '1 year' end
      from generate_series(1, ${totalBuilders * SUBCONTRACTORS_PER_BUILDER}) n;
    insert into subcontractor_project (subcontractor_id, project_id, statuses)
      select ${toIdExpression('sub', 'n')}, ${toIdExpression('proj', `(n - 1) / ${SUBCONTRACTORS_PER_BUILDER} * ${PROJECTS_PER_BUILDER} + (n + k * 7) % ${PROJECTS_PER_BUILDER} + 1`)},
        case k when 0 then array['INVITED', 'ACCEPTED', 'SWMS_UPLOADED'] when 1 then array['ACCEPTED', 'INVITED']
          else array['PREQUALIFIED', 'INVITED'] end
      from generate_series(1, ${totalBuilders * SUBCONTRACTORS_PER_BUILDER}) n cross join generate_series(0, 2) k;
    insert into person_profile (id, builder_id, full_name, type)
      select ${toIdExpression('pers', 'n')}, ${toBuilderId(PROFILES_PER_BUILDER)}, 'Person O''Neill ' || n, case when n % 5 = 0 then 'admin' else 'worker' end
      from generate_series(1, ${totalBuilders * PROFILES_PER_BUILDER}) n;
    insert into timesheet_cost_code (id, builder_id, code, description)
      select ${toIdExpression('tscc', 'n')}, ${toBuilderId(20)}, (n * 100)::text, 'Concrete ' || n from generate_series(1, ${totalBuilders * 20}) n;
    insert into timesheet_time_type (id, builder_id, name)
      select ${toIdExpression('tstt', 'n')}, ${toBuilderId(4)}, (array['Ordinary', 'Overtime', 'Double time', 'Travel'])[(n - 1) % 4 + 1]
      from generate_series(1, ${totalBuilders * 4}) n;
    insert into timesheet (id, created_at, updated_at, builder_id, project_id, profile_id, cost_code_id, time_type_id,
        status, date, hours, notes, timesheet_group_id)
      select ${toIdExpression('ts', 'n')}, ${startTime} + n * interval '61.5 seconds', ${startTime} + n * interval '90.125 seconds',
        ${toIdExpression('buil', 'b + 1')}, ${toIdExpression('proj', `b * ${PROJECTS_PER_BUILDER} + n / ${builders} % ${PROJECTS_PER_BUILDER} + 1`)},
        ${toIdExpression('pers', `b * ${PROFILES_PER_BUILDER} + n * 7 % ${PROFILES_PER_BUILDER} + 1`)},
        case when n % 10 > 0 then ${toIdExpression('tscc', 'b * 20 + n % 20 + 1')} end,
        case when n % 12 > 0 then ${toIdExpression('tstt', 'b * 4 + n % 4 + 1')} end,
        (array['WAITING_REVIEW', 'APPROVED_1', 'APPROVED_2', 'REJECTED'])[n / 7 % 4 + 1],
        date_trunc('day', ${startTime} + n * interval '61.5 seconds'), 4 + n % 17 * 0.25,
        case when n % 3 = 0 then 'Poured slab ' || n end, ${toIdExpression('tsg', 'n / 5')}
      from (select n, n % ${builders} as b from generate_series(1, ${timesheets}) n) numbered;`;
}
