import { beforeAll, describe, expect, it } from 'vitest';
import { AuditEntry } from '../../../entities/audit-entry.entity.ts';
import { newId } from '../../../schema/ids.ts';
import { SORTS } from '../../../src/console/server/records/records.schema.ts';
import { encodeListCursor } from '../../../src/database/read/list-cursor.ts';
import { addStaff, type ConsoleBrowser, signInToConsole } from '../../support/console.ts';
import { useService } from '../../support/harness.ts';
import { addProject, addTimesheets, addWorkerOnSite } from '../../support/rows.ts';

const service = useService();
let viewer: ConsoleBrowser;
let operator: ConsoleBrowser;
let builderId: string;
let otherId: string;
let workerId: string;

const select = <T>(sql: string, values: unknown[] = []) => service.databases.au1.fork().execute<T[]>(sql, values);

beforeAll(async () => {
  viewer = await signInToConsole(service.app, await addStaff(service, 'VIEWER'));
  operator = await signInToConsole(service.app, await addStaff(service, 'OPERATOR'));
  builderId = service.findDemoClient('A').builderIds[0]!;
  otherId = service.findDemoClient('B').builderIds[0]!;
  for (const id of [builderId, otherId]) {
    const worker = await addWorkerOnSite(service, id);
    await select('update worker set full_name = ? where id = ?', ["Zoë Ørsted-O'Brien", worker.workerId]);
    if (id === builderId) ({ workerId } = worker);
  }
  await addProject(service, builderId, { name: 'Größe Wharf, Stage 2' });
  await addTimesheets(service, builderId, [{ hours: 3 }]);
});

const FIND =
  'query ($text: String!, $builderId: BuilderId) { find(text: $text, builderId: $builderId) { kind id name detail } }';
const find = async (text: string, browser = operator, builder: string | null = builderId) =>
  (await browser.query(FIND, { text, builderId: builder })).data.find as { kind: string; id: string; name: string }[];

