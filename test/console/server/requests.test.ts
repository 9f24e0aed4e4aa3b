import { getNamedType } from 'graphql';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { DocumentStore } from '../../../src/graphql/server/document-store.ts';
import { PASSWORD } from '../../oauth/fixtures.ts';
import { addStaff, ConsoleBrowser, signInToConsole } from '../../support/console.ts';
import { callOf, consoleOperations } from '../../support/console-operations.ts';
import { consoleSchema } from '../../support/definition.ts';
import { type Service, startService } from '../../support/harness.ts';

let service: Service;
let email: string;
let viewer: ConsoleBrowser;

beforeAll(async () => {
  service = await startService();
  email = await addStaff(service, 'VIEWER');
  viewer = await signInToConsole(service.app, email);
});
afterAll(() => service.stop());

const cookie = () => `console-au1=${viewer.cookies.get('console-au1')}`;
const send = (options: {
  method?: string;
  url?: string;
  headers?: Record<string, string>;
  payload?: string | object;
}) =>
  service.request({
    ...{ method: 'POST', url: '/console/graphql', payload: { query: '{ me { id } }' }, ...options },
    headers: { cookie: cookie(), 'x-console-csrf': '1', ...options.headers },
  } as never);

describe('/console/graphql', () => {
  it.each(['GET', 'PUT', 'PATCH', 'DELETE'])('rejects %s with 405 (CON-3)', async (method) => {
    const response = await send({ method, url: '/console/graphql?query={me{id}}', payload: undefined });
    expect([response.statusCode, response.headers.allow]).toEqual([405, 'POST']);
    expect(response.body).not.toContain('user_viewer');
  });

  it.each(['HEAD', 'OPTIONS'])('executes nothing for %s (CON-3)', async (method) => {
    const headers = { origin: 'https://evil.example', 'access-control-request-method': 'POST' };
    const response = await send({ method, url: '/console/graphql?query={me{id}}', headers, payload: undefined });
    expect([response.statusCode, response.headers.allow]).toEqual([method === 'HEAD' ? 405 : 204, 'POST']);
    expect(response.headers).not.toHaveProperty('access-control-allow-origin');
    expect(response.headers).not.toHaveProperty('access-control-allow-credentials');
    expect(response.body).not.toContain('user_viewer');
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])(
    'rejects a body of the type %s, which forms send (CON-3)',
    async (type) => {
      const response = await send({ payload: '{"query":"{ me { id } }"}', headers: { 'content-type': type } });
      expect([400, 415]).toContain(response.statusCode);
      expect(response.body).not.toContain('user_viewer');
    },
  );

  it('rejects a body that is too large with 413', async () => {
    const response = await send({ payload: { query: `{ me { id } } # ${'x'.repeat(2 ** 21)}` } });
    expect(response.statusCode).toBe(413);
    expect(response.json().errors[0].extensions.code).toBe('PAYLOAD_TOO_LARGE');
  });

  it('sends neither data nor errors that caches or other pages may keep', async () => {
    const responses = [
      await send({}),
      await send({ payload: { query: '{ nothing }' } }),
      await send({ headers: { cookie: '' } }),
      await send({ headers: { 'sec-fetch-site': 'cross-site' } }),
    ];
    expect(responses.map(({ statusCode }) => statusCode)).toEqual([200, 400, 401, 403]);
    for (const { headers } of responses) {
      expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
      expect(headers['content-security-policy']).toContain("default-src 'none'");
      expect(headers).not.toHaveProperty('access-control-allow-origin');
    }
  });

  it('takes the first of two cookies of a name, and no other text than a session (CON-1)', async () => {
    const secret = viewer.cookies.get('console-au1');
    for (const value of [
      `console-au1=${'A'.repeat(43)}; ${cookie()}`,
      `console-au1=${secret}x`,
      `Console-Au1=${secret}`,
    ]) {
      expect((await send({ headers: { cookie: value } })).statusCode).toBe(401);
    }
  });

  it('rejects a literal that cannot be stored, of each text of each operation, without a stack trace (ERR-27)', async () => {
    const admin = await signInToConsole(service.app, await addStaff(service, 'ADMIN'));
    const [builderId] = service.findDemoClient('A').builderIds;
    const failed: string[] = [];
    for (const { kind, field } of consoleOperations(consoleSchema)) {
      for (const argument of field.args.filter(({ type }) => /^(String|ID)$/.test(getNamedType(type).name))) {
        const rest = callOf(kind, { ...field, args: field.args.filter((other) => other !== argument) });
        const query = rest.query.replace(new RegExp(`(?<=\\{ ${field.name})\\(?`), (open) =>
          open ? `(${argument.name}: "a\\u0000", ` : `(${argument.name}: "a\\u0000")`,
        );
        const text = JSON.stringify((await admin.query(query, { ...rest.variables, builderId })).errors);
        if (!text.includes('must not contain U+0000')) failed.push(`${query} ${text}`);
        expect(text).not.toMatch(/node_modules|\.ts:|select /i);
      }
    }
    expect(failed).toEqual([]);
  });
});

