import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EntityClass } from '@mikro-orm/postgresql';
import { Pool } from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { entities } from '../../entities/index.ts';
import { Insurance } from '../../entities/insurance.entity.ts';
import { SCOPES } from '../../schema/scopes.ts';
import { type Config, loadConfig } from '../../src/config.ts';
import { Database, type Databases } from '../../src/database/database.ts';
import { addLimitedIntegrator } from '../../src/demo/account-rows.ts';
import { BUILDERS } from '../../src/demo/accounts.ts';
import { createBuilderRows } from '../../src/demo/builder-rows.ts';
import { createDemoFile, type DemoFile } from '../../src/demo/demo-file.ts';
import { type DemoSummary, loadDemo, populateDatabase, TIMESHEETS } from '../../src/demo/load.ts';
import { DAY } from '../../src/demo/local-calendar.ts';
import { Rows } from '../../src/demo/rows.ts';
import { verifyPassword } from '../../src/domain/access/passwords.ts';
import { REGIONS } from '../../src/shared/regions.ts';
import { hashSecret, newSecret } from '../../src/shared/secrets.ts';
import { createDatabase } from '../setup/database.ts';
import { DEMO_KEY } from '../setup/template-names.ts';
import { BASE } from '../support/load-demo.ts';

const cleanups: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
});

/** Opens databases of both regions with empty tables. */
async function openDatabases(): Promise<Databases> {
  const opened = REGIONS.map(async (region) => {
    const { url, drop } = await createDatabase(inject('cluster').empty);
    const database = new Database(region, url);
    cleanups.push(drop, () => database.close());
    return [region, database] as const;
  });
  return Object.fromEntries(await Promise.all(opened)) as Databases;
}

async function createConfig(baseUrl = 'http://localhost:4000'): Promise<Config> {
  const dataDir = await mkdtemp(join(tmpdir(), 'builder-api-demo-'));
  cleanups.push(() => rm(dataDir, { recursive: true }));
  return loadConfig({ DATA_DIR: dataDir, BASE_URL: baseUrl });
}

const readDemoFile = async ({ dataDir }: Config): Promise<DemoFile> =>
  JSON.parse(await readFile(join(dataDir, 'demo.json'), 'utf8'));

type Row = Record<string, string | number | boolean | null>;
const pools = new Map<Database, Pool>();

async function query(database: Database, sql: string, values: unknown[] = []): Promise<Row[]> {
  let pool = pools.get(database);
  if (!pool) {
    const made = new Pool({ connectionString: database.url, max: 2 });
    // The pool ends before its connections do, and dropping the database ends these with an error.
    made.on('error', () => undefined);
    cleanups.push(() => made.end());
    pools.set(database, made);
    pool = made;
  }
  return (await pool.query<Row>(sql, values)).rows;
}

/** What the first start loaded, in which the tests of the data only read. */
let databases: Databases;
let config: Config;
let summary: DemoSummary | null;

/** Starts like the first time if its databases are empty, as on the day of the templates. */
const startDemo = (into = databases, folder = config) => loadDemo(into, folder, DEMO_KEY, { now: () => BASE });

beforeAll(async () => {
  databases = await openDatabases();
  config = await createConfig();
  summary = await startDemo();
});

/** Returns whether every secret and password of the file is stored. */
async function hasValidCredentials({ clients, users, staff }: DemoFile, databases: Databases): Promise<boolean> {
  const ofClients = clients.map(async ({ clientId, clientSecret, regionId }) => {
    const sql = 'select 1 from oauth_client_secret where client_id = $1 and digest = $2';
    return (
      clientSecret === null ||
      (await query(databases[regionId], sql, [clientId, hashSecret(clientSecret)])).length === 1
    );
  });
  const ofStaff = staff.flatMap(({ regionIds, ...user }) => regionIds.map((regionId) => ({ ...user, regionId })));
  const ofUsers = [...users, ...ofStaff].map(async ({ id, password, regionId }) => {
    const [user] = await query(databases[regionId], 'select password_hash from app_user where id = $1', [id]);
    return verifyPassword(password, user?.password_hash as string | null);
  });
  return (await Promise.all([...ofClients, ...ofUsers])).every(Boolean);
}

