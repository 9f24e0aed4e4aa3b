import { createHash } from 'node:crypto';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, it } from 'vitest';
import { useService } from '../support/harness.ts';
import { toNonCanonicalTokens } from '../support/jwt.ts';

const service = useService();
let token: string;
let builderId: string;

beforeAll(async () => {
  token = await service.tokenOf('A');
  builderId = service.findDemoClient('A').builderIds[0]!;
});

const get = (url: string, headers: Record<string, string> = {}) => service.get(url, token, headers);

/** Returns the failing fields of a 400 response. */
const fieldsOf = (response: { json(): { errors: { fieldName: string }[] } }) =>
  response.json().errors.map(({ fieldName }) => fieldName);

describe('X-Service-Api-Version (HDR-5)', () => {
  it.each([undefined, 'v1'])('may be %s (VER-1)', async (version) => {
    const response = await get('/builders', version ? { 'x-service-api-version': version } : {});
    expect(response.statusCode).toBe(200);
  });

  it.each(['v2', '1', 'V1', ''])('is 400 when it is "%s"', async (version) => {
    const response = await get('/builders', { 'x-service-api-version': version });
    expect(response.statusCode).toBe(400);
    expect(fieldsOf(response)).toEqual(['X-Service-Api-Version']);
  });

  it('is echoed on every response, errors too (HDR-6)', async () => {
    for (const url of ['/builders', '/builders/nobody', '/nowhere', '/health/live', '/openapi.json']) {
      expect((await get(url)).headers['x-service-api-version']).toBe('v1');
    }
  });
});

describe('X-Service-Region-Id', () => {
  it.each(['eu1', 'AU1', ''])('is 400 when it is "%s", even without a token (HDR-7)', async (region) => {
    const response = await service.request({ url: '/builders', headers: { 'x-service-region-id': region } });
    expect(response.statusCode).toBe(400);
    expect(fieldsOf(response)).toEqual(['X-Service-Region-Id']);
  });

  it('selects the database of the region: a us1 client lists its builders there and nowhere else (HDR-7, HDR-8)', async () => {
    const american = await service.tokenOf('us1');
    const there = await service.get('/builders', american, { 'x-service-region-id': 'us1' });
    expect(there.json().data.map(({ id }: { id: string }) => id)).toEqual(service.findDemoClient('us1').builderIds);
    expect((await service.get('/builders', american)).statusCode).toBe(401);
  });
});

describe('X-Service-Builder-Id', () => {
  const paths = [
    '/timesheets',
    '/timesheets/ts_a1',
    '/timesheets/cost-codes',
    '/timesheets/time-types',
    '/subcontractors',
  ];

  it.each(paths)('is required by %s: 400 when absent (HDR-11)', async (path) => {
    const response = await get(path);
    expect(response.statusCode).toBe(400);
    expect(fieldsOf(response)).toEqual(['X-Service-Builder-Id']);
  });

  it('is 400 when it is not a builder id (HDR-11, IDN-6)', async () => {
    const response = await get('/timesheets', { 'x-service-builder-id': 'proj_a1' });
    expect(response.statusCode).toBe(400);
    expect(fieldsOf(response)).toEqual(['X-Service-Builder-Id']);
  });

  it('is 404 when the builder does not exist, 403 when it is not connected (ACC-10)', async () => {
    expect((await get('/timesheets', { 'x-service-builder-id': 'buil_a0nobody' })).statusCode).toBe(404);
    const other = service.findDemoClient('B').builderIds[0]!;
    expect((await get('/timesheets', { 'x-service-builder-id': other })).json()).toMatchObject({ code: 'FORBIDDEN' });
  });

  it('is optional for other operations, and must be the builder of the path or resource (HDR-13)', async () => {
    const second = service.findDemoClient('A').builderIds[1]!;
    expect((await get(`/builders/${builderId}`, { 'x-service-builder-id': builderId })).statusCode).toBe(200);
    expect((await get(`/builders/${builderId}`, { 'x-service-builder-id': second })).statusCode).toBe(403);
    const list = await get('/subcontractors?limit=1', { 'x-service-builder-id': builderId });
    const { id } = list.json().data[0];
    expect((await get(`/subcontractors/${id}`, { 'x-service-builder-id': builderId })).statusCode).toBe(200);
    expect((await get(`/subcontractors/${id}`, { 'x-service-builder-id': second })).statusCode).toBe(403);
  });

  describe('with a token that carries builder_id', () => {
    it('is taken from the token when absent, and is 403 when it differs (HDR-12)', async () => {
      const user = service.findDemoUser((one) => one.builderIds.length === 2);
      const bound = await service.createToken({
        clientId: service.findDemoClient('A').clientId,
        scope: 'read:timesheets',
        userId: user.id,
        builderId: user.builderIds[0]!,
      });
      expect((await service.get('/timesheets?limit=1', bound)).statusCode).toBe(200);
      const other = { 'x-service-builder-id': user.builderIds[1]! };
      expect((await service.get('/timesheets?limit=1', bound, other)).json()).toMatchObject({ code: 'FORBIDDEN' });
      expect((await service.get('/builders', bound, {})).statusCode).toBe(403);
    });
  });
});

