import { beforeAll, describe, expect, it } from 'vitest';
import { KEPT_REJECTIONS, RequestLog } from '../../../src/domain/request-log/request-log.ts';
import { addStaff, type ConsoleBrowser, signInToConsole } from '../../support/console.ts';
import { useService } from '../../support/harness.ts';

const service = useService();
let viewer: ConsoleBrowser;
let integratorId: string;
let clientId: string;

beforeAll(async () => {
  await addStaff(service, 'VIEWER');
  await signIn();
  ({ clientId } = service.findDemoClient('A'));
  [{ integrator_id: integratorId }] = (await service.databases.au1
    .fork()
    .execute('select integrator_id from oauth_client where id = ?', [clientId])) as [{ integrator_id: string }];
});

const USAGE = `query($integratorId: ID) {
  usageByDay(integratorId: $integratorId, since: "2026-06-01", until: "2026-06-02") { date requests errors rejections } }`;
const REJECTIONS = '{ rejections { at clientId operation status code reason requestId } }';

const signIn = async () => {
  viewer = await signInToConsole(service.app, 'user.viewer@operator.example');
};

const createLog = (clock = service.clock) =>
  new RequestLog(service.databases, clock, (error) => {
    throw error;
  });

describe('usage', () => {
  it('counts requests and rejections of each integrator, with the reasons in words, which quote no text (CON-5, CON-10)', async () => {
    // A separate instance, because closing it writes its counts.
    const app = await service.startInstance();
    const token = await service.tokenOf('A', ['read:builders']);
    const request = (url: string, headers = {}) =>
      app.inject({ url, headers: { authorization: `Bearer ${token}`, ...headers } });
    expect((await request('/builders')).statusCode).toBe(200);
    expect(
      (await request(`/builders/${service.findDemoClient('A').builderIds[0]}/projects`, { 'x-request-id': 'r-1' }))
        .statusCode,
    ).toBe(403);
    const builderId = service.findDemoClient('A').builderIds[0]!;
    const graphql = { query: `query Photos { photos(builderId: "${builderId}") { data { id } } }` };
    const headers = { authorization: `Bearer ${token}` };
    const failed = await app.inject({ method: 'POST', url: '/graphql', headers, payload: graphql });
    expect(failed.json().errors).toHaveLength(1);
    const unparsable = { query: `{ meetings(title: "Weekly" "Kim Tran broke a leg") { data { id } } }` };
    const rejected = await app.inject({ method: 'POST', url: '/graphql', headers, payload: unparsable });
    expect(rejected.json().errors[0].message).toContain('Kim Tran');
    expect((await request('/builders?limit=0')).statusCode).toBe(400);
    expect((await app.inject({ url: '/builders' })).statusCode).toBe(401);
    await app.close();
    const { data } = await viewer.query(USAGE, { integratorId });
    expect(data.usageByDay).toEqual([{ date: '2026-06-01', requests: 5, errors: 0, rejections: 4 }]);
    const { rejections } = (await viewer.query(REJECTIONS)).data;
    expect(rejections).toMatchObject([
      { operation: 'GET /builders', status: 400, code: 'BAD_USER_INPUT', reason: expect.stringMatching(/^limit: /) },
      { operation: 'POST /graphql', code: 'GRAPHQL_PARSE_FAILED', reason: 'The document has a syntax error.' },
      { operation: 'graphql Photos', status: 403, code: 'INSUFFICIENT_SCOPE', reason: 'scope missing: read:photos' },
      {
        operation: expect.stringMatching(/^GET .*projects$/),
        status: 403,
        reason: 'scope missing: read:projects',
        requestId: 'r-1',
        clientId,
      },
    ]);
  });

  it('adds the counts of several processes exactly (CON-10)', async () => {
    service.clock.advance(86_400_000);
    await signIn();
    const logs = [createLog(), createLog(), createLog()];
    for (const [index, log] of logs.entries()) {
      for (let request = 0; request < 10 * (index + 1); request++)
        log.add('au1', integratorId, request % 5 === 0, null);
    }
    await Promise.all(logs.map((log) => log.write()));
    await Promise.all(logs.map((log) => log.close()));
    const { usageByDay } = (await viewer.query(USAGE, { integratorId })).data;
    expect(usageByDay[1]).toEqual({ date: '2026-06-02', requests: 60, errors: 12, rejections: 0 });
  });

  it('is added up by day and by integrator, exactly (CON-10)', async () => {
    const sql = (text: string) => service.databases.au1.fork().execute(text);
    const others = `(select id from integrator where id <> '${integratorId}' order by id limit 2)`;
    await sql(`insert into usage_day (date, integrator_id, requests, errors, rejections)
      select date, id, 100, 20, 3 from ${others} integrator, unnest('{2026-05-31,2026-06-01,2026-06-02}'::date[]) date`);
    const range = 'since: "2026-06-01", until: "2026-06-02"';
    const sums = 'requests errors rejections';
    const { data } = await viewer.query(
      `{ usageByDay(${range}) { date ${sums} } integrators(limit: 200) { data { id usage(${range}) { ${sums} } } } }`,
    );
    type Row = Record<'date' | 'integratorId', string> & Record<'requests' | 'errors' | 'rejections', number>;
    const rows: Row[] = [];
    for (const { id } of data.integrators.data) {
      const { usageByDay } = (await viewer.query(USAGE, { integratorId: id })).data;
      rows.push(...usageByDay.map((row: Row) => ({ ...row, integratorId: id })));
    }
    await sql(`delete from usage_day where integrator_id in ${others}`);
    const add = (chosen: Row[]) =>
      Object.fromEntries(
        (['requests', 'errors', 'rejections'] as const).map((name) => [
          name,
          chosen.reduce((sum, row) => sum + row[name], 0),
        ]),
      );
    expect(rows).toHaveLength(6);
    expect(data.usageByDay).toEqual(
      ['2026-06-01', '2026-06-02'].map((date) => ({ date, ...add(rows.filter((row) => row.date === date)) })),
    );
    expect(data.integrators.data.length).toBeGreaterThan(2);
    for (const { id, usage } of data.integrators.data)
      expect(usage, id).toEqual(add(rows.filter((row) => row.integratorId === id)));
  });

  it('keeps the latest rejections of an integrator (CON-11)', async () => {
    const log = createLog();
    const rejection = { clientId, operation: 'GET /x', status: 404, code: 'NOT_FOUND', requestId: 'r' };
    for (let number = 1; number <= KEPT_REJECTIONS + 30; number++) {
      log.add('au1', integratorId, false, { ...rejection, reason: `number ${number}` });
      if (number % 10 === 0) await log.write();
    }
    await log.close();
    const [{ count }] = (await service.databases.au1.fork().execute('select count(*) from rejection')) as [
      { count: string },
    ];
    expect(Number(count)).toBe(KEPT_REJECTIONS);
    expect((await viewer.query('{ rejections(limit: 1) { reason } }')).data.rejections).toEqual([
      { reason: `number ${KEPT_REJECTIONS + 30}` },
    ]);
  });

  it('keeps the rejections of a failed write for the next one, and counts those it drops (CON-11)', async () => {
    const run = (text: string) => service.databases.au1.fork().execute(text);
    await run('delete from rejection');
    await run(`select setval('rejection_id_seq', 5000000000)`);
    const failures: unknown[] = [];
    const log = new RequestLog(service.databases, service.clock, (error) => failures.push(error));
    const add = (reason: string) =>
      log.add('au1', integratorId, false, {
        ...{ clientId, operation: 'GET /x', status: 404, code: 'NOT_FOUND', requestId: 'r', reason },
      });
    for (let number = 1; number <= 40; number++) add(`number ${number}`);
    await run('alter table rejection rename to rejection_away');
    await log.write();
    expect(failures).toHaveLength(1);
    expect(log.droppedRejections).toBe(0);
    for (let number = 41; number <= 53; number++) add(`number ${number}`);
    await run('alter table rejection_away rename to rejection');
    await log.close();
    expect(failures).toHaveLength(1);
    expect(log.droppedRejections).toBe(3);
    const rows = (await run('select reason from rejection order by id')) as { reason: string }[];
    expect(rows.map(({ reason }) => reason)).toEqual(Array.from({ length: 50 }, (_, index) => `number ${index + 4}`));
  });

  it('writes what repeats any input of a request, and passes over a client that is deleted (CON-11)', async () => {
    await service.databases.au1.fork().execute('delete from rejection');
    const log = createLog();
    const rejection = { clientId, operation: 'GET /x', status: 400, code: 'BAD_USER_INPUT', requestId: 'r' };
    log.add('au1', integratorId, false, { ...rejection, reason: `a\0b \ud800 ${'😀'.repeat(200)}` });
    log.add('au1', integratorId, false, { ...rejection, reason: 'of nobody', clientId: 'cli_deleted' });
    log.add('au1', 'intg_deleted', false, { ...rejection, reason: 'of nobody', clientId: 'cli_deleted' });
    await log.close();
    const { rejections } = (await viewer.query('{ rejections { reason } }')).data;
    expect(rejections).toEqual([{ reason: expect.stringMatching(/^ab \ufffd (?:😀)+\ufffd?$/u) }]);
  });

  it('rejects more than 400 days', async () => {
    const range = '(since: "2020-01-01", until: "2026-06-02") { requests }';
    for (const query of [`{ usageByDay${range} }`, `{ integrators { data { usage${range} } } }`]) {
      const { errors } = await viewer.query(query);
      expect(errors![0]!.extensions, query).toMatchObject({ errors: [{ fieldName: 'until' }] });
    }
  });
});
