import { beforeAll, describe, expect, it } from 'vitest';
import { addAccounts } from '../../support/accounts.ts';
import { addStaff, type ConsoleBrowser, signInToConsole } from '../../support/console.ts';
import { useService } from '../../support/harness.ts';
import { addTimesheets, addWorkerOnSite } from '../../support/rows.ts';

const service = useService();
let viewer: ConsoleBrowser;
let operator: ConsoleBrowser;
let builderId: string;

beforeAll(async () => {
  viewer = await signInToConsole(service.app, await addStaff(service, 'VIEWER'));
  operator = await signInToConsole(service.app, await addStaff(service, 'OPERATOR'));
  builderId = service.findDemoClient('A').builderIds[0]!;
});

const select = <T>(sql: string, values: unknown[] = []) => service.databases.au1.fork().execute<T[]>(sql, values);

let added = 0;
async function addBuilder(name: string): Promise<string> {
  const id = `buil_own${++added}`;
  await select('insert into builder (id, created_at, updated_at, name) values (?, now(), now(), ?)', [id, name]);
  return id;
}
async function addCostCode(of: string): Promise<string> {
  const id = `tscc_own${++added}`;
  await select(`insert into timesheet_cost_code (id, builder_id, code, description) values (?, ?, ?, 'Own')`, [
    id,
    of,
    id,
  ]);
  return id;
}

const statusesOf = ({ errors }: { errors?: { extensions: { http: { status: number } } }[] }) =>
  errors?.map(({ extensions }) => extensions.http.status);

describe('findBuilders', () => {
  it('lists builders by name, with their number', async () => {
    for (const name of ['Quoll South', 'Quoll East', 'Quoll North']) await addBuilder(name);
    const { data } = await viewer.query(
      '{ findBuilders(name: "Quoll", limit: 2) { totalCount data { name timeZone } } }',
    );
    const timeZone = 'Australia/Sydney';
    const first = [
      { name: 'Quoll East', timeZone },
      { name: 'Quoll North', timeZone },
    ];
    expect(data.findBuilders).toEqual({ totalCount: 3, data: first });
  });

  it('finds a part of a name in any case, without patterns', async () => {
    const id = await addBuilder('Wombat & Sons');
    const find = async (part: string) =>
      (await viewer.query('query ($part: String) { findBuilders(name: $part) { data { id } } }', { part })).data
        .findBuilders.data;
    expect(await find('OMBAT & s')).toEqual([{ id }]);
    expect(await find('%')).toEqual([]);
  });

  it('finds one builder by its id', async () => {
    const found = await viewer.query(`{ findBuilders(id: "${builderId}") { totalCount data { id } } }`);
    expect(found.data.findBuilders).toEqual({ totalCount: 1, data: [{ id: builderId }] });
    const none = await viewer.query('{ findBuilders(id: "buil_none") { totalCount } }');
    expect(none.data.findBuilders.totalCount).toBe(0);
  });

  it('is 400 for a limit that is out of bounds', async () => {
    expect(statusesOf(await viewer.query('{ findBuilders(limit: 201) { totalCount } }'))).toEqual([400]);
  });
});

describe('integrators', () => {
  it('are listed from the newest, with the numbers of their active clients and connections, of all and not of a page', async () => {
    const { integratorId, clientId, builderId: connected } = await addAccounts(service);
    const read = async () => {
      const { data } = await viewer.query('{ integrators { data { id activeClients activeConnections } } }');
      const ids = data.integrators.data.map(({ id }: { id: string }) => id);
      expect(ids).toEqual(ids.toSorted().toReversed());
      return data.integrators.data[ids.indexOf(integratorId)];
    };
    expect(await read()).toEqual({ id: integratorId, activeClients: 1, activeConnections: 2 });
    await select(`update connection set status = 'REVOKED' where integrator_id = ? and builder_id = ?`, [
      integratorId,
      connected,
    ]);
    await select('update oauth_client set disabled_at = now() where id = ?', [clientId]);
    expect(await read()).toEqual({ id: integratorId, activeClients: 0, activeConnections: 1 });
  });
});

