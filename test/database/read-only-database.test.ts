import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { blocks, page, request } from '../photo-reports/documents.ts';
import { aSignOn, createGateFixture, sendEvent } from '../support/attendance.ts';
import { type Service, startService } from '../support/harness.ts';

let service: Service;
let admin: pg.Client;
let builderId: string;

beforeAll(async () => {
  service = await startService({ RATE_LIMIT_API: '40/10', RATE_LIMIT_SYNC: '40/10', RATE_LIMIT_TOKEN: '40/10' });
  builderId = service.findDemoClient('A').builderIds[0]!;
  admin = new pg.Client({ connectionString: service.databases.au1.url });
  await admin.connect();
});

afterAll(async () => {
  await admin.end();
  await service.stop();
});

/** Makes the database read-only or writable and terminates open sessions, as a change of the primary does. */
async function setReadOnly(value: 'on' | 'off'): Promise<void> {
  const { rows } = await admin.query('select current_database() as name');
  await admin.query(`set default_transaction_read_only = off`);
  await admin.query(`alter database "${rows[0].name}" set default_transaction_read_only = ${value}`);
  await admin.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );
}

beforeEach(async () => {
  service.clock.advance(60_000);
  await setReadOnly('on');
});
afterEach(() => setReadOnly('off'));

const token = () => service.tokenOf('A');
const readReadiness = async () => {
  const answer = await service.request({ url: '/health/ready' });
  return [answer.statusCode, answer.json()];
};

async function requestToken() {
  const { clientId, clientSecret } = service.findDemoClient('A');
  const payload = {
    ...{ grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret },
    ...{ audience: 'http://localhost:4000', scope: 'read:builders' },
  };
  return service.request({ method: 'POST', url: '/oauth/token', payload });
}

describe('while a region is read-only', () => {
  it('reads are 200, in REST and in GraphQL', async () => {
    const headers = { 'x-service-builder-id': builderId };
    for (const path of ['/builders', '/timesheets', '/subcontractors', `/builders/${builderId}/photos`, '/me']) {
      expect((await service.get(path, await token(), headers)).statusCode, path).toBe(200);
    }
    expect(await service.graphql(await token(), '{ builders { data { id } } }')).not.toHaveProperty('errors');
  });

  it('tokens are given for client credentials, and work', async () => {
    const answer = await requestToken();
    expect(answer.statusCode).toBe(200);
    expect((await service.get('/builders', answer.json().access_token)).statusCode).toBe(200);
  });

  it('each process has the whole budget of a limit, and no more', async () => {
    const bearer = await token();
    const other = await service.startInstance();
    const headers = { authorization: `Bearer ${bearer}` };
    for (const app of [service.app, other]) {
      const statuses: number[] = [];
      for (let call = 0; call < 41; call++) statuses.push((await app.inject({ url: '/builders', headers })).statusCode);
      expect(statuses).toEqual([...Array.from({ length: 40 }, () => 200), 429]);
    }
  });

  it('writes are 503 with Retry-After (ERR-19)', async () => {
    const headers = { authorization: `Bearer ${await token()}` };
    const writes = {
      '/meetings': { title: 'Weekly' },
      '/photo-folders': { name: 'North', projectId: createGateFixture().projectId },
      '/photo-reports/sync': request({ page: page([blocks.text('a')]) }),
    };
    for (const [path, payload] of Object.entries(writes)) {
      const answer = await service.request({ method: 'POST', url: `/builders/${builderId}${path}`, headers, payload });
      expect([answer.statusCode, answer.json().code, answer.headers['retry-after']], path).toEqual([
        503,
        'UNAVAILABLE',
        '1',
      ]);
    }
    const gateToken = await service.tokenOf(
      service.findDemoClient('A').builderIds.includes(createGateFixture().builderId) ? 'A' : 'C',
    );
    expect(await sendEvent(service.app, gateToken, aSignOn(createGateFixture().workers.active[0]!))).toMatchObject({
      status: 503,
    });
  });

  it('readiness is 200 and says which region takes no writes', async () => {
    expect(await readReadiness()).toEqual([200, { status: 'read-only', regions: { au1: 'read-only', us1: 'ok' } }]);
  });
});

describe('once a region takes writes again', () => {
  beforeEach(() => setReadOnly('off'));

  it('writes succeed, and readiness says so', async () => {
    const headers = { authorization: `Bearer ${await token()}` };
    const meeting = {
      method: 'POST',
      url: `/builders/${builderId}/meetings`,
      headers,
      payload: { title: 'W' },
    } as const;
    expect((await service.request(meeting)).statusCode).toBe(201);
    expect(await readReadiness()).toEqual([200, { status: 'ok', regions: { au1: 'ok', us1: 'ok' } }]);
  });

  it('instances share a budget again', async () => {
    const headers = { authorization: `Bearer ${await token()}` };
    const other = await service.startInstance();
    const answers = [];
    for (let call = 0; call < 60; call++) {
      answers.push((await [service.app, other][call % 2]!.inject({ url: '/builders', headers })).statusCode);
    }
    expect(answers.filter((status) => status === 200)).toHaveLength(40);
  });
});
