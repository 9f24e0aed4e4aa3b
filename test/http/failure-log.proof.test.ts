import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Service, startService } from '../support/harness.ts';

interface Line {
  level: number;
  msg: string;
  requestId?: string;
  operationName?: string | null;
  status?: number;
  err?: { message: string };
}

const ERROR = 50;
const QUERY = 'query Waiting($b: BuilderId!) { timesheets(builderId: $b) { data { id } } }';

let service: Service;
let token: string;
let builderId: string;
const loggedLines: string[] = [];

/** Captures the output of the log. The logger resolves its stream when it is created. */
beforeAll(async () => {
  vi.spyOn(process.stdout, 'write').mockImplementation((data) => {
    loggedLines.push(String(data));
    return true;
  });
  service = await startService({ LOG_LEVEL: 'error' });
  token = await service.tokenOf('A');
  builderId = service.findDemoClient('A').builderIds[0]!;
});

afterAll(async () => {
  vi.restoreAllMocks();
  await service.stop();
});

const linesOf = (requestId: string): Line[] =>
  loggedLines
    .join('')
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line)
    .filter((line) => line.requestId === requestId);

const headersFor = (requestId: string) => ({ authorization: `Bearer ${token}`, 'x-request-id': requestId });

const sendRest = (requestId: string) =>
  service.request({ url: '/timesheets', headers: { ...headersFor(requestId), 'x-service-builder-id': builderId } });

const sendGraphql = (requestId: string, query = QUERY) =>
  service.request({
    method: 'POST',
    url: '/graphql',
    headers: headersFor(requestId),
    payload: { query, variables: { b: builderId } },
  });

/** Calls the function while reads of timesheets fail. */
async function whileBroken(status: 500 | 503, work: () => Promise<void>): Promise<void> {
  const em = service.databases.au1.fork();
  if (status === 500) {
    await em.execute('alter table timesheet rename to timesheet_away');
    await work().finally(() => em.execute('alter table timesheet_away rename to timesheet'));
    return;
  }
  await em.transactional(async (holder) => {
    await holder.execute('lock table timesheet in access exclusive mode');
    await work();
  });
}

describe.each([500, 503] as const)('a response of status %i', (status) => {
  it('has error lines with the request id in REST: its cause, and the request (ERR-22, HDR-14)', async () => {
    await whileBroken(status, async () => {
      expect((await sendRest(`rest-${status}`)).statusCode).toBe(status);
    });
    const lines = linesOf(`rest-${status}`);
    expect(lines.every(({ level }) => level === ERROR)).toBe(true);
    expect(lines.map(({ msg }) => msg)).toContain('request failed');
    expect(lines.find((line) => line.status !== undefined)?.status).toBe(status);
    expect(lines.find(({ err }) => err)?.err?.message).toMatch(/timesheet|lock/);
  });

  it('has an error line with the request id and the operation name in GraphQL (ERR-22)', async () => {
    await whileBroken(status, async () => {
      const { errors } = (await sendGraphql(`graphql-${status}`)).json();
      expect(errors[0].extensions.http.status).toBe(status);
    });
    const lines = linesOf(`graphql-${status}`);
    expect(lines).toMatchObject([{ level: ERROR, operationName: 'Waiting' }]);
    expect(lines[0]!.err!.message).toMatch(/timesheet|lock/);
  });
});

describe('a response of status 500 for a row that the database rejects', () => {
  it('has error lines without the values of the row', async () => {
    await service.databases.au1
      .fork()
      .execute(`alter table meeting add constraint no_title check (title = '') not valid`);
    const response = await service.request({
      method: 'POST',
      url: `/builders/${builderId}/meetings`,
      headers: headersFor('rest-row'),
      payload: { title: 'Injury of\nPriya Nair' },
    });
    expect(response.statusCode).toBe(500);
    expect(linesOf('rest-row').map(({ err }) => err?.message)).toContainEqual(expect.stringContaining('no_title'));
    expect(loggedLines.join('')).not.toContain('Priya Nair');
  });
});

describe('a GraphQL response of HTTP status 503', () => {
  it('has error lines with the request id when the service cannot check the token', async () => {
    await service.databases.au1.fork().transactional(async (holder) => {
      await holder.execute('lock table oauth_client in access exclusive mode');
      // A cached caller is loaded again after half a second.
      service.clock.advance(1_000);
      expect((await sendGraphql('graphql-unread')).statusCode).toBe(503);
    });
    const lines = linesOf('graphql-unread');
    expect(lines.map(({ msg }) => msg)).toContain('request failed');
    expect(lines.every(({ level }) => level === ERROR)).toBe(true);
  });
});

describe('a response below 500', () => {
  it('has no error line', async () => {
    expect((await sendGraphql('graphql-200')).statusCode).toBe(200);
    expect((await sendGraphql('graphql-400', '{ nothing }')).statusCode).toBe(400);
    expect((await service.request({ url: '/me', headers: { 'x-request-id': 'rest-401' } })).statusCode).toBe(401);
    for (const id of ['graphql-200', 'graphql-400', 'rest-401']) expect(linesOf(id)).toEqual([]);
  });
});
