import { beforeAll, describe, expect, it } from 'vitest';
import { type FailedRequest, RequestLog } from '../../../src/domain/request-log/request-log.ts';
import { addStaff, type ConsoleBrowser, signInToConsole } from '../../support/console.ts';
import { useService } from '../../support/harness.ts';

const service = useService();
let viewer: ConsoleBrowser;
let integratorId: string;
let clientId: string;

beforeAll(async () => {
  await addStaff(service, 'VIEWER');
  viewer = await signInToConsole(service.app, 'user.viewer@operator.example');
  ({ clientId } = service.findDemoClient('A'));
  [{ integrator_id: integratorId }] = (await service.databases.au1
    .fork()
    .execute('select integrator_id from oauth_client where id = ?', [clientId])) as [{ integrator_id: string }];
});

const USAGE = `query($integratorId: ID) {
  usageByDay(integratorId: $integratorId, since: "2026-06-01", until: "2026-06-02") { date requests rejections failures } }`;

describe('usage', () => {
  it('is added up by day and by integrator, exactly (CON-10)', async () => {
    const sql = (text: string) => service.databases.au1.fork().execute(text);
    const dates = `unnest('{2026-05-31,2026-06-01,2026-06-02}'::date[]) date`;
    await sql(`insert into usage_day (date, integrator_id, client_id, operation, requests, rejections, failures)
      select date, id, '${clientId}', operation, 100, 20, 3
      from (select id from integrator order by id limit 3) chosen, ${dates}, unnest('{GET /a,GET /b}'::text[]) operation`);
    const range = 'since: "2026-06-01", until: "2026-06-02"';
    const sums = 'requests rejections failures';
    const { data } = await viewer.query(
      `{ usageByDay(${range}) { date ${sums} } integrators(limit: 200) { data { id usage(${range}) { ${sums} } } } }`,
    );
    type Row = Record<'date' | 'integratorId', string> & Record<'requests' | 'rejections' | 'failures', number>;
    const rows: Row[] = [];
    for (const { id } of data.integrators.data) {
      const { usageByDay } = (await viewer.query(USAGE, { integratorId: id })).data;
      rows.push(...usageByDay.map((row: Row) => ({ ...row, integratorId: id })));
    }
    const add = (chosen: Row[]) =>
      Object.fromEntries(
        (['requests', 'rejections', 'failures'] as const).map((name) => [
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

  it('rejects more than 400 days', async () => {
    const range = '(since: "2020-01-01", until: "2026-06-02") { requests }';
    for (const query of [`{ usageByDay${range} }`, `{ integrators { data { usage${range} } } }`]) {
      const { errors } = await viewer.query(query);
      expect(errors![0]!.extensions, query).toMatchObject({ errors: [{ fieldName: 'until' }] });
    }
  });
});

describe('the failed requests of an integrator', () => {
  it('are those that it reads itself, with its name and its client, and are found by their id (CON-11)', async () => {
    const log = new RequestLog(service.databases, service.clock, (error) => {
      throw error;
    });
    const failed: FailedRequest = {
      requestId: 'r-1',
      method: 'GET',
      path: '/builders',
      graphqlOperation: null,
      tool: null,
      status: 400,
      code: 'BAD_USER_INPUT',
      message: null,
      errors: [{ fieldName: 'limit', message: 'must be an integer from 1 to 25' }],
      builderId: null,
      durationMs: 4,
    };
    log.add('au1', { integratorId, clientId, operation: 'GET /builders' }, failed);
    log.add('au1', { integratorId, clientId, operation: 'GET /builders' }, { ...failed, requestId: 'r-2' });
    await log.close();
    const fields = 'requestId path status errors { fieldName message } integratorId integrator { id } client { id }';
    const read = async (filter: string) =>
      (await viewer.query(`{ requestLog(${filter}) { ${fields} } }`)).data.requestLog;
    const expected = { path: '/builders', status: 400, errors: failed.errors, integratorId, client: { id: clientId } };
    expect(await read('requestId: "r-1"')).toEqual([
      { ...expected, requestId: 'r-1', integrator: { id: integratorId } },
    ]);
    expect(await read(`integratorId: "${integratorId}", code: "BAD_USER_INPUT", limit: 1`)).toHaveLength(1);
    expect(await read('integratorId: "intg_other"')).toEqual([]);
    const today = new Date(service.clock.now()).toISOString().slice(0, 10);
    const ofDay = (day: string) => read(`integratorId: "${integratorId}", day: "${day}"`);
    expect((await ofDay(today)).map(({ requestId }: { requestId: string }) => requestId).sort()).toEqual([
      'r-1',
      'r-2',
    ]);
    expect(await ofDay('2020-01-01')).toEqual([]);
  });
});
