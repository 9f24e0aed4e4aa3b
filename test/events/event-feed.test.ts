import { createHash, randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readHead } from '../../src/domain/events/event-log.ts';
import { maintainPartitions } from '../../src/domain/events/retention.job.ts';
import { numberPendingEvents } from '../support/events.ts';
import { useService } from '../support/harness.ts';
import { createSamples } from '../support/samples.ts';

interface Page {
  data: { id: string; type: string; builderId: string; resource: { type: string; id: string; path: string | null } }[];
  meta: { nextCursor: string; hasMore: boolean };
}

const service = useService();
let client: pg.Client;
let token: string;
/** Builders of the client A, and one that is not connected to it. */
let ownBuilderIds: string[];
let foreignBuilderId: string;
let cursor: string;

const request = (query: string, bearer = token) => service.get(`/events?${query}`, bearer);

const read = async (query: string, bearer = token): Promise<Page> => {
  const response = await request(query, bearer);
  expect([response.statusCode, response.body]).toEqual([200, expect.anything()]);
  return response.json();
};

/** Changes one timesheet of the builder, and returns its id. */
const changeTimesheet = async (builderId: string): Promise<string> => {
  const { rows } = await client.query(
    `update timesheet set hours = hours + 1 where id = (select min(id) from timesheet where builder_id = $1) returning id`,
    [builderId],
  );
  return rows[0].id;
};

beforeAll(async () => {
  client = new pg.Client({ connectionString: service.databases.au1.url });
  await client.connect();
  token = await service.tokenOf('A');
  ownBuilderIds = service.findDemoClient('A').builderIds;
  const { rows } = await client.query(
    `select builder_id from timesheet where builder_id <> all($1) group by 1 order by 1 limit 1`,
    [ownBuilderIds],
  );
  foreignBuilderId = rows[0].builder_id;
});

afterAll(() => client?.end());

beforeEach(async () => {
  await numberPendingEvents(service.databases.au1);
  cursor = (await read('')).meta.nextCursor;
});

