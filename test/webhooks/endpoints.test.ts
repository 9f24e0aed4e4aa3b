import { beforeEach, describe, expect, it } from 'vitest';
import { AuditEntry } from '../../entities/audit-entry.entity.ts';
import { LIMITED_CHANGES, toAuditEntry } from '../../src/domain/audit/record-audit.ts';
import { listEndpointPage } from '../../src/domain/webhooks/list-endpoints.ts';
import { CLIENT_LOSSES } from '../support/dispatcher.ts';
import { useService } from '../support/harness.ts';

const service = useService();
let token: string;

beforeEach(async () => {
  token = await service.tokenOf('A');
  await service.databases.au1.fork().execute('delete from webhook_endpoint');
});
const URL = 'https://app.example.com/hooks';

async function call(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, payload?: object, bearer = token) {
  const headers = { authorization: `Bearer ${bearer}` };
  const response = await service.request({ method, url: `/webhook-endpoints${path}`, headers, payload });
  return { status: response.statusCode, body: response.json() };
}

const create = (input: object = {}) => call('POST', '', { url: URL, ...input });
const fieldErrors = (body: { errors: { fieldName: string }[] }) => body.errors.map(({ fieldName }) => fieldName);

describe('POST /webhook-endpoints: 201', () => {
  it('creates an endpoint for all events, without a scope, and returns its secret (WHK-1, WHK-2, WHK-4)', async () => {
    const { status, body } = await call('POST', '', { url: URL }, await service.tokenOf('A', ['read:builders']));
    expect(status).toBe(201);
    const now = new Date(service.clock.now()).toISOString();
    expect(body).toEqual({
      ...{ id: expect.stringMatching(/^whe_[a-z0-9]+$/), url: URL, types: null, builderIds: null, status: 'ACTIVE' },
      ...{ disabledReason: null, createdAt: now, updatedAt: now },
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    });
  });

  it('accepts filters by type and connected builder, each once', async () => {
    const builderIds = service.findDemoClient('A').builderIds.slice(0, 1);
    const types = ['timesheet.updated', 'photo.created', 'photo.created'];
    const { status, body } = await create({ types, builderIds });
    expect(status).toBe(201);
    expect(body).toMatchObject({ types: ['photo.created', 'timesheet.updated'], builderIds });
  });

  it('allows http and loopback outside production (WHK-8)', async () => {
    expect((await create({ url: 'http://127.0.0.1:3000/hook' })).status).toBe(201);
  });

  it('stores the secret encrypted (WHK-4)', async () => {
    const { secret } = (await create()).body;
    const rows = await service.databases.au1.fork().execute('select secret from webhook_endpoint');
    expect(rows).toEqual([{ secret: expect.stringMatching(/^v1\.[0-9a-f]{8}\./) }]);
    expect(JSON.stringify(rows)).not.toContain(secret.slice(6));
  });
});

describe('POST /webhook-endpoints: 200', () => {
  it('returns the existing endpoint without its secret when the request is repeated (WHK-4)', async () => {
    const filters = { types: ['photo.created', 'photo.updated'] };
    const first = await create(filters);
    const repeated = await create({ types: [...filters.types].reverse() });
    expect(repeated).toEqual({ status: 200, body: { ...first.body, secret: null } });
  });

  it('creates one endpoint of concurrent equal requests', async () => {
    const results = await Promise.all(Array.from({ length: 5 }, () => create()));
    expect(results.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 201]);
    expect(new Set(results.map(({ body }) => body.id)).size).toBe(1);
  });
});

