import { createHash, randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { numberEvents, readHead } from '../../src/domain/events/event-log.ts';
import { maintainPartitions } from '../../src/domain/events/retention.job.ts';
import { type Service, startService } from '../support/harness.ts';
import { samplesOf } from '../support/samples.ts';

interface Page {
  data: { id: string; type: string; builderId: string; resource: { type: string; id: string; path: string | null } }[];
  meta: { nextCursor: string; hasMore: boolean };
}

let service: Service;
let client: pg.Client;
let token: string;
/** Builders of the client A, and one that is not connected to it. */
let own: string[];
let foreign: string;
let cursor: string;

const number = async () => {
  while ((await numberEvents(service.databases.au1))! > 0);
};

const request = (query: string, bearer = token) => service.get(`/events?${query}`, bearer);

const read = async (query: string, bearer = token): Promise<Page> => {
  const response = await request(query, bearer);
  expect([response.statusCode, response.body]).toEqual([200, expect.anything()]);
  return response.json();
};

/** Changes one timesheet of the builder, and returns its id. */
const change = async (builderId: string): Promise<string> => {
  const { rows } = await client.query(
    `update timesheet set hours = hours + 1 where id = (select min(id) from timesheet where builder_id = $1) returning id`,
    [builderId],
  );
  return rows[0].id;
};

beforeAll(async () => {
  service = await startService();
  client = new pg.Client({ connectionString: service.databases.au1.url });
  await client.connect();
  token = await service.as('A');
  own = service.demo('A').builderIds;
  const { rows } = await client.query(
    `select builder_id from timesheet where builder_id <> all($1) group by 1 order by 1 limit 1`,
    [own],
  );
  foreign = rows[0].builder_id;
});

afterAll(async () => {
  await client?.end();
  await service?.stop();
});

beforeEach(async () => {
  await number();
  cursor = (await read('')).meta.nextCursor;
});

describe('GET /events, 200', () => {
  it('starts from now without `after`, and has a cursor on an empty page (EVT-10)', async () => {
    expect(await read('')).toEqual({ data: [], meta: { nextCursor: expect.any(String), hasMore: false } });
  });

  it('has the events after the cursor, without data of the record (EVT-1, EVT-4)', async () => {
    const id = await change(own[0]!);
    await number();
    const { data, meta } = await read(`after=${cursor}`);
    expect(data).toEqual([
      {
        id: expect.stringMatching(/^evt_[a-z0-9]+$/),
        type: 'timesheet.updated',
        occurredAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        builderId: own[0],
        projectId: expect.stringMatching(/^proj_/),
        resource: { type: 'timesheet', id, path: `/timesheets/${id}` },
      },
    ]);
    expect(await read(`after=${meta.nextCursor}`)).toMatchObject({ data: [], meta: { hasMore: false } });
  });

  it('goes on page by page, without a gap and without a repetition', async () => {
    await client.query('update timesheet set hours = hours where builder_id = $1', [own[0]]);
    await number();
    const seen: string[] = [];
    for (
      let page = await read(`after=${cursor}&limit=7`);
      ;
      page = await read(`after=${page.meta.nextCursor}&limit=7`)
    ) {
      seen.push(...page.data.map(({ resource }) => resource.id));
      if (!page.meta.hasMore) break;
    }
    const { rows } = await client.query('select id from timesheet where builder_id = $1', [own[0]]);
    expect(seen.sort()).toEqual(rows.map(({ id }) => id).sort());
  });

  it('skips what the token does not see, which does not count towards `limit` (EVT-7, EVT-8)', async () => {
    for (let count = 0; count < 3; count++) await change(foreign);
    const id = await change(own[0]!);
    await number();
    const { data } = await read(`after=${cursor}&limit=1`);
    expect(data.map(({ resource }) => resource.id)).toEqual([id]);
    const unscoped = await read(`after=${cursor}`, await service.as('A', ['read:photos']));
    expect(unscoped.data).toEqual([]);
  });

  it('follows the connection of now: its scopes and its end', async () => {
    await change(own[0]!);
    await number();
    const where = [service.demo('A').clientId, own[0]];
    const set = (column: string) =>
      client.query(
        `update connection set ${column} where builder_id = $2
           and integrator_id = (select integrator_id from oauth_client where id = $1)`,
        where,
      );
    const { rows } = await client.query('select scopes from connection where builder_id = $1 limit 1', [own[0]]);
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
    await change(own[0]!);
    await number();
    expect((await read(`after=${cursor}&types=timesheet.created&types[]=photo.updated`)).data).toEqual([]);
    expect((await read(`after=${cursor}&types=timesheet.updated&builderId=${own[0]}`)).data).toHaveLength(1);
    if (own[1]) expect((await read(`after=${cursor}&builderId=${own[1]}`)).data).toEqual([]);
  });

  it('is the same page in GraphQL under `events`, to internal clients of every builder', async () => {
    const ids = [await change(own[0]!), await change(foreign)];
    await number();
    const query = '{ events(after: "CURSOR") { data { type resource { id } } meta { nextCursor hasMore } } }';
    const ask = async (bearer: string) => {
      const payload = { query: query.replace('CURSOR', cursor) };
      const headers = { authorization: `Bearer ${bearer}` };
      return (await service.request({ method: 'POST', url: '/graphql', payload, headers })).json().data.events;
    };
    expect((await ask(token)).data.map((event: Page['data'][0]) => event.resource.id)).toEqual([ids[0]]);
    const all = await ask(await service.as('internal'));
    expect(all.data.map((event: Page['data'][0]) => event.resource.id)).toEqual(ids);
    expect((await service.get('/events', await service.as('internal'))).statusCode).toBe(403);
  });
});

describe('a page that passes over many events', () => {
  it('reads those after the first few apart from other reads, once its share may (LIM-19)', async () => {
    const head = await readHead(service.databases.au1);
    await client.query(
      `insert into event (day, number, id, type, record_id, builder_id, occurred_at)
      select $1::date, $2 + n, 'evt_m' || n, 'defect.updated', 'defect_x', $3, now() from generate_series(1, 300) n`,
      [head.day, head.number, foreign],
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

  it('costs 5,000 in GraphQL, so that a request may have a hundred (LIM-15)', async () => {
    const pages = Array.from({ length: 101 }, (_, at) => `a${at}: events(limit: 1) { data { id } }`);
    const { errors } = await service.graphql(token, `{ ${pages.join(' ')} }`);
    expect(errors).toMatchObject([{ extensions: { cost: 101 * 5_003, limit: 500_000 } }]);
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
      await service.get(`/events?after=${cursor}`, await service.as('us1'), { 'x-service-region-id': 'us1' }),
    ]) {
      expect([response.statusCode, response.json().errors[0].fieldName]).toEqual([400, 'after']);
    }
  });
});

describe('a log that was not restored with the rest', () => {
  it('goes on after the positions of the webhook endpoints (EVT-12)', async () => {
    await samplesOf(service.databases.au1, own[0]!);
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
    expect((await request(`builderId=${foreign}`)).statusCode).toBe(403);
    expect((await request('builderId=buil_none')).statusCode).toBe(404);
  });
});

describe('GET /events, waiting', () => {
  it('responds as soon as an event is seen, and without one after the time (EVT-13)', async () => {
    const waiting = read(`after=${cursor}&wait=20`);
    await change(foreign);
    await number();
    const id = await change(own[0]!);
    await number();
    const page = await waiting;
    expect(page.data.map(({ resource }) => resource.id)).toEqual([id]);
    expect(await read(`after=${page.meta.nextCursor}&wait=1`)).toMatchObject({ data: [], meta: { hasMore: false } });
  });

  it('ends with 401 when the token is revoked, and with 403 when the connection is (EVT-14)', async () => {
    const revoked = await service.as('A');
    const first = request(`after=${cursor}&wait=20`, revoked);
    const { jti } = JSON.parse(Buffer.from(revoked.split('.')[1]!, 'base64url').toString());
    await client.query(`insert into oauth_revoked_token (jti, expires_at) values ($1, now() + interval '1 year')`, [
      jti,
    ]);
    service.clock.advance(1_000);
    expect((await first).statusCode).toBe(401);
    const second = request(`after=${cursor}&wait=20&builderId=${own[0]}`);
    const set = (status: string) =>
      client.query(`update connection set status = $1 where builder_id = $2`, [status, own[0]]);
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
    const other = await service.another();
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
    await change(own[0]!);
    await number();
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