describe('the search over all records (CON-18)', () => {
  it.each(['zoe orsted', 'ORSTED Zoë', "o'brien  zoe", 'brien ørs', 'zo brie'])(
    'finds a worker by the beginnings of words, without accents and in any order: %s',
    async (text) => {
      const found = await find(text);
      expect(found).toEqual([expect.objectContaining({ kind: 'WORKER', id: workerId, detail: 'Steel Works' })]);
    },
  );

  it.each(['zoe smith', 'oe orsted', '--', '  ', "' & !"])('finds nothing that has not all words: %s', async (text) => {
    expect(await find(text)).toEqual([]);
  });

  it("does not take the builder's id for a word of each of its records", async () => {
    for (const text of ['bu', 'buil']) {
      for (const { name } of await find(text)) expect(name).toMatch(new RegExp(`\\b${text}`, 'i'));
    }
  });

  it('finds projects, companies, people, integrators, clients and failed requests', async () => {
    const [user] = await select<{ id: string; email: string }>(
      'select id, email from app_user where staff_role is null limit 1',
    );
    const [client] = await select<{ id: string; name: string; vendor: string; integrator: string }>(
      `select oauth_client.id, oauth_client.name, integrator.name as vendor, integrator.id as integrator
        from oauth_client join integrator on integrator.id = integrator_id limit 1`,
    );
    await select(
      `insert into request_log (integrator_id, request_id, at, client_id, method, path, status, code, duration_ms)
        values (?, 'req-find-1', ?, ?, 'GET', '/projects', 404, 'NOT_FOUND', 3)`,
      [client!.integrator, new Date(service.clock.now()).toISOString(), client!.id],
    );
    const kinds = async (text: string) => (await find(text)).map(({ kind, id }) => `${kind} ${id}`);
    expect((await find('stage grosse')).map(({ kind, name }) => [kind, name])).toEqual([
      ['PROJECT', 'Größe Wharf, Stage 2'],
    ]);
    expect((await find('steel'))[0]).toMatchObject({ kind: 'SUBCONTRACTOR', name: 'Steel Works' });
    expect(await kinds(user!.email)).toContain(`USER ${user!.id}`);
    expect(await kinds(client!.vendor)).toContain(`INTEGRATOR ${client!.integrator}`);
    expect(await kinds(client!.name)).toContain(`CLIENT ${client!.id}`);
    expect(await kinds('req-find-1')).toEqual(['REQUEST req-find-1']);
  });

  it('lists records of one kind by name', async () => {
    for (const name of ['Quay Yard B', 'Quay Yard A']) await addProject(service, builderId, { name });
    expect((await find('quay yard')).map(({ name }) => name)).toEqual(['Quay Yard A', 'Quay Yard B']);
  });

  it('lists records of one name by id', async () => {
    // Another order than that of the rows, and of no index.
    const ids = ['c', 'a', 'd', 'b'].map((end) => `intg_same_${end}`);
    for (const id of ids) {
      await select(
        `insert into integrator (id, created_at, updated_at, name, deep_link_schemes) values (?, now(), now(), 'Twin Silo', '{}')`,
        [id],
      );
    }
    expect((await find('twin silo')).map(({ id }) => id)).toEqual(ids.toSorted());
  });

  it("finds no other builder's records, and none of a builder without one", async () => {
    expect((await find('zoe orsted', operator, otherId)).map(({ id }) => id)).not.toContain(workerId);
    expect(await find('zoe orsted', operator, null)).toEqual([]);
  });

  it('shows no people to a viewer, who cannot count them either (CON-5)', async () => {
    expect(await find('zoe orsted', viewer)).toEqual([]);
    expect((await find('stage grosse', viewer)).map(({ kind }) => kind)).toEqual(['PROJECT']);
    for (const list of ['findWorkers', 'findTimesheets', 'findInductions']) {
      const query = `{ ${list}(builderId: "${builderId}", search: "zoe") { meta { totalCount } } }`;
      expect((await viewer.query(query)).errors![0]!.extensions.code).toBe('FORBIDDEN');
    }
  });

  it('records the people that it shows (CON-5)', async () => {
    await find('zoe orsted');
    const entries = await service.databases.au1.fork().find(AuditEntry, { action: 'person.read', personId: workerId });
    expect(entries.map(({ valuesAfter }) => valuesAfter)).toContainEqual({ categories: ['Worker'] });
  });

  it('of timesheets records whose they are, whatever is selected of them (CON-5)', async () => {
    const readTimesheets = async () =>
      (await service.databases.au1.fork().find(AuditEntry, { action: 'person.read', builderId })).filter(
        ({ valuesAfter }) => JSON.stringify(valuesAfter) === '{"categories":["Timesheet"]}',
      );
    expect(await readTimesheets()).toEqual([]);
    const search = (selection: string, page = 'offset: 0') =>
      operator.query(`{ findTimesheets(builderId: "${builderId}", search: "ng alex", ${page}) { ${selection} } }`);
    const total = { findTimesheets: { meta: { totalCount: 1 } } };
    expect((await search('meta { totalCount }', 'offset: 25')).data).toEqual(total);
    expect(await readTimesheets()).toHaveLength(1);
    service.clock.advance(3_600_000);
    expect((await search('meta { totalCount }')).data).toEqual(total);
    expect((await search('data { hours }')).data.findTimesheets).toEqual({ data: [{ hours: 3 }] });
    expect(await readTimesheets()).toHaveLength(2);
    service.clock.advance(3_600_000);
    // The checksum of a cursor is no secret, so that its position may be made up.
    const scope = { list: 'Timesheet', filters: { builderId, search: 'ng alex' } };
    const cursor = encodeListCursor(scope, { afterValue: '9999-01-01', afterId: newId('timesheet', 0), total: '' });
    expect((await search('meta { totalCount }', `cursor: "${cursor}"`)).data).toEqual(total);
    expect(await readTimesheets()).toHaveLength(3);
  });

  it('is 400 for a long text', async () => {
    const { errors } = await operator.query(FIND, { text: 'a'.repeat(201), builderId });
    expect(errors![0]!.extensions.errors).toEqual([{ fieldName: 'text', message: 'must have at most 200 characters' }]);
  });
});

/** Returns the plan of a statement without what the settings switch off. */
const explain = (text: string, ...without: string[]): Promise<string> =>
  service.databases.au1.fork().transactional(async (em) => {
    for (const setting of without) await em.execute(`set local ${setting} = off`);
    const rows = await em.execute<{ 'QUERY PLAN': string }[]>(`explain (generic_plan, costs off) ${text}`);
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  });