describe('inductions', () => {
  it('lists those of all projects of the builder, by status and project', async () => {
    const { builderId: own } = await addAccounts(service);
    const sites = [await addWorkerOnSite(service, own), await addWorkerOnSite(service, own)] as const;
    const statuses = ['WAITING_REVIEW', 'REVIEWED', 'WAITING_REVIEW'] as const;
    for (const [index, status] of statuses.entries()) {
      await select(
        `insert into induction (id, created_at, updated_at, builder_id, project_id, worker_id, subcontractor_id, identifier, type, status)
          select ?::text, now(), now(), builder_id, ?::text, id, subcontractor_id, ?::int, 'PROJECT_INDUCTION', ?::text from worker where id = ?`,
        [`ind_own${index}`, sites[index % 2]!.projectId, index, status, sites[index % 2]!.workerId],
      );
    }
    const { data } = await operator.query(`{
      all: inductions(builderId: "${own}") { meta { totalCount } data { project { id } } }
      waiting: inductions(builderId: "${own}", status: WAITING_REVIEW) { meta { totalCount } data { id } }
      one: inductions(builderId: "${own}", projectId: "${sites[1].projectId}") { data { id } }
      none: inductions(builderId: "${own}", projectId: "proj_none") { meta { totalCount } }
    }`);
    expect(data.all.meta.totalCount).toBe(3);
    const projects = data.all.data.map((row: { project: { id: string } }) => row.project.id);
    expect(new Set(projects)).toEqual(new Set(sites.map(({ projectId }) => projectId)));
    expect(data.waiting.meta.totalCount).toBe(2);
    expect(data.waiting.data.map(({ id }: { id: string }) => id).sort()).toEqual(['ind_own0', 'ind_own2']);
    expect(data.one.data).toEqual([{ id: 'ind_own1' }]);
    expect(data.none.meta.totalCount).toBe(0);
  });

  it('is 403 for a viewer who selects the workers', async () => {
    const result = await viewer.query(`{ inductions(builderId: "${builderId}") { data { worker { fullName } } } }`);
    expect(statusesOf(result)).toEqual([403]);
  });
});