describe('POST /webhook-endpoints: 400', () => {
  it('names every failing field (WHK-1, WHK-8)', async () => {
    const foreign = service
      .findDemoClient('B')
      .builderIds.find((id) => !service.findDemoClient('A').builderIds.includes(id))!;
    const input = { url: 'https://10.0.0.8/', builderIds: [foreign] };
    const { status, body } = await create(input);
    expect(status).toBe(400);
    expect(fieldErrors(body)).toEqual(['url', 'builderIds[0]']);
    const malformed = await create({ url: 'ftp://a', types: ['photo.created', 'photo.exploded'], builderIds: ['x'] });
    expect(fieldErrors(malformed.body)).toEqual(['url', 'types[1]', 'builderIds[0]']);
  });

  it.each([
    ['a missing URL', { url: undefined }, 'url'],
    ['a URL that is not a string', { url: 5 }, 'url'],
    ['a URL of another scheme', { url: 'ftp://example.com/' }, 'url'],
    ['a URL with credentials', { url: 'https://a:b@example.com/' }, 'url'],
    ['a URL with a fragment', { url: 'https://example.com/#a' }, 'url'],
    ['a relative URL', { url: '/hook' }, 'url'],
    ['a long URL', { url: `https://example.com/${'a'.repeat(2000)}` }, 'url'],
    [
      'a private address in decimal',
      { url: 'https://2130706433.example/'.replace('2130706433.example', '167772161') },
      'url',
    ],
    ['the address of cloud metadata', { url: 'https://169.254.169.254/latest' }, 'url'],
    ['a private IPv6 address', { url: 'https://[fd00::1]/' }, 'url'],
    ['types that are not a list', { types: 'photo.created' }, 'types'],
    ['an empty list of types', { types: [] }, 'types'],
    ['more than 100 types', { types: Array(101).fill('photo.created') }, 'types'],
    ['more than 1,000 builders', { builderIds: Array(1_001).fill('buil_nobody') }, 'builderIds'],
    ['an empty list of builders', { builderIds: [] }, 'builderIds'],
    ['a builder id of the wrong shape', { builderIds: ['proj_a1'] }, 'builderIds[0]'],
    ['a builder that does not exist', { builderIds: ['buil_nobody'] }, 'builderIds[0]'],
  ])('rejects %s', async (_case, input, field) => {
    const { status, body } = await create(input);
    expect([status, fieldErrors(body)]).toEqual([400, [field]]);
  });
});

describe('POST /webhook-endpoints: 403', () => {
  it('is for the client-credentials grant only (WHK-2)', async () => {
    const { clientId, builderIds } = service.findDemoClient('A');
    const user = service.findDemoUser((each) => each.builderIds.some((id) => builderIds.includes(id)));
    const builderId = user.builderIds.find((id) => builderIds.includes(id));
    const users = await service.createToken({ clientId, scope: 'read:builders', userId: user.id, builderId });
    expect(await call('POST', '', { url: URL }, users)).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
    expect(await call('GET', '', undefined, users)).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
  });

  it('excludes internal clients, in GraphQL too (WHK-2)', async () => {
    const { errors } = await service.graphql(await service.tokenOf('internal'), '{ webhookEndpoints { data { id } } }');
    expect(errors?.[0]?.extensions.code).toBe('FORBIDDEN');
  });
});

describe('POST /webhook-endpoints: 409', () => {
  it('allows an integrator 20 endpoints, also when they are created at once (WHK-3)', async () => {
    const results = await Promise.all(Array.from({ length: 24 }, (_, index) => create({ url: `${URL}/${index}` })));
    expect(results.filter(({ status }) => status === 201)).toHaveLength(20);
    const rejected = results.filter(({ status }) => status === 409);
    expect(rejected.map(({ body }) => body.code)).toEqual(Array(4).fill('WEBHOOK_ENDPOINT_LIMIT'));
    expect((await call('GET', '')).body.data).toHaveLength(20);
  });
});