describe('GET /events, 200', () => {
  it('starts from now without `after`, and has a cursor on an empty page (EVT-10)', async () => {
    expect(await read('')).toEqual({ data: [], meta: { nextCursor: expect.any(String), hasMore: false } });
  });

  it('has the events after the cursor, without data of the record (EVT-1, EVT-4)', async () => {
    const id = await changeTimesheet(ownBuilderIds[0]!);
    await numberPendingEvents(service.databases.au1);
    const { data, meta } = await read(`after=${cursor}`);
    expect(data).toEqual([
      {
        id: expect.stringMatching(/^evt_[a-z0-9]+$/),
        type: 'timesheet.updated',
        occurredAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        builderId: ownBuilderIds[0],
        projectId: expect.stringMatching(/^proj_/),
        resource: { type: 'timesheet', id, path: `/timesheets/${id}` },
      },
    ]);
    expect(await read(`after=${meta.nextCursor}`)).toMatchObject({ data: [], meta: { hasMore: false } });
  });

  it('continues page by page, without a gap and without a repetition', async () => {
    await client.query('update timesheet set hours = hours where builder_id = $1', [ownBuilderIds[0]]);
    await numberPendingEvents(service.databases.au1);
    const seen: string[] = [];
    for (
      let page = await read(`after=${cursor}&limit=7`);
      ;
      page = await read(`after=${page.meta.nextCursor}&limit=7`)
    ) {
      seen.push(...page.data.map(({ resource }) => resource.id));
      if (!page.meta.hasMore) break;
    }
    const { rows } = await client.query('select id from timesheet where builder_id = $1', [ownBuilderIds[0]]);
    expect(seen.sort()).toEqual(rows.map(({ id }) => id).sort());
  });

  it('says that there is more until the page with the last event (EVT-9)', async () => {
    for (const each of [1, 2]) await changeTimesheet(ownBuilderIds[each % ownBuilderIds.length]!);
    await numberPendingEvents(service.databases.au1);
    expect((await read(`after=${cursor}&limit=1`)).meta.hasMore).toBe(true);
    expect(await read(`after=${cursor}&limit=2`)).toMatchObject({ data: [{}, {}], meta: { hasMore: false } });
  });

  it('skips what the token does not see, which does not count towards `limit` (EVT-7, EVT-8)', async () => {
    for (let count = 0; count < 3; count++) await changeTimesheet(foreignBuilderId);
    const id = await changeTimesheet(ownBuilderIds[0]!);
    await numberPendingEvents(service.databases.au1);
    const { data } = await read(`after=${cursor}&limit=1`);
    expect(data.map(({ resource }) => resource.id)).toEqual([id]);
    const unscoped = await read(`after=${cursor}`, await service.tokenOf('A', ['read:photos']));
    expect(unscoped.data).toEqual([]);
  });

  it('follows the current scopes of the connection, and its revocation', async () => {
    await changeTimesheet(ownBuilderIds[0]!);
    await numberPendingEvents(service.databases.au1);
    const where = [service.findDemoClient('A').clientId, ownBuilderIds[0]];
    const set = (column: string) =>
      client.query(
        `update connection set ${column} where builder_id = $2
           and integrator_id = (select integrator_id from oauth_client where id = $1)`,
        where,
      );
    const { rows } = await client.query('select scopes from connection where builder_id = $1 limit 1', [
      ownBuilderIds[0],
    ]);
    await set(`scopes = '{read:photos}'`);
    service.clock.advance(1_000);
    expect((await read(`after=${cursor}`)).data).toEqual([]);
    await set(`scopes = '{${rows[0].scopes.join()}}', status = 'REVOKED'`);
    service.clock.advance(1_000);
    expect((await read(`after=${cursor}`)).data).toEqual([]);
    await set(`status = 'ACTIVE'`);
    service.clock.advance(1_000);
    expect((await read(`after=${cursor}`)).data).toHaveLength(1);
  });

  it('is filtered by types and by builder', async () => {
    await changeTimesheet(ownBuilderIds[0]!);
    await numberPendingEvents(service.databases.au1);
    expect((await read(`after=${cursor}&types=timesheet.created&types[]=photo.updated`)).data).toEqual([]);
    expect((await read(`after=${cursor}&types=timesheet.updated&builderId=${ownBuilderIds[0]}`)).data).toHaveLength(1);
    if (ownBuilderIds[1]) expect((await read(`after=${cursor}&builderId=${ownBuilderIds[1]}`)).data).toEqual([]);
  });

  it('is the same page in GraphQL under `events`, to internal clients of every builder', async () => {
    const ids = [await changeTimesheet(ownBuilderIds[0]!), await changeTimesheet(foreignBuilderId)];
    await numberPendingEvents(service.databases.au1);
    const query = '{ events(after: "CURSOR") { data { type resource { id } } meta { nextCursor hasMore } } }';
    const ask = async (bearer: string) => {
      const payload = { query: query.replace('CURSOR', cursor) };
      const headers = { authorization: `Bearer ${bearer}` };
      return (await service.request({ method: 'POST', url: '/graphql', payload, headers })).json().data.events;
    };
    expect((await ask(token)).data.map((event: Page['data'][0]) => event.resource.id)).toEqual([ids[0]]);
    const all = await ask(await service.tokenOf('internal'));
    expect(all.data.map((event: Page['data'][0]) => event.resource.id)).toEqual(ids);
    expect((await service.get('/events', await service.tokenOf('internal'))).statusCode).toBe(403);
  });
});

describe('GET /events just after a connection has changed, 200', () => {
  const setConnection = (values: string) =>
    client.query(
      `update connection set ${values} where builder_id = $2
         and integrator_id = (select integrator_id from oauth_client where id = $1)`,
      [service.findDemoClient('A').clientId, ownBuilderIds[0]],
    );

  /** Changes the connection and then a timesheet after the caller was cached with the connection before. Returns the timesheet's id. */
  async function changeAfter(values: string): Promise<string> {
    await setConnection(values);
    const id = await changeTimesheet(ownBuilderIds[0]!);
    await numberPendingEvents(service.databases.au1);
    return id;
  }

  const cases = [
    ['a builder was connected', `status = 'REVOKED'`, `status = 'ACTIVE'`],
    ['a connection allows a scope more', `scopes = '{read:photos}'`, `scopes = scopes || '{read:timesheets}'`],
  ] as const;

  let scopes: string[];
  beforeEach(async () => {
    const sql = 'select scopes from connection where builder_id = $1 limit 1';
    scopes = (await client.query(sql, [ownBuilderIds[0]])).rows[0].scopes;
  });
  afterEach(async () => {
    await setConnection(`status = 'ACTIVE', scopes = '{${scopes.join()}}'`);
    service.clock.advance(1_000);
  });

  it.each(cases)('has the first events after %s (EVT-7)', async (_title, before, after) => {
    await setConnection(before);
    service.clock.advance(1_000);
    await read(`after=${cursor}`);
    const id = await changeAfter(after);
    const { data, meta } = await read(`after=${cursor}`);
    expect(data.map(({ resource }) => resource.id)).toEqual([id]);
    expect((await read(`after=${meta.nextCursor}`)).data).toEqual([]);
  });

  it.each(cases)('has the first events after %s while the request waits (EVT-7)', async (_title, before, after) => {
    await setConnection(before);
    service.clock.advance(1_000);
    await read(`after=${cursor}`);
    const { promise: isWaiting, resolve } = Promise.withResolvers<void>();
    const { runner } = service.databases.au1;
    const original = runner.run.bind(runner);
    runner.run = async (statement, values) => {
      const rows = await original(statement, values);
      if (statement.name === 'access.facts') resolve();
      return rows;
    };
    const waiting = read(`after=${cursor}&wait=20`);
    await Promise.race([isWaiting, waiting]).finally(() => {
      runner.run = original;
    });
    const id = await changeAfter(after);
    expect((await waiting).data.map(({ resource }) => resource.id)).toEqual([id]);
  });

  it('loads the caller again only for a page that passes over events', async () => {
    await changeTimesheet(ownBuilderIds[0]!);
    await numberPendingEvents(service.databases.au1);
    await read('');
    const names: string[] = [];
    const end = service.databases.au1.runner.onStatement(({ name }) => names.push(name));
    const { meta } = await read(`after=${cursor}`);
    await read(`after=${meta.nextCursor}`);
    expect(names.filter((name) => name === 'access.facts')).toEqual([]);
    await changeTimesheet(foreignBuilderId);
    await numberPendingEvents(service.databases.au1);
    await read(`after=${meta.nextCursor}`);
    end();
    expect(names.filter((name) => name === 'access.facts')).toHaveLength(1);
  });
});