describe('timesheets of a builder', () => {
  it('of a cost code are listed, and the hours of charts are theirs', async () => {
    const id = await addCostCode(builderId);
    // Days of Sydney: the first ends the range before, and the last begins the range after it.
    await addTimesheets(service, builderId, [
      { costCodeId: id, date: '2025-05-31T13:59:00.000Z', hours: 100 },
      { costCodeId: id, date: '2025-05-31T14:00:00.000Z', hours: 7.5 },
      { costCodeId: id, date: '2026-03-02T07:30:00.000Z', hours: 8.25 },
      { costCodeId: null, date: '2026-03-02T07:30:00.000Z', hours: 100 },
      { costCodeId: id, date: '2026-05-31T14:00:00.000Z', hours: 100 },
    ]);
    const days = 'firstDay: "2025-06-01", lastDay: "2026-05-31", timeZone: "Australia/Sydney"';
    const of = `builderId: "${builderId}", costCodeId: "${id}", startDate: "2025-06-01", endDate: "2026-05-31"`;
    const { data } = await operator.query(`{
      builder(builderId: "${builderId}") { timesheets(costCodeId: "${id}", ${days}) { meta { totalCount } } }
      hoursByWeek(${of}) { hours }
      hoursByProject(${of}) { hours }
      hoursByCostCode(${of}) { hours costCode { id } }
    }`);
    expect(data.builder.timesheets.meta.totalCount).toBe(2);
    for (const figure of ['hoursByWeek', 'hoursByProject', 'hoursByCostCode']) {
      const sum = data[figure].reduce((all: number, row: { hours: number }) => all + row.hours, 0);
      expect([figure, sum]).toEqual([figure, 15.75]);
    }
    expect(data.hoursByCostCode.map((row: { costCode: { id: string } }) => row.costCode.id)).toEqual([id]);
  });

  it('are none for a cost code of another builder', async () => {
    const other = service.findDemoClient('B').builderIds[0]!;
    const id = await addCostCode(other);
    await addTimesheets(service, other, [{ costCodeId: id }]);
    const query = `{ builder(builderId: "${builderId}") { timesheets(costCodeId: "${id}") { meta { totalCount } data { id } } } }`;
    const { data } = await operator.query(query);
    expect(data.builder.timesheets).toEqual({ meta: { totalCount: 0 }, data: [] });
  });

  it('of the longest range of days are all, as insurances with an end are', async () => {
    const { builderId: own } = await addAccounts(service);
    await addTimesheets(service, own, [{ date: '2011-01-01T00:00:00.000Z' }, { date: '2042-01-01T00:00:00.000Z' }]);
    await addWorkerOnSite(service, own);
    for (const [index, expiry] of ['2011-01-01Z', '2042-01-01Z', null].entries()) {
      await select(
        `insert into insurance (id, created_at, updated_at, builder_id, subcontractor_id, name, type, status, expiry)
          select ?::text, now(), now(), builder_id, id, 'Policy', 'PUBLIC_LIABILITY', 'REVIEWED', ?::timestamptz from subcontractor where builder_id = ?`,
        [`doc_own${index}`, expiry, own],
      );
    }
    const days = 'firstDay: "0001-01-01", lastDay: "9999-12-31", timeZone: "America/New_York"';
    const lists = (args: string) =>
      `builder(builderId: "${own}") { timesheets${args && `(${args})`} { meta { totalCount } } }
        insurances(builderId: "${own}"${args && `, ${args}`}) { meta { totalCount } }`;
    const [ranged, all] = [await operator.query(`{ ${lists(days)} }`), await operator.query(`{ ${lists('')} }`)];
    expect(ranged.errors).toBeUndefined();
    const timesheets = { timesheets: { meta: { totalCount: 2 } } };
    expect(ranged.data).toEqual({ builder: timesheets, insurances: { meta: { totalCount: 2 } } });
    expect(all.data).toEqual({ builder: timesheets, insurances: { meta: { totalCount: 3 } } });
  });

  it('are 400 for a range of days that ends before it begins', async () => {
    const query = `{ builder(builderId: "${builderId}") { timesheets(firstDay: "2026-05-02", lastDay: "2026-05-01") { meta { totalCount } } } }`;
    expect((await operator.query(query)).errors![0]!.extensions.errors).toEqual([
      { fieldName: 'lastDay', message: 'must not be before firstDay' },
    ]);
  });
});

describe('otherActions', () => {
  it('are those that need a higher role, with the role', async () => {
    const read = async (browser: ConsoleBrowser) =>
      (await browser.query('{ me { actions otherActions { action role } } }')).data.me;
    const { actions, otherActions } = await read(viewer);
    expect(otherActions).toContainEqual({ action: 'visit.closed', role: 'OPERATOR' });
    expect(otherActions).toContainEqual({ action: 'internal_client.changed', role: 'ADMIN' });
    const both = actions.filter((action: string) =>
      otherActions.some((other: { action: string }) => other.action === action),
    );
    expect(both).toEqual([]);
    const roles = (await read(operator)).otherActions.map(({ role }: { role: string }) => role);
    expect(new Set(roles)).toEqual(new Set(['ADMIN']));
  });
});

describe('the cost of a response', () => {
  const query = '{ builders(limit: 2) { data { id name } } }';

  it('is in its extensions', async () => {
    expect(await viewer.query(query)).toMatchObject({ extensions: { cost: 4 } });
  });
});