describe('GET /webhook-endpoints: 200', () => {
  it("lists the integrator's endpoints without secrets, in the order of creation", async () => {
    const ids: string[] = [];
    for (const path of ['a', 'b', 'c']) {
      ids.push((await create({ url: `${URL}/${path}` })).body.id);
      service.clock.advance(1);
    }
    const { body } = await call('GET', '');
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual(ids);
    expect(Object.keys(body)).toEqual(['data']);
    expect(JSON.stringify(body)).not.toContain('secret');
  });

  it.each(CLIENT_LOSSES)('shows the endpoints of a client that %s as paused (WHK-7)', async (_, change, reset) => {
    const { id } = (await create()).body;
    const em = service.databases.au1.fork();
    await em.execute('update webhook_endpoint set client_id = ? where id = ?', [
      service.findDemoClient('B').clientId,
      id,
    ]);
    await em.execute(`update oauth_client set ${change} where id = ?`, [service.findDemoClient('B').clientId]);
    const paused = await listEndpointPage(service.databases.au1, { status: 'PAUSED' }, { limit: 5 });
    expect(paused.endpoints.map((endpoint) => endpoint.id)).toEqual([id]);
    expect((await call('GET', `/${id}`)).body).toMatchObject({ status: 'PAUSED', disabledReason: 'CLIENT_DISABLED' });
    await em.execute(`update oauth_client set ${reset} where id = ?`, [service.findDemoClient('B').clientId]);
    expect((await call('GET', `/${id}`)).body).toMatchObject({ status: 'ACTIVE', disabledReason: null });
  });
});

describe('PATCH /webhook-endpoints/{id}: 200', () => {
  it('changes the fields that are sent (WHK-6)', async () => {
    const { secret: _, ...created } = (await create({ types: ['photo.created'] })).body;
    service.clock.advance(1_000);
    const updatedAt = new Date(service.clock.now()).toISOString();
    const changed = await call('PATCH', `/${created.id}`, { types: null, status: 'PAUSED' });
    expect(changed).toEqual({ status: 200, body: { ...created, types: null, status: 'PAUSED', updatedAt } });
    expect((await call('PATCH', `/${created.id}`, { status: 'ACTIVE' })).body).toMatchObject({ status: 'ACTIVE' });
  });

  it('enables an endpoint that the service has disabled (WHK-6)', async () => {
    const { id } = (await create()).body;
    const em = service.databases.au1.fork();
    await em.execute(`update webhook_endpoint set status = 'DISABLED', disabled_reason = 'GONE' where id = ?`, [id]);
    await em.execute(`update webhook_progress set failures = 9, failing_since = now(), suspended_until = now()`);
    expect((await call('GET', `/${id}`)).body).toMatchObject({ status: 'DISABLED', disabledReason: 'GONE' });
    const enabled = await call('PATCH', `/${id}`, { status: 'ACTIVE' });
    expect(enabled.body).toMatchObject({ status: 'ACTIVE', disabledReason: null });
    const [progress] = await em.execute('select failures, failing_since, suspended_until from webhook_progress');
    expect(progress).toEqual({ failures: 0, failing_since: null, suspended_until: null });
  });
});

describe('PATCH /webhook-endpoints/{id}: 400', () => {
  it.each([
    [{ url: null }, 'url'],
    [{ url: 'https://192.168.0.1/' }, 'url'],
    [{ status: 'DISABLED' }, 'status'],
    [{ status: null }, 'status'],
    [{ types: ['nothing'] }, 'types[0]'],
    [{ builderIds: ['buil_nobody'] }, 'builderIds[0]'],
  ])('rejects %j', async (changes, field) => {
    const { id } = (await create()).body;
    const { status, body } = await call('PATCH', `/${id}`, changes);
    expect([status, fieldErrors(body)]).toEqual([400, [field]]);
  });
});

describe('DELETE /webhook-endpoints/{id}: 200', () => {
  it('returns the endpoint, which is not found afterwards, and makes room for another', async () => {
    const { secret: _, ...created } = (await create()).body;
    expect(await call('DELETE', `/${created.id}`)).toEqual({ status: 200, body: created });
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/test'],
      ['GET', '/deliveries'],
    ] as const) {
      expect((await call(method, `/${created.id}${path}`)).status).toBe(404);
    }
    expect((await create()).status).toBe(201);
  });
});