describe('the lists of tables (CON-18)', () => {
  const names = { Timesheet: 'findTimesheets', Induction: 'findInductions', Insurance: 'findInsurances' };
  const queries: Record<keyof typeof SORTS, string> = {
    ...names,
    PhotoReport: 'findPhotoReports',
    Worker: 'findWorkers',
  };

  it('find timesheets by the person, insurances by the subcontractor, inductions by the worker', async () => {
    const { data } = await operator.query(`{
      findTimesheets(builderId: "${builderId}", search: "ng alex") { data { hours profile { fullName } } }
      findInsurances(builderId: "${builderId}", search: "steel") { meta { totalCount } }
      findWorkers(builderId: "${builderId}", search: "brien") { meta { totalCount } data { id subcontractor { name } } }
    }`);
    expect(data.findTimesheets.data).toEqual([{ hours: 3, profile: { fullName: 'Alex Ng' } }]);
    expect(data.findInsurances.meta.totalCount).toBe(0);
    expect(data.findWorkers).toEqual({
      meta: { totalCount: 1 },
      data: [{ id: workerId, subcontractor: { name: 'Steel Works' } }],
    });
    const [insured] = await select<{ name: string }>(
      `select subcontractor.name from insurance join subcontractor on subcontractor.id = subcontractor_id
        where insurance.builder_id = ? and archived_at is null limit 1`,
      [builderId],
    );
    const query =
      'query ($of: BuilderId!, $search: String) { findInsurances(builderId: $of, search: $search) { data { subcontractor { name } } } }';
    const found = (await operator.query(query, { of: builderId, search: insured!.name })).data.findInsurances.data;
    expect(new Set(found.map((row: { subcontractor: { name: string } }) => row.subcontractor.name))).toEqual(
      new Set([insured!.name]),
    );
  });

  it('return all rows of the filters by cursors, as exports read them', async () => {
    const ids: string[] = [];
    const query = `query ($of: BuilderId!, $cursor: ListCursor) {
      findInductions(builderId: $of, limit: 25, cursor: $cursor) { data { id } meta { totalCount nextCursor } } }`;
    let total = 0;
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { data, errors } = await operator.query(query, { of: builderId, cursor });
      expect(errors).toBeUndefined();
      ids.push(...data.findInductions.data.map(({ id }: { id: string }) => id));
      total = data.findInductions.meta.totalCount;
      cursor = data.findInductions.meta.nextCursor;
    }
    expect(total).toBeGreaterThan(25);
    expect(new Set(ids).size).toBe(total);
  });

  const sorts = Object.entries(SORTS).flatMap(([type, columns]) =>
    Object.entries(columns).map(([sort, column]) => [type as keyof typeof SORTS, sort, column] as const),
  );
  it.each(sorts)('sort %s by %s, in the order of an index', async (type, sort, column) => {
    const texts = new Set<string>();
    const stop = service.databases.au1.onStatement(({ text }) => texts.add(text));
    for (const order of ['asc', 'desc']) {
      const query = `{ ${queries[type]}(builderId: "${builderId}", sort: ${sort}, order: ${order}) { data { id } } }`;
      expect((await operator.query(query)).errors).toBeUndefined();
    }
    stop();
    const sorted = [...texts].filter((text) => text.includes(`order by t.${column}`));
    expect(sorted).toHaveLength(2);
    for (const text of sorted) {
      // Rows of small tables would be read in another order and sorted.
      const lines = await explain(
        text,
        'enable_sort',
        'enable_incremental_sort',
        'enable_seqscan',
        'enable_bitmapscan',
      );
      expect(lines).toContain(`${column}_id_index`);
      expect(lines).not.toMatch(/Sort Key: t[._]|Seq Scan on/);
    }
  });

  it('search through an index', async () => {
    for (const table of ['project', 'subcontractor', 'worker', 'person_profile', 'app_user']) {
      const [text, scope] =
        table === 'app_user'
          ? ["name || ' ' || email", "''"]
          : [/worker|profile/.test(table) ? 'full_name' : 'name', 'builder_id'];
      const value = table === 'app_user' ? '' : builderId;
      const search = `search_vector(${scope}, ${text}) @@ search_query('${value}', 'an')`;
      expect(await explain(`select id from ${table} where ${search}`, 'enable_seqscan')).toContain(`${table}_search`);
    }
  });
});

describe('the role of a membership', () => {
  it('is changed by an operator and audited, and not by a viewer (CON-6)', async () => {
    const [member] = await select<{ user_id: string; builder_id: string; role: string }>(
      'select * from membership limit 1',
    );
    const { user_id: userId, builder_id: of, role } = member!;
    const change = `mutation { updateMembership(userId: "${userId}", builderId: "${of}", role: "FOREMAN") { memberships { builderId role } } }`;
    expect((await viewer.query(change)).errors![0]!.extensions.code).toBe('FORBIDDEN');
    const { data } = await operator.query(change);
    expect(data.updateMembership.memberships).toContainEqual({ builderId: of, role: 'FOREMAN' });
    const entries = await service.databases.au1.fork().find(AuditEntry, { action: 'membership.updated' });
    expect(entries).toMatchObject([
      {
        actorType: 'STAFF',
        actorId: 'user_operator',
        personId: userId,
        valuesBefore: { role },
        valuesAfter: { role: 'FOREMAN' },
      },
    ]);
  });
});