describe('demo.json', () => {
  const file = inject('demo');
  const ofIntegrator = (name: string | null) => file.clients.filter(({ integrator }) => integrator === name);
  const [first, second] = ofIntegrator('A')[0]!.builderIds as [string, string];

  it('has integrator A with a confidential client, all scopes, all grants and two builders', () => {
    expect(ofIntegrator('A')[0]).toMatchObject({
      type: 'confidential',
      clientId: expect.stringMatching(/^cli_[a-z][a-z0-9]+$/),
      clientSecret: expect.stringMatching(/^[\w-]{43}$/),
      grants: ['client_credentials', 'authorization_code', 'refresh_token'],
      scopes: [...SCOPES],
      regionId: 'au1',
      builderIds: [expect.stringMatching(/^buil_[a-z][a-z0-9]+$/), expect.stringMatching(/^buil_[a-z][a-z0-9]+$/)],
      redirectUris: [expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\//)],
    });
  });

  it('has integrators B, with another builder, and C, with the first builder of A', () => {
    const common = { type: 'confidential', scopes: [...SCOPES], regionId: 'au1' };
    const [b] = ofIntegrator('B');
    expect(b).toMatchObject(common);
    expect([first, second]).not.toContain(b!.builderIds[0]);
    expect(ofIntegrator('C')).toMatchObject([{ ...common, builderIds: [first] }]);
  });

  it('has a client of A without read:timesheets, and a public client', () => {
    const [narrow] = ofIntegrator('A').filter(({ scopes }) => !scopes.includes('read:timesheets'));
    expect(narrow).toMatchObject({ type: 'confidential', builderIds: [first, second] });
    const [open] = ofIntegrator('A').filter(({ type }) => type === 'public');
    expect(open).toMatchObject({ clientSecret: null, grants: ['authorization_code', 'refresh_token'] });
    expect(open!.redirectUris).toEqual([expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\//)]);
  });

  it('has an internal client with access to every builder, and a client in us1', () => {
    const [internal] = ofIntegrator(null);
    expect(internal).toMatchObject({ type: 'internal', grants: ['client_credentials'], regionId: 'au1' });
    expect(internal!.scopes).toContain('read:attendance');
    expect(internal!.scopes.filter((scope) => scope.startsWith('write:'))).toEqual([]);
    expect(internal!.builderIds).toHaveLength(4);
    const american = file.clients.filter(({ regionId }) => regionId === 'us1');
    expect(american).toMatchObject([{ type: 'confidential', scopes: [...SCOPES], builderIds: [expect.any(String)] }]);
  });

  it('has a user in one of the builders of A and a user in both', () => {
    const email = expect.stringMatching(/^[a-z.]+@[a-z-]+\.example$/);
    const users = file.users.filter(({ regionId }) => regionId === 'au1');
    expect(users).toMatchObject([
      { email, builderIds: [first] },
      { email, builderIds: [first, second] },
    ]);
  });

  it('has a staff user of each role, the administrator in both regions', async () => {
    expect(file.staff.map(({ role, regionIds }) => [role, regionIds])).toEqual([
      ['VIEWER', ['au1']],
      ['OPERATOR', ['au1']],
      ['ADMIN', ['au1', 'us1']],
    ]);
    const { au1 } = databases;
    const roles = await query(au1, 'select email, staff_role as role from app_user where staff_role is not null');
    expect(roles).toEqual(expect.arrayContaining(file.staff.map(({ email, role }) => ({ email, role }))));
    expect(roles).toHaveLength(file.staff.length);
  });

  it("has workers by their access to a project of A's first builder", async () => {
    const { au1 } = databases;
    const { builderId, projectId, workers } = file.attendance!;
    expect(builderId).toBe(first);
    expect(workers.active.length).toBeGreaterThanOrEqual(4);
    expect(workers.revoked.length).toBeGreaterThanOrEqual(1);
    expect(workers.none.length).toBeGreaterThanOrEqual(1);
    const sql = `select worker.id, site_access.id is not null as related, revoked_at is not null as revoked
      from worker left join site_access on worker_id = worker.id and project_id = $1 where worker.builder_id = $2`;
    const rows = await query(au1, sql, [projectId, builderId]);
    const idsOf = (related: boolean, revoked: boolean) =>
      rows.filter((row) => row.related === related && row.revoked === revoked).map(({ id }) => id);
    expect(idsOf(true, false)).toEqual(expect.arrayContaining(workers.active));
    expect(idsOf(true, true)).toEqual(expect.arrayContaining(workers.revoked));
    expect(idsOf(false, false)).toEqual(expect.arrayContaining(workers.none));
  });
});

describe('the first start', () => {
  it('loads empty databases, writes a file readable by its owner only, and returns the client of A', async () => {
    const file = await readDemoFile(config);
    const { clientId, clientSecret } = file.clients[0]!;
    const { staff } = file;
    expect(summary).toEqual({ file: join(config.dataDir, 'demo.json'), clientId, clientSecret, staff });
    expect((await stat(summary!.file)).mode & 0o777).toBe(0o600);
    expect(Object.keys(file)).toEqual(['baseUrl', 'clients', 'users', 'staff', 'attendance']);
    expect(await hasValidCredentials(file, databases)).toBe(true);
    expect(await query(databases.au1, 'select count(*)::int as count from timesheet')).toEqual([{ count: 10_000 }]);
  });

  it('changes nothing on a second start', async () => {
    const before = await readFile(join(config.dataDir, 'demo.json'), 'utf8');
    const summaries = await Promise.all([startDemo(), startDemo()]);
    expect(summaries[0]).toEqual(summaries[1]);
    expect(await readFile(join(config.dataDir, 'demo.json'), 'utf8')).toBe(before);
  });

  it('updates the base URL in the file', async () => {
    const before = await readDemoFile(config);
    await startDemo(databases, { ...config, baseUrl: 'http://localhost:4999' });
    expect(await readDemoFile(config)).toEqual({ ...before, baseUrl: 'http://localhost:4999' });
  });

  it('writes the same file again if it is missing', async () => {
    const before = await readDemoFile(config);
    await rm(join(config.dataDir, 'demo.json'));
    await startDemo();
    expect(await readDemoFile(config)).toEqual({ ...before, baseUrl: config.baseUrl });
  });

  it('loads one region with the same secrets if the other is loaded', async () => {
    const { us1 } = await openDatabases();
    const before = await readDemoFile(config);
    await startDemo({ ...databases, us1 });
    expect(await readDemoFile(config)).toEqual(before);
    expect(await hasValidCredentials(before, { ...databases, us1 })).toBe(true);
  });

  it('does not change databases with other data', async () => {
    const others = await openDatabases();
    for (const region of REGIONS) {
      await query(
        others[region],
        `insert into builder (id, created_at, updated_at, name) values ('buil_a1', now(), now(), 'Own')`,
      );
    }
    const folder = await createConfig();
    expect(await startDemo(others, folder)).toBeNull();
    await expect(stat(join(folder.dataDir, 'demo.json'))).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await query(others.au1, 'select id from builder')).toEqual([{ id: 'buil_a1' }]);
  });
});

describe('the demo data', () => {
  let au1: Database;
  let us1: Database;
  beforeAll(() => {
    ({ au1, us1 } = databases);
  });

  it('is the same each time, except for secrets', async () => {
    const again = await openDatabases();
    const other = createDemoFile(REGIONS, config.baseUrl, newSecret());
    await populateDatabase(again.us1, other, { timesheets: TIMESHEETS, now: BASE, pictures: [] });
    const withoutSecrets = ({ clients, ...file }: DemoFile) => ({
      ...file,
      clients: clients.map(({ clientSecret: _, ...client }) => client),
      users: file.users.map(({ password: _, ...user }) => user),
      staff: file.staff.map(({ password: _, ...user }) => user),
    });
    expect(withoutSecrets(other)).toEqual(withoutSecrets(inject('demo')));
    expect(other.clients[0]!.clientSecret).not.toBe(inject('demo').clients[0]!.clientSecret);
    for (const table of tablesOf(us1)) {
      // The database sets `changed_at`, so that it differs.
      const row = `(to_jsonb(t) - 'changed_at')::text`;
      const sql = `select md5(string_agg(${row}, ',' order by ${row})) as digest from "${table}" t`;
      if (table === 'oauth_client_secret' || table === 'app_user') continue;
      expect([table, await query(again.us1, sql)]).toEqual([table, await query(us1, sql)]);
    }
    const createRows = () => {
      const rows = new Rows();
      addLimitedIntegrator(rows, BASE);
      for (let index = 0; index < BUILDERS.au1; index++)
        rows.addAll(createBuilderRows('au1', index, { timesheets: 100, now: BASE, pictures: [] }));
      return JSON.stringify(entities.map((entity) => rows.of(entity as EntityClass<object>)));
    };
    const first = createRows();
    expect(createRows() === first).toBe(true);
  });

  it('is not in the feed, which begins with the first change after it', async () => {
    const [row] = await query(
      au1,
      'select (select count(*) from event_pending) + (select count(*) from event) as count',
    );
    expect(Number(row!.count)).toBe(0);
  });

  it('counts its days back from that of loading', async () => {
    const listExpiries = (now: number) =>
      createBuilderRows('au1', 0, { timesheets: 1, now, pictures: [] })
        .of(Insurance)
        .map(({ expiry, status }) => [(Date.parse(expiry!) - now) / DAY, status]);
    expect(listExpiries(BASE + 42 * DAY)).toEqual(listExpiries(BASE));
    expect(new Set(listExpiries(BASE).map(String)).size).toBeGreaterThan(20);
  });

  it('has plausible numbers of records for four builders', async () => {
    const counts = async (sql: string) => Object.values((await query(au1, sql))[0]!);
    expect(await counts('select count(*)::int from builder')).toEqual([4]);
    const atLeast: [sql: string, least: number][] = [
      ['project', 40],
      ['subcontractor where not is_builder and archived_at is null', 250],
      ['subcontractor where archived_at is not null', 10],
      ['swms_document', 300],
      ['prequalification', 200],
      ['insurance', 500],
      [`insurance where expiry between '2026-06-01' and '2026-07-01'`, 20],
      [`insurance where expiry < '2026-06-01' and status = 'EXPIRED'`, 20],
      ['contact', 400],
      ['worker', 800],
      ['induction', 1000],
      ['site_access where revoked_at is null', 1000],
      ['site_access where revoked_at is not null', 50],
      ['timesheet_cost_code', 40],
      ['timesheet_time_type', 16],
      ['meeting where template_id is not null', 20],
      ['meeting where template_id is null', 20],
      ...['USER', 'COMPANY', 'TAG'].map((type): [string, number] => [
        `defect where assignees @> '[{"type":"${type}"}]'`,
        50,
      ]),
    ];
    for (const [source, least] of atLeast) {
      const [count] = await counts(`select count(*)::int from ${source}`);
      expect([source, count], source).toEqual([source, expect.toSatisfy((value: number) => value >= least)]);
    }
    expect(await query(us1, 'select count(*)::int as count from builder')).toEqual([{ count: 1 }]);
  });

  it('has one own company per builder', async () => {
    const sql = 'select count(*)::int as count from subcontractor where is_builder group by builder_id';
    expect(await query(au1, sql)).toEqual(Array(4).fill({ count: 1 }));
  });

  it('has no references between builders', async () => {
    for (const database of [au1, us1]) expect(await findBrokenReferences(database)).toEqual([]);
  });

  it('has timestamps between the start of the history and the base date', async () => {
    for (const table of tablesOf(au1)) {
      const [{ columns }] = (await query(
        au1,
        `select count(*)::int as columns from information_schema.columns
          where table_name = $1 and column_name in ('created_at', 'updated_at')`,
        [table],
      )) as [Row];
      if (columns !== 2) continue;
      const sql = `select * from "${table}" where updated_at < created_at or updated_at > '2026-06-01' or created_at < '2024-06-01'`;
      expect([table, await query(au1, sql)]).toEqual([table, []]);
    }
  });
});

describe('its timesheets', () => {
  it('have ids that sort by creation time', async () => {
    const { au1 } = databases;
    const sql = `select count(*)::int as count from (
      select created_at < lag(created_at) over (order by left(id, 13)) as wrong from timesheet) t where wrong`;
    expect(await query(au1, sql)).toEqual([{ count: 0 }]);
  });
});

const tablesOf = ({ metadata }: Database) => entities.map((entity) => metadata.get(entity as never).tableName);

/** Returns the foreign keys with rows that refer to missing records or to records of another builder. */
async function findBrokenReferences(database: Database): Promise<string[]> {
  const keys = await query(
    database,
    `select c.conrelid::regclass::text as child, a.attname as "column", c.confrelid::regclass::text as parent,
        exists (select from pg_attribute x where x.attrelid = c.conrelid and x.attname = 'builder_id') as "childHas",
        exists (select from pg_attribute x where x.attrelid = c.confrelid and x.attname = 'builder_id') as "parentHas"
      from pg_constraint c join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1] where c.contype = 'f'`,
  );
  const broken: string[] = [];
  for (const { child, column, parent, childHas, parentHas } of keys) {
    const elsewhere = childHas && parentHas ? 'or p.builder_id <> c.builder_id' : '';
    const sql = `select 1 from ${child} c left join ${parent} p on p.id = c.${column}
      where c.${column} is not null and (p.id is null ${elsewhere}) limit 1`;
    if ((await query(database, sql)).length > 0) broken.push(`${child}.${column}`);
  }
  const links: [name: string, sql: string][] = [
    [
      'subcontractor_project',
      `select 1 from subcontractor_project x join subcontractor s on s.id = subcontractor_id
        join project p on p.id = project_id where s.builder_id <> p.builder_id`,
    ],
    [
      'contact.project_ids',
      `select 1 from contact c, unnest(project_ids) x left join project p on p.id = x
        where p.builder_id is distinct from c.builder_id`,
    ],
    [
      'induction.subcontractor_id',
      'select 1 from induction i join worker w on w.id = worker_id where i.subcontractor_id <> w.subcontractor_id',
    ],
    [
      'defect.location_id',
      'select 1 from defect d join project_location l on l.id = location_id where d.project_id <> l.project_id',
    ],
    [
      'defect.assignees',
      `select 1 from defect d cross join lateral jsonb_array_elements(assignees) a
        left join subcontractor s on s.id = a->>'id' and s.builder_id = d.builder_id
        left join membership m on m.user_id = a->>'id' and m.builder_id = d.builder_id
        where case a->>'type' when 'COMPANY' then s.name is distinct from a->>'name' when 'USER' then m.id is null end`,
    ],
  ];
  for (const [name, sql] of links) {
    if ((await query(database, `${sql} limit 1`)).length > 0) broken.push(name);
  }
  return broken;
}