describe('POST /webhook-endpoints/{id}/rotate-secret: 200', () => {
  it('returns another secret (WHK-5)', async () => {
    const { secret, ...created } = (await create()).body;
    const { status, body } = await call('POST', `/${created.id}/rotate-secret`);
    expect(status).toBe(200);
    expect(body).toEqual({ ...created, secret: expect.stringMatching(/^whsec_/) });
    expect(body.secret).not.toBe(secret);
  });
});

describe('the audit log', () => {
  const entriesOf = (objectId: string) =>
    service.databases.au1.fork().find(AuditEntry, { objectId }, { orderBy: { at: 'asc', id: 'asc' } });

  it('records who changed an endpoint, from where, and no secret (ACC-20, ACC-22)', async () => {
    const { id, secret } = (await create({ url: `${URL}/path-secret?key=query-secret` })).body;
    const types = ['photo.created'];
    const then = (...request: Parameters<typeof call>) => {
      service.clock.advance(1_000);
      return call(...request);
    };
    await then('PATCH', `/${id}`, { types });
    await then('PATCH', `/${id}`, { types });
    await then('PATCH', `/${id}`, { url: `${URL}/other-secret` });
    const rotated = (await then('POST', `/${id}/rotate-secret`)).body;
    const after = (await service.get('/events', token)).json().meta.nextCursor;
    expect((await then('POST', `/${id}/replay`, { after })).status).toBe(202);
    await then('DELETE', `/${id}`);
    const entries = await entriesOf(id);
    expect(entries.map(({ action, valuesAfter }) => [action, valuesAfter])).toEqual([
      ['webhook_endpoint.created', expect.objectContaining({ receiver: 'https://app.example.com', status: 'ACTIVE' })],
      ['webhook_endpoint.updated', { types }],
      ['webhook_endpoint.updated', {}],
      ['webhook_endpoint.secret_rotated', { previousSecretUntil: expect.any(String) }],
      ['webhook_endpoint.replayed', { cursor: after }],
      ['webhook_endpoint.deleted', null],
    ]);
    const { clientId } = service.findDemoClient('A');
    for (const entry of entries) {
      expect(entry).toMatchObject({ actorType: 'CLIENT', actorId: clientId, origin: { address: '127.0.0.1' } });
    }
    for (const text of [secret, rotated.secret, '-secret', 'whsec_', 'v1.']) {
      expect(JSON.stringify(entries)).not.toContain(text);
    }
  });

  it('has no entry of a request that was repeated or rejected', async () => {
    const { id } = (await create()).body;
    await create();
    await call('PATCH', `/${id}`, { types: ['nothing'] });
    await call('DELETE', `/${id}`, {}, await service.tokenOf('B'));
    expect(await entriesOf(id)).toHaveLength(1);
  });
});

/** Operations that need every scope of the endpoint's client. */
const MANAGING = [
  ['PATCH', ''],
  ['DELETE', ''],
  ['POST', '/rotate-secret'],
  ['POST', '/test'],
  ['POST', '/replay'],
  ['GET', '/deliveries'],
] as const;

describe('an endpoint of another integrator: 404', () => {
  it.each([['GET', ''], ...MANAGING] as const)('%s %s (WHK-2)', async (method, path) => {
    const { id } = (await create()).body;
    const other = await service.tokenOf('B');
    const payload = { PATCH: { status: 'PAUSED' }, POST: path === '/replay' ? { after: 'x'.repeat(35) } : {} }[
      method as 'PATCH'
    ];
    expect(await call(method, `/${id}${path}`, payload, other)).toMatchObject({
      status: 404,
      body: { code: 'NOT_FOUND' },
    });
    expect((await call('GET', `/${id}`)).body).toMatchObject({ status: 'ACTIVE' });
    expect((await call('GET', '', undefined, other)).body.data).toEqual([]);
  });
});