describe('X-Request-Id (HDR-14)', () => {
  it('is echoed when it is 1 to 128 visible ASCII characters', async () => {
    expect((await get('/builders', { 'x-request-id': 'gate-7!~' })).headers['x-request-id']).toBe('gate-7!~');
  });

  it.each(['', 'with space', 'x'.repeat(129), 'é'])('is generated when "%s" is sent', async (sent) => {
    const made = (await get('/builders', { 'x-request-id': sent })).headers['x-request-id'];
    expect(made).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('a query string', () => {
  const bad: [string, string][] = [
    ['limit=', 'limit'],
    ['limit=2.5', 'limit'],
    ['limit=0x10', 'limit'],
    ['limit=1e1', 'limit'],
    ['limit=0', 'limit'],
    ['limit=26', 'limit'],
    ['limit=5&limit=6', 'limit'],
    ['limit=+5', 'limit'],
    ['limit=5%00', 'limit'],
    ['offset=-1', 'offset'],
    ['offset=99999999999999999999', 'offset'],
    ['includeBuilderCompany=yes', 'includeBuilderCompany'],
    ['includeBuilderCompany=', 'includeBuilderCompany'],
    ['includeBuilderCompany=1', 'includeBuilderCompany'],
    ['projectId=nonsense', 'projectId'],
    ['projectId=PROJ_a1', 'projectId'],
  ];

  it.each(bad)('is 400 for %s (ERR-7, IDN-6)', async (query, field) => {
    const response = await get(`/subcontractors?${query}`, { 'x-service-builder-id': builderId });
    expect(response.statusCode).toBe(400);
    expect(fieldsOf(response)).toEqual([field]);
  });

  it('names every failing field at once (ERR-1)', async () => {
    const url = '/timesheets?limit=99&offset=x&status=LATE&projectId=1&startDate=yesterday';
    const response = await get(url, { 'x-service-builder-id': builderId });
    expect(fieldsOf(response).sort()).toEqual(['limit', 'offset', 'projectId', 'startDate', 'status']);
  });

  it('has a message about the values of a boolean (ERR-7)', async () => {
    const response = await get('/subcontractors?includeBuilderCompany=yes', { 'x-service-builder-id': builderId });
    expect(response.json().errors).toEqual([{ fieldName: 'includeBuilderCompany', message: 'must be true or false' }]);
  });

  it('may have unknown parameters (ERR-8)', async () => {
    expect((await get('/builders?colour=red&__proto__=x&constructor=y')).statusCode).toBe(200);
  });

  it.each([
    'startDate=2026-02-30',
    'startDate=2026-13-01',
    'endDate=0000-01-01',
    'startDate=2026-01-01T25:00:00Z',
    'endDate=2026-01-01T00:00:00',
    'endDate=9999-12-31T23:59:59-05:00',
  ])('is 400 for %s (LST-12)', async (query) => {
    const response = await get(`/timesheets?${query}`, { 'x-service-builder-id': builderId });
    expect(fieldsOf(response)).toEqual([query.split('=')[0]]);
  });

  it('is 400 when endDate is before startDate (LST-12)', async () => {
    const response = await get('/timesheets?startDate=2026-02-02&endDate=2026-02-01', {
      'x-service-builder-id': builderId,
    });
    expect(fieldsOf(response)).toEqual(['endDate']);
  });

  it('names that error together with all others', async () => {
    const response = await get('/timesheets?startDate=2026-02-02&endDate=2026-02-01&limit=99', {
      'x-service-builder-id': builderId,
    });
    expect(fieldsOf(response).sort()).toEqual(['endDate', 'limit']);
  });
});

describe('a path', () => {
  it.each([
    '/builders/nobody',
    '/builders/buil_A1',
    '/builders/buil_%00',
    '/builders/buil_',
    '/builders/%F0%9F%8F%97',
    '/subcontractors/sub_a0nobody',
    '/subcontractors/x',
  ])('is 404 for %s (IDN-6)', async (path) => {
    expect((await get(path)).json()).toMatchObject({ code: 'NOT_FOUND' });
  });

  it('that does not exist is 404 (ERR-13)', async () => {
    const response = await get('/nowhere');
    expect(response.statusCode).toBe(404);
    expect(response.json()).toMatchObject({ code: 'NOT_FOUND' });
  });

  it.each(['/webhook', '/webhook/1'])('%s of SOFA is 404', async (url) => {
    const response = await service.request({
      method: 'POST',
      url,
      headers: { authorization: `Bearer ${token}` },
      payload: {},
    });
    expect(response.statusCode).toBe(404);
  });

  it('with an invalid percent-encoding is checked like any other', async () => {
    expect((await service.request({ url: '/builders/%zz' })).statusCode).toBe(401);
    const response = await get('/builders/%zz');
    expect(response.json()).toMatchObject({ code: 'NOT_FOUND' });
    expect(response.headers).toMatchObject({ 'x-service-api-version': 'v1', 'x-request-id': expect.any(String) });
  });

  it.each(['upload', 'bulk-upload'])('of an %s is 404 when the builder id is malformed', async (operation) => {
    for (const id of ['x', 'buil_%00']) {
      const response = await service.request({
        method: 'POST',
        url: `/builders/${id}/attachments/${operation}`,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'multipart/form-data; boundary=x' },
      });
      expect(response.json()).toMatchObject({ code: 'NOT_FOUND' });
    }
  });

  const others = ['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE'] as const;

  it.each(others)('with GET only is 405 for %s, with Allow (ERR-14)', async (method) => {
    const response = await service.request({
      method: method as 'POST',
      url: '/builders',
      headers: { authorization: `Bearer ${token}` },
    });
    expect(response.statusCode).toBe(405);
    expect(response.headers.allow).toBe('GET, HEAD');
    expect(response.json()).toMatchObject({ code: 'METHOD_NOT_ALLOWED' });
  });
});

describe('the order of checks (ERR-23)', () => {
  it('checks the token before everything except the region (ERR-11)', async () => {
    const wrong = { 'x-service-api-version': 'v9', 'x-service-builder-id': 'nonsense' };
    for (const url of ['/timesheets?limit=99', '/builders/nobody', '/nowhere']) {
      const response = await service.request({ url, headers: wrong });
      expect(response.statusCode).toBe(401);
      expect(response.headers['www-authenticate']).toBe('Bearer');
    }
    expect((await service.request({ method: 'DELETE', url: '/builders' })).statusCode).toBe(401);
  });

  it('checks the scope before the other headers (ERR-12)', async () => {
    const narrow = await service.tokenOf('A', ['read:builders']);
    const response = await service.get('/timesheets?limit=99', narrow, { 'x-service-api-version': 'v9' });
    expect(response.json()).toMatchObject({ code: 'INSUFFICIENT_SCOPE' });
    expect(response.headers['www-authenticate']).toContain('scope="read:timesheets"');
  });

  it('checks the other headers before builder access, and builder access before the input', async () => {
    const other = service.findDemoClient('B').builderIds[0]!;
    expect((await get(`/builders/${other}/projects?limit=99`, { 'x-service-api-version': 'v9' })).statusCode).toBe(400);
    expect((await get(`/builders/${other}/projects?limit=99`)).statusCode).toBe(403);
    expect((await get(`/builders/${builderId}/projects/proj_a0nobody/inductions?limit=99`)).statusCode).toBe(400);
  });
});

describe('bytes that are not an HTTP request', () => {
  const send = async (bytes: string) => {
    const { port } = service.app.server.address() as AddressInfo;
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    return (await text(socket)).split('\r\n\r\n');
  };

  beforeAll(() => service.app.listen({ host: '127.0.0.1', port: 0 }));

  it.each([
    ['an unknown method', 'FOO / HTTP/1.1\r\nHost: x\r\n\r\n', 400, { errors: [{ fieldName: 'request' }] }],
    ['too many headers', `GET / HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(20_000)}`, 431, { code: 'HEADERS_TOO_LARGE' }],
  ])('are refused in the documented shape: %s (ERR-21)', async (_, bytes, status, body) => {
    const [head, payload] = await send(bytes);
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${status} [^]*X-Service-Api-Version: v1`));
    expect(JSON.parse(payload!)).toMatchObject(body);
  });
});

describe('a valid bearer token', () => {
  it.each([
    ['Bearer', 1],
    ['bearer', 1],
    ['BEARER', 4],
    ['Bearer', 3000],
  ])('may come after %s and %i spaces, again and again (HDR-4)', async (scheme, spaces) => {
    const headers = { authorization: `${scheme}${' '.repeat(spaces)}${token}` };
    for (let times = 0; times < 2; times++) {
      expect((await service.request({ url: '/builders', headers })).statusCode).toBe(200);
    }
  });
});

describe('a bearer token in a non-canonical encoding', () => {
  it.each(Object.keys(toNonCanonicalTokens('a.b.c')))(
    'is 401 although the token itself is in use: %s (OAU-15)',
    async (name) => {
      const send = (value: string) =>
        service.request({ url: '/builders', headers: { authorization: `Bearer ${value}` } });
      expect((await send(token)).statusCode).toBe(200);
      expect((await send(toNonCanonicalTokens(token)[name]!)).statusCode).toBe(401);
      expect((await send(token)).statusCode).toBe(200);
    },
  );
});

describe('an invalid bearer token', () => {
  it.each(['Bearer x.y.z', 'bearer garbage'])(
    'is 401 with RFC 6750 invalid_token: %s (ERR-11)',
    async (authorization) => {
      const response = await service.request({ url: '/builders', headers: { authorization } });
      expect(response.statusCode).toBe(401);
      expect(response.headers['www-authenticate']).toContain('error="invalid_token"');
    },
  );

  it.each(['Basic abc', 'Bearer', 'Bearer a b'])('is 401 when the header is "%s" (HDR-4)', async (authorization) => {
    expect((await service.request({ url: '/builders', headers: { authorization } })).statusCode).toBe(401);
  });
});

describe('the same rules through GraphQL (ERR-24)', () => {
  const first = async (query: string, variables = {}) =>
    (await service.graphql(token, query, variables)).errors![0]!.extensions;

  it('name all invalid fields of a variable in one error', async () => {
    const query =
      'query ($b: BuilderId!, $limit: PageLimit, $projectId: ProjectId) { timesheets(builderId: $b, limit: $limit, projectId: $projectId) { meta { limit } } }';
    const { errors } = await service.graphql(token, query, { b: builderId, limit: 26, projectId: 'x' });
    expect(errors).toHaveLength(1);
    expect(errors![0]!.extensions).toMatchObject({ code: 'BAD_USER_INPUT', http: { status: 400 } });
    expect(errors![0]!.extensions.errors).toMatchObject([{ fieldName: 'limit' }, { fieldName: 'projectId' }]);
  });

  it('name the argument of an invalid literal', async () => {
    expect(await first(`{ projects(builderId: "${builderId}", limit: 26) { meta { limit } } }`)).toMatchObject({
      code: 'BAD_USER_INPUT',
      http: { status: 400 },
      errors: [{ fieldName: 'limit', message: 'must be an integer from 1 to 25' }],
    });
  });

  it('have the codes of 403 and 404', async () => {
    const other = service.findDemoClient('B').builderIds[0]!;
    expect(await first(`{ projects(builderId: "${other}") { meta { limit } } }`)).toEqual({
      code: 'FORBIDDEN',
      http: { status: 403 },
    });
    expect(await first('{ projects(builderId: "buil_a0nobody") { meta { limit } } }')).toEqual({
      code: 'NOT_FOUND',
      http: { status: 404 },
    });
  });

  it('respond 401 without a token and 400 for an invalid header', async () => {
    const send = (headers: Record<string, string>) =>
      service.request({ method: 'POST', url: '/graphql', headers, payload: { query: '{ me { id } }' } });
    const nobody = await send({});
    expect(nobody.statusCode).toBe(401);
    expect(nobody.json().errors[0].extensions).toEqual({ code: 'UNAUTHENTICATED', http: { status: 401 } });
    const versioned = await send({ authorization: `Bearer ${token}`, 'x-service-api-version': 'v2' });
    expect(versioned.statusCode).toBe(400);
    expect(versioned.json().errors[0].extensions.errors[0].fieldName).toBe('X-Service-Api-Version');
  });

  it('respond 413 and 415 for unsupported bodies, and 405 for another method (ERR-16)', async () => {
    const headers = { authorization: `Bearer ${token}` };
    const send = (type: string, payload: string, method: 'POST' | 'PUT' = 'POST') =>
      service.request({ method, url: '/graphql', headers: { ...headers, 'content-type': type }, payload });
    const large = await send(
      'application/json',
      JSON.stringify({ query: '{ me { id } }', extensions: { pad: 'x'.repeat(1_100_000) } }),
    );
    expect(large.statusCode).toBe(413);
    expect(large.json().errors[0].extensions).toEqual({ code: 'PAYLOAD_TOO_LARGE', http: { status: 413 } });
    const plain = await send('text/plain', '{}');
    expect(plain.statusCode).toBe(415);
    expect(plain.json().errors[0].extensions).toEqual({ code: 'UNSUPPORTED_MEDIA_TYPE', http: { status: 415 } });
    const put = await send('application/json', '{}', 'PUT');
    expect([put.statusCode, put.headers.allow]).toEqual([405, 'GET, HEAD, POST']);
  });

  it('respond 400 to an operation name that the document does not have', async () => {
    const payload = { query: 'query A { me { id } }', operationName: '\r\nX-Injected: 1' };
    const headers = { authorization: `Bearer ${token}` };
    for (let use = 1; use <= 4; use++) {
      const answer = await service.request({ method: 'POST', url: '/graphql', headers, payload });
      expect(answer.statusCode).toBe(400);
      expect(answer.json().errors[0].extensions.http.status).toBe(400);
    }
  });

  it.each([
    ['the hash alone', undefined],
    ['the hash and the query', '{ me { id } }'],
  ])(
    'support no persisted queries: %s is an error that tells clients to send the query alone (LIM-18)',
    async (_, query) => {
      const extensions = {
        persistedQuery: { version: 1, sha256Hash: createHash('sha256').update('{ me { id } }').digest('hex') },
      };
      const answer = await service.request({
        ...{ method: 'POST', url: '/graphql', headers: { authorization: `Bearer ${token}` } },
        payload: { query, extensions },
      });
      expect(answer.statusCode).toBe(200);
      expect(answer.json()).toEqual({
        errors: [
          {
            message: 'PersistedQueryNotSupported',
            extensions: { code: 'PERSISTED_QUERY_NOT_SUPPORTED', http: { status: 200 } },
          },
        ],
        extensions: { cost: 0 },
      });
    },
  );

  it('limit the cost and records of one request (LIM-15, LIM-17)', async () => {
    const wide =
      'subcontractors { data { projects { data { subcontractors { data { projects { data { id } } } } } } } }';
    const multiplied = await first(`{ projects(builderId: "${builderId}") { data { ${wide} } } }`);
    expect(multiplied).toMatchObject({ code: 'BAD_USER_INPUT', errors: [{ fieldName: 'query' }], limit: 500_000 });
    expect((multiplied as { cost?: number }).cost).toBeGreaterThan(500_000);
    const aliases = Array.from({ length: 60 }, (_, place) => `a${place}: builders { meta { totalCount } }`);
    expect(await first(`{ ${aliases.join(' ')} }`)).toMatchObject({
      code: 'BAD_USER_INPUT',
      cost: 0,
      limit: 50,
      errors: [{ fieldName: 'query', message: 'must not have so many root fields: it has 60, and the limit is 50' }],
    });
  });

  it('do not reveal internal errors (ERR-18)', async () => {
    const end = service.databases.au1.onStatement(() => {
      throw new Error('secret detail');
    });
    const { errors } = await service.graphql(token, `{ projects(builderId: "${builderId}") { meta { limit } } }`);
    end();
    expect(errors![0]!.extensions).toEqual({ code: 'INTERNAL', http: { status: 500 } });
    expect(JSON.stringify(errors)).not.toContain('secret');
  });
});
