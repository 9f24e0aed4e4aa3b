import pg from 'pg';
import { SCOPES } from '../../schema/scopes.ts';

/** Who asks, and for what. */
export interface DataSet {
  clientId: string;
  /** Connected to every builder but the last. */
  builderId: string;
  unconnectedBuilderId: string;
  projectId: string;
  subcontractorId: string;
  companySubcontractorId: string;
  archivedSubcontractorId: string;
  unconnectedSubcontractorId: string;
}

export interface DataSize {
  /** Builders that the client is connected to. */
  builders: number;
  /** In all, spread evenly over the builders and their projects. */
  timesheets: number;
}

const PROJECTS = 25;
const SUBCONTRACTORS = 75;
const PROFILES = 100;

/**
 * Identifier of the row of that number: as long as a real one, in the order of the numbers. The random part is a digest, so
 * that the data are the same each time.
 */
const id = (prefix: string, number: string) =>
  `'${prefix}_a0mkq' || lpad((${number})::text, 8, '0') || substr(md5('${prefix}' || (${number})), 1, 12)`;

/** Bulk data of one region, the same each time, and a client that may read it. */
export async function loadData(url: string, size: DataSize): Promise<DataSet> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statements(size));
    await client.query('vacuum analyze');
    const { rows } = await client.query(`select 'cli_bench' as "clientId", ${id('buil', '1')} as "builderId",
      ${id('buil', `${size.builders + 1}`)} as "unconnectedBuilderId", ${id('proj', '1')} as "projectId",
      ${id('sub', '2')} as "subcontractorId", ${id('sub', '1')} as "companySubcontractorId",
      ${id('sub', '3')} as "archivedSubcontractorId",
      ${id('sub', `${size.builders * SUBCONTRACTORS + 2}`)} as "unconnectedSubcontractorId"`);
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
    insert into builder (id, created_at, updated_at, name, logo_url)
      select ${id('buil', 'n')}, ${begin} + n * interval '1 hour', ${begin} + n * interval '1 day',
        'Builder ' || n || ' Pty Ltd', case when n % 2 = 1 then 'https://cdn.example.com/logos/' || n || '.png' end
      from generate_series(1, ${all}) n;
    insert into integrator (id, created_at, updated_at, name) values ('intg_bench', ${begin}, ${begin}, 'Bench');
    insert into oauth_client (id, created_at, updated_at, integrator_id, name, type, grants, scopes)
      values ('cli_bench', ${begin}, ${begin}, 'intg_bench', 'Bench', 'CONFIDENTIAL', '{client_credentials}', ${scopes});
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