describe('an endpoint of a client with more scopes: 403', () => {
  it.each(MANAGING)('%s %s names the scopes that are missing (WHK-2)', async (method, path) => {
    const { id } = (await create()).body;
    const { clientId, scopes } = service.findDemoClient('A');
    const missing = ['read:photos', 'read:timesheets'];
    const narrow = await service.tokenOf(
      'A',
      scopes.filter((scope) => !missing.includes(scope)),
    );
    const payload = path === '/replay' ? { after: 'x'.repeat(35) } : method === 'GET' ? undefined : {};
    const answer = await call(method, `/${id}${path}`, payload, narrow);
    expect(answer).toMatchObject({ status: 403, body: { code: 'INSUFFICIENT_SCOPE' } });
    expect(answer.body.message).toContain(missing.join(' '));
    expect((await call('GET', `/${id}`, undefined, narrow)).body).toMatchObject({ status: 'ACTIVE' });
    // The scopes that its client has now decide.
    const em = service.databases.au1.fork();
    await em.execute('update oauth_client set scopes = ?::text[] where id = ?', [`{read:builders}`, clientId]);
    const now = await call('GET', `/${id}/deliveries`, undefined, await service.tokenOf('A', ['read:builders']));
    await em.execute('update oauth_client set scopes = ?::text[] where id = ?', [`{${scopes}}`, clientId]);
    expect(now.status).toBe(200);
  });
});

describe('PATCH of an endpoint whose client is disabled: 409', () => {
  it.each(['disabled_at = now()', `grants = array_remove(grants, 'client_credentials')`])(
    'is CLIENT_DISABLED for ACTIVE after %s, and changes nothing (WHK-7)',
    async (change) => {
      const { id } = (await create()).body;
      const em = service.databases.au1.fork();
      // Another client of the integrator manages it.
      const [other] = await em.execute(
        `insert into oauth_client select (jsonb_populate_record(client, '{"id":"cli_other"}')).* from oauth_client client
        where id = ? returning id`,
        [service.findDemoClient('A').clientId],
      );
      await em.execute(`update webhook_endpoint set client_id = 'cli_other', status = 'PAUSED' where id = ?`, [id]);
      await em.execute(`update oauth_client set ${change} where id = ?`, [other!.id]);
      expect(await call('PATCH', `/${id}`, { status: 'ACTIVE' })).toMatchObject({
        status: 409,
        body: { code: 'CLIENT_DISABLED' },
      });
      expect(await call('PATCH', `/${id}`, { types: ['photo.created'] })).toMatchObject({
        status: 200,
        body: { status: 'PAUSED' },
      });
      await em.execute('delete from webhook_endpoint');
      await em.execute(`delete from oauth_client where id = 'cli_other'`);
    },
  );
});

describe('Changes of webhook endpoints: 429', () => {
  it('are limited to 120 in an hour of a client, and removals are not (LIM-28)', async () => {
    const { body } = await create();
    const { clientId } = service.findDemoClient('A');
    const now = service.clock.now();
    const entries = Array.from({ length: LIMITED_CHANGES }, () =>
      toAuditEntry({
        ...{ actor: { type: 'CLIENT', id: clientId }, origin: {}, at: new Date(now).toISOString() },
        ...{ action: 'webhook_endpoint.updated', objectId: body.id },
      }),
    );
    await service.databases.au1.fork().insertMany(AuditEntry, entries);
    const limited = { status: 429, body: { code: 'RATE_LIMITED' } };
    expect(await create({ url: 'https://other.example.com/' })).toMatchObject(limited);
    expect(await call('PATCH', `/${body.id}`, { status: 'PAUSED' })).toMatchObject(limited);
    expect(await call('POST', `/${body.id}/rotate-secret`)).toMatchObject(limited);
    expect(await call('POST', `/${body.id}/test`)).toMatchObject(limited);
    expect((await call('GET', `/${body.id}`)).body).toMatchObject({ status: 'ACTIVE', updatedAt: body.updatedAt });
    expect((await call('PATCH', `/${body.id}`, { status: 'ACTIVE' })).status).toBe(200);
    expect((await call('DELETE', `/${body.id}`)).status).toBe(200);
    service.clock.advance(3_600_000);
    token = await service.tokenOf('A');
    expect((await create({ url: 'https://other.example.com/' })).status).toBe(201);
  });
});