describe('a page that passes over many events', () => {
  it('reads those after the first few apart from other reads, once its share may (LIM-19)', async () => {
    const head = await readHead(service.databases.au1);
    await client.query(
      `insert into event (day, number, id, type, record_id, builder_id, occurred_at)
      select $1::date, $2 + n, 'evt_m' || n, 'defect.updated', 'defect_x', $3, now() from generate_series(1, 300) n`,
      [head.day, head.number, foreignBuilderId],
    );
    await client.query('update event_log set last_number = last_number + 300');
    const [others, slow]: string[][] = [[], []];
    const { runner, slowRunner } = service.databases.au1;
    const ends = [
      runner.onStatement(({ name }) => others!.push(name)),
      slowRunner.onStatement(({ name }) => slow!.push(name)),
    ];
    const field = `events(after: "${cursor}", limit: 1) { data { id } }`;
    const { data } = await service.graphql(token, `{ a: ${field} b: ${field} }`);
    for (const end of ends) end();
    expect(data).toEqual({ a: { data: [] }, b: { data: [] } });
    expect(others!.filter((name) => name === 'events.page')).toHaveLength(2);
    expect(slow!.filter((name) => name === 'events.page')).toHaveLength(2);
  });

  it('costs 5,000 in GraphQL (LIM-15)', async () => {
    expect(await service.graphql(token, '{ events(limit: 1) { data { id } } }')).toMatchObject({
      extensions: { cost: 5_001 },
    });
  });
});

describe('GET /events, 400', () => {
  it.each([
    ['after=x', 'after'],
    ['after=', 'after'],
    ['types=timesheet.read', 'types'],
    ['limit=101', 'limit'],
    ['wait=21', 'wait'],
    ['builderId=x', 'builderId'],
  ])('names the field of %s', async (query, field) => {
    const response = await request(query);
    expect([response.statusCode, response.json().errors?.[0].fieldName]).toEqual([400, field]);
  });

  it('names `after` for a cursor that was changed, or is of the other region (EVT-10)', async () => {
    const changed = `${cursor.slice(0, 12)}${cursor[12] === 'A' ? 'B' : 'A'}${cursor.slice(13)}`;
    for (const response of [
      await request(`after=${changed}`),
      await service.get(`/events?after=${cursor}`, await service.tokenOf('us1'), { 'x-service-region-id': 'us1' }),
    ]) {
      expect([response.statusCode, response.json().errors[0].fieldName]).toEqual([400, 'after']);
    }
  });
});

describe('a log that was not restored with the rest', () => {
  it('continues after the positions of the webhook endpoints (EVT-12)', async () => {
    await createSamples(service.databases.au1, ownBuilderIds[0]!);
    await client.query('update webhook_progress set number = 5000000');
    await client.query('delete from event_log; delete from event; delete from event_pending');
    expect((await readHead(service.databases.au1)).number).toBe(5_000_000);
    ({
      meta: { nextCursor: cursor },
    } = await read(''));
  });
});

