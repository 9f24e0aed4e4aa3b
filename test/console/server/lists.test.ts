import { beforeAll, describe, expect, it } from 'vitest';
import { addStaff, type ConsoleBrowser, signInToConsole } from '../../support/console.ts';
import { useService } from '../../support/harness.ts';

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
const statusesOf = ({ errors }: { errors?: { extensions: { http: { status: number } } }[] }) =>
  errors?.map(({ extensions }) => extensions.http.status);

describe('findBuilders', () => {
  it('lists builders by name, with their number', async () => {
    const { data } = await viewer.query('{ findBuilders(limit: 2) { totalCount data { id name timeZone } } }');
    const names = (await select<{ name: string }>('select name from builder order by name')).map(({ name }) => name);
    expect(data.findBuilders.totalCount).toBe(names.length);
    expect(data.findBuilders.data.map(({ name }: { name: string }) => name)).toEqual(names.slice(0, 2));
    expect(data.findBuilders.data[0].timeZone).toBe('Australia/Sydney');
  });

  it('finds a part of a name in any case, without patterns', async () => {
    const [{ name }] = (await select<{ name: string }>('select name from builder where id = ?', [builderId])) as [
      { name: string },
    ];
    const find = async (part: string) =>
      (await viewer.query('query ($part: String) { findBuilders(name: $part) { data { id } } }', { part })).data
        .findBuilders.data;
    expect(await find(name.slice(1, 6).toUpperCase())).toEqual([{ id: builderId }]);
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
  it('have the numbers of their active clients and connections, of all and not of a page', async () => {
    const rows = await select<{ id: string; clients: number; connections: number }>(
      `select id, (select count(*)::int from oauth_client where integrator_id = integrator.id and disabled_at is null) as clients,
          (select count(*)::int from connection where integrator_id = integrator.id and status = 'ACTIVE') as connections
        from integrator order by id desc`,
    );
    const query = '{ integrators { data { id activeClients activeConnections } } }';
    const { data } = await viewer.query(query);
    const shown = data.integrators.data.map(
      (each: { id: string; activeClients: number; activeConnections: number }) => ({
        ...{ id: each.id, clients: each.activeClients, connections: each.activeConnections },
      }),
    );
    expect(shown).toEqual(rows);
    expect(Math.max(...rows.map(({ connections }) => connections))).toBeGreaterThan(0);
    await select(
      `update connection set status = 'REVOKED' where id = (select id from connection where status = 'ACTIVE' limit 1)`,
    );
    await select(
      `update oauth_client set disabled_at = now() where id = (select id from oauth_client where integrator_id is not null limit 1)`,
    );
    const after = (await viewer.query(query)).data.integrators.data;
    const sum = (property: 'activeClients' | 'activeConnections', list: Record<string, number>[]) =>
      list.reduce((total, each) => total + each[property]!, 0);
    expect(sum('activeConnections', after)).toBe(sum('activeConnections', data.integrators.data) - 1);
    expect(sum('activeClients', after)).toBe(sum('activeClients', data.integrators.data) - 1);
  });
});

describe('inductions', () => {
  it('lists those of all projects of the builder, by status and project', async () => {
    const [{ total, waiting }] = (await select<{ total: string; waiting: string }>(
      `select count(*) as total, count(*) filter (where status = 'WAITING_REVIEW') as waiting from induction where builder_id = ?`,
      [builderId],
    )) as [{ total: string; waiting: string }];
    const { data } = await operator.query(`{
      all: inductions(builderId: "${builderId}") { meta { totalCount } data { project { id } } }
      waiting: inductions(builderId: "${builderId}", status: WAITING_REVIEW) { meta { totalCount } data { status } }
      none: inductions(builderId: "${builderId}", projectId: "proj_none") { meta { totalCount } }
    }`);
    expect(data.all.meta.totalCount).toBe(Number(total));
    expect(new Set(data.all.data.map((row: { project: { id: string } }) => row.project.id)).size).toBeGreaterThan(1);
    expect(data.waiting.meta.totalCount).toBe(Number(waiting));
    expect(Number(waiting)).toBeGreaterThan(0);
    expect(data.none.meta.totalCount).toBe(0);
  });

  it('is 403 for a viewer who selects the workers', async () => {
    const result = await viewer.query(`{ inductions(builderId: "${builderId}") { data { worker { fullName } } } }`);
    expect(statusesOf(result)).toEqual([403]);
  });
});

/** Insurances of active subcontractors that have no end. */
const OPEN_ENDED = `select count(*) from insurance join subcontractor on subcontractor.id = subcontractor_id
  where insurance.builder_id = ? and expiry is null and archived_at is null`;

describe('timesheets of a builder', () => {
  it('of a cost code are listed, and the hours of charts are theirs', async () => {
    const [{ id, total, hours }] = (await select<{ id: string; total: string; hours: number }>(
      `select cost_code_id as id, count(*) as total, sum(hours) as hours from timesheet
        where builder_id = ? and cost_code_id is not null and date between '2025-06-01' and '2026-05-31' group by 1 order by 2 desc limit 1`,
      [builderId],
    )) as [{ id: string; total: string; hours: number }];
    const days = 'firstDay: "2025-06-01", lastDay: "2026-05-31", timeZone: "Australia/Sydney"';
    const of = `builderId: "${builderId}", costCodeId: "${id}", startDate: "2025-06-01", endDate: "2026-05-31"`;
    const { data } = await operator.query(`{
      builder(builderId: "${builderId}") { timesheets(costCodeId: "${id}", ${days}) { meta { totalCount } } }
      hoursByWeek(${of}) { hours }
      hoursByProject(${of}) { hours }
      hoursByCostCode(${of}) { hours costCode { id } }
    }`);
    expect(data.builder.timesheets.meta.totalCount).toBe(Number(total));
    expect(Number(total)).toBeGreaterThan(1);
    for (const figure of ['hoursByWeek', 'hoursByProject', 'hoursByCostCode']) {
      const sum = data[figure].reduce((all: number, row: { hours: number }) => all + row.hours, 0);
      expect([figure, sum.toFixed(4)]).toEqual([figure, Number(hours).toFixed(4)]);
    }
    expect(data.hoursByCostCode.map((row: { costCode: { id: string } }) => row.costCode.id)).toEqual([id]);
  });

  it('are none for a cost code of another builder', async () => {
    const other = service.findDemoClient('B').builderIds[0]!;
    const [{ id }] = (await select<{ id: string }>(
      'select cost_code_id as id from timesheet where builder_id = ? and cost_code_id is not null limit 1',
      [other],
    )) as [{ id: string }];
    const query = `{ builder(builderId: "${builderId}") { timesheets(costCodeId: "${id}") { meta { totalCount } data { id } } } }`;
    const { data } = await operator.query(query);
    expect(data.builder.timesheets).toEqual({ meta: { totalCount: 0 }, data: [] });
  });

  it('of the longest range of days are all, as insurances are', async () => {
    const days = 'firstDay: "0001-01-01", lastDay: "9999-12-31", timeZone: "America/New_York"';
    const lists = (args: string) =>
      `builder(builderId: "${builderId}") { timesheets${args && `(${args})`} { meta { totalCount } } }
        insurances(builderId: "${builderId}"${args && `, ${args}`}) { meta { totalCount } }`;
    const [ranged, all] = [await operator.query(`{ ${lists(days)} }`), await operator.query(`{ ${lists('')} }`)];
    expect(ranged.errors).toBeUndefined();
    expect(ranged.data.builder).toEqual(all.data.builder);
    expect(all.data.insurances.meta.totalCount - ranged.data.insurances.meta.totalCount).toBe(
      Number((await select<{ count: string }>(OPEN_ENDED, [builderId]))[0]!.count),
    );
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