describe('a document that both schemas receive', () => {
  const toGraphql = async (query: string) => service.graphql(await service.tokenOf('internal'), query);

  it.each([
    ['the console', '{ integrators { data { id } } }'],
    ['integrators', '{ webhookDeliveries(endpointId: "whe_none") { data { id } } }'],
  ])('is validated by each, where only that of %s has its fields (CON-7)', async (owner, query) => {
    const codes: unknown[] = [];
    // A document is cached at its first use, and compiled at a later one.
    for (let use = 0; use < 4; use++) {
      for (const { errors } of [await viewer.query(query), await toGraphql(query)]) {
        codes.push(errors?.[0]?.extensions.code === 'GRAPHQL_VALIDATION_FAILED');
      }
    }
    expect(codes).toEqual(
      Array(4)
        .fill(owner === 'integrators' ? [true, false] : [false, true])
        .flat(),
    );
  });

  it('is kept by each, so that documents of the console evict none of integrators', async () => {
    const query = '{ me { id __typename } }';
    await toGraphql(query);
    await viewer.query(query);
    const parsed = vi.spyOn(DocumentStore.prototype, 'set');
    for (let n = 0; n < 40; n++) await viewer.query(`{ me { id } } # ${n} ${'x'.repeat(8000)}`);
    expect(parsed).toHaveBeenCalledTimes(40);
    await toGraphql(query);
    expect(parsed).toHaveBeenCalledTimes(40);
    await viewer.query(query);
    expect(parsed).toHaveBeenCalledTimes(41);
    parsed.mockRestore();
  });

  it('is planned by each, where the same field is another', async () => {
    const ids: unknown[] = [];
    for (let use = 0; use < 4; use++) {
      for (const { data } of [await toGraphql('{ me { id } }'), await viewer.query('{ me { id } }')])
        ids.push(data.me.id);
    }
    const [client] = ids;
    expect(client).not.toBe('user_viewer');
    expect(ids).toEqual(Array(4).fill([client, 'user_viewer']).flat());
  });
});

describe('the sign-in of staff', () => {
  it('sets a cookie that only this host can set and only HTTPS sends (CON-1)', async () => {
    const https = await startService({ BASE_URL: 'https://api.example.com' });
    await addStaff(https, 'VIEWER');
    const browser = new ConsoleBrowser(https.app);
    const page = await browser.send('GET', '/console/sign-in');
    const response = await browser.submitWithoutFollowing(page, 'Sign in', { email, password: PASSWORD });
    expect([response.headers['set-cookie']].flat().at(-1)).toMatch(
      /^__Host-console-au1=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200; Secure$/,
    );
    expect((await browser.query('{ me { id } }')).status).toBe(200);
    const plain = { cookie: `console-au1=${browser.cookies.get('__Host-console-au1')}`, 'x-console-csrf': '1' };
    const stolen = {
      method: 'POST',
      url: '/console/graphql',
      headers: plain,
      payload: { query: '{ me { id } }' },
    } as const;
    expect((await https.request(stolen)).statusCode).toBe(401);
    await https.stop();
  });

  it('is delayed little by failures from another address, and not by those as a user of builders (CON-15)', async () => {
    const fail = async (address: string, path: string) => {
      const browser = new ConsoleBrowser(service.app, address);
      const page = await browser.send('GET', path);
      let last = 0;
      for (let attempt = 0; attempt < 11; attempt++) last = (await browser.signIn(page, email, 'wrong')).status;
      return last;
    };
    expect(await fail('198.51.100.7', '/console/sign-in')).toBe(429);
    // The office of the staff user.
    expect(await fail('203.0.113.7', '/account/applications')).toBe(429);
    const browser = new ConsoleBrowser(service.app);
    const page = await browser.send('GET', '/console/sign-in');
    const delayed = await browser.signIn(page, email, PASSWORD);
    expect([delayed.status, Number(delayed.headers['retry-after'])]).toEqual([429, 30]);
    service.clock.advance(30_000);
    await browser.signIn(page, email, PASSWORD);
    expect((await browser.query('{ me { id } }')).status).toBe(200);
  });

  it('is delayed after failures from its own address (CON-15)', async () => {
    const browser = new ConsoleBrowser(service.app, '192.0.2.44');
    const page = await browser.send('GET', '/console/sign-in');
    for (let attempt = 0; attempt < 10; attempt++) await browser.signIn(page, email, 'wrong');
    expect((await browser.signIn(page, email, PASSWORD)).status).toBe(429);
  });
});

describe('a made-up session', () => {
  it('is charged to the rate limit of its address before it is looked up (CON-15)', async () => {
    const limited = await startService({ RATE_LIMIT_API: '5/10' });
    const names: string[] = [];
    const end = limited.databases.au1.runner.onStatement(({ name }) => names.push(name));
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 20; attempt++) {
      const headers = { cookie: `console-au1=${String(attempt).padStart(43, 'A')}`, 'x-console-csrf': '1' };
      const payload = { query: '{ me { id } }' };
      const { statusCode } = await limited.request({ method: 'POST', url: '/console/graphql', headers, payload });
      statuses.push(statusCode);
    }
    end();
    expect(statuses).toEqual([...Array(5).fill(401), ...Array(15).fill(429)]);
    expect(names.filter((name) => name === 'console.staff')).toHaveLength(5);
    await limited.stop();
  });
});