describe('GET /events with a made-up cursor whose checksum is right', () => {
  it('is 400 whatever its bytes decrypt to (EVT-10)', async () => {
    const epoch = Buffer.from(cursor, 'base64url').subarray(0, 6);
    for (let attempt = 0; attempt < 20; attempt++) {
      const content = Buffer.concat([epoch, randomBytes(16)]);
      const checksum = createHash('sha256').update('events au1 ').update(content).digest().subarray(0, 4);
      const response = await request(`after=${Buffer.concat([content, checksum]).toString('base64url')}`);
      expect([response.statusCode, response.json().errors?.[0].fieldName]).toEqual([400, 'after']);
    }
  });
});

describe('GET /events, 403 and 404', () => {
  it('are those of the builder that `builderId` names (EVT-8)', async () => {
    expect((await request(`builderId=${foreignBuilderId}`)).statusCode).toBe(403);
    expect((await request('builderId=buil_none')).statusCode).toBe(404);
  });
});

describe('GET /events, waiting', () => {
  it('responds as soon as an event is seen, and without one after the time (EVT-13)', async () => {
    const waiting = read(`after=${cursor}&wait=20`);
    await changeTimesheet(foreignBuilderId);
    await numberPendingEvents(service.databases.au1);
    const id = await changeTimesheet(ownBuilderIds[0]!);
    await numberPendingEvents(service.databases.au1);
    const page = await waiting;
    expect(page.data.map(({ resource }) => resource.id)).toEqual([id]);
    expect(await read(`after=${page.meta.nextCursor}&wait=1`)).toMatchObject({ data: [], meta: { hasMore: false } });
  });

  it('ends with 401 when the token is revoked, and with 403 when the connection is (EVT-14)', async () => {
    const revoked = await service.tokenOf('A');
    const first = request(`after=${cursor}&wait=20`, revoked);
    const { jti } = JSON.parse(Buffer.from(revoked.split('.')[1]!, 'base64url').toString());
    await client.query(`insert into oauth_revoked_token (jti, expires_at) values ($1, now() + interval '1 year')`, [
      jti,
    ]);
    service.clock.advance(1_000);
    expect((await first).statusCode).toBe(401);
    // The caller is loaded when the request arrives, and when it begins to wait.
    let loads = 0;
    let removeListener = () => {};
    const isWaiting = new Promise<void>((begin) => {
      removeListener = service.databases.au1.onStatement(({ name }) => {
        if (name === 'access.facts' && ++loads === 2) begin();
      });
    });
    const second = request(`after=${cursor}&wait=20&builderId=${ownBuilderIds[0]}`);
    await isWaiting;
    removeListener();
    const set = (status: string) =>
      client.query(`update connection set status = $1 where builder_id = $2`, [status, ownBuilderIds[0]]);
    await set('REVOKED');
    service.clock.advance(1_000);
    expect((await second).statusCode).toBe(403);
    await set('ACTIVE');
    service.clock.advance(1_000);
  });

  it('is for REST only', async () => {
    const payload = { query: '{ events(wait: 1) { data { id } } }' };
    const response = await service.request({
      method: 'POST',
      url: '/graphql',
      payload,
      headers: { authorization: `Bearer ${token}` },
    });
    expect(response.json().errors[0].extensions.errors[0].fieldName).toBe('wait');
  });

  it('ends with an empty page when the instance stops (EVT-14)', async () => {
    const other = await service.startInstance();
    const waiting = other.inject({
      url: `/events?after=${cursor}&wait=20`,
      headers: { authorization: `Bearer ${token}` },
    });
    await new Promise((resolve) => setImmediate(resolve));
    await Promise.all([other.close(), waiting]);
    expect((await waiting).json()).toMatchObject({ data: [], meta: { hasMore: false } });
  });
});

describe('GET /events, 410', () => {
  const expired = async (query: string) => {
    const response = await request(query);
    expect([response.statusCode, response.json().code]).toEqual([410, 'CURSOR_EXPIRED']);
  };

  it('is for a cursor whose following events were dropped (EVT-11)', async () => {
    await changeTimesheet(ownBuilderIds[0]!);
    await numberPendingEvents(service.databases.au1);
    const last = (await read('')).meta.nextCursor;
    await maintainPartitions(service.databases.au1, Date.now() + 40 * 86_400_000);
    await expired(`after=${cursor}`);
    expect((await read(`after=${last}`)).data).toEqual([]);
  });

  it('is for a cursor of another epoch (EVT-12)', async () => {
    const before = await readHead(service.databases.au1);
    await client.query('select renew_event_epoch()');
    expect((await readHead(service.databases.au1)).epoch).not.toBe(before.epoch);
    await expired(`after=${cursor}`);
  });
});
