import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database, type Databases } from '../../src/database/database.ts';
import { rateLimited } from '../../src/shared/errors.ts';
import { newSecret } from '../../src/shared/secrets.ts';
import { createDatabase } from '../setup/database.ts';
import { addClient, BASE_URL, buildOAuthApp, type OAuthService, startOAuth } from './service.ts';

const secret = newSecret();
const cleanups: (() => Promise<unknown>)[] = [];
let service: OAuthService;
/** Instances with unavailable databases, with databases without tables, and with an exceeded client rate limit. */
let unavailable: FastifyInstance;
let broken: FastifyInstance;
let limited: FastifyInstance;

beforeAll(async () => {
  service = await startOAuth();
  cleanups.push(() => service.close());
  await addClient(service, 'cli_app', { secrets: [secret] });
  const empty = await createDatabase('template1');
  cleanups.push(() => empty.drop());
  unavailable = await buildAppWith('postgresql://nobody@127.0.0.1:1/none');
  broken = await buildAppWith(empty.url);
  limited = await buildOAuthApp(service.databases, service, async () => {
    throw rateLimited(7);
  });
  cleanups.push(() => limited.close());
});

afterAll(async () => {
  for (const cleanUp of cleanups.reverse()) await cleanUp();
});

async function buildAppWith(url: string): Promise<FastifyInstance> {
  const databases: Databases = { au1: new Database('au1', url), us1: new Database('us1', url) };
  const app = await buildOAuthApp(databases, service);
  cleanups.push(async () => {
    await app.close();
    await Promise.all(Object.values(databases).map((database) => database.close()));
  });
  return app;
}

const VALID = {
  ...{ grant_type: 'client_credentials', audience: BASE_URL, scope: 'read:builders', token: 'unknown' },
  ...{ client_id: 'cli_app', client_secret: secret },
};

describe.each(['/oauth/token', '/oauth/revoke', '/oauth/introspect'])('%s', (url) => {
  const post = (app: FastifyInstance, payload: object | string = VALID, type = 'application/json') =>
    app.inject({ method: 'POST', url, headers: { 'content-type': type }, payload });

  it('405 for another method, with Allow (OAU-39)', async () => {
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE'] as const) {
      const response = await service.app.inject({ method, url });
      expect([response.statusCode, response.headers.allow]).toEqual([405, 'POST']);
      expect(response.json()).toEqual({
        ...{ error: 'invalid_request', error_description: 'This path allows POST.' },
        ...{ code: 'METHOD_NOT_ALLOWED', message: 'This path allows POST.' },
      });
    }
  });

  it('413 for a body of more than 64 KiB (LIM-13, OAU-39)', async () => {
    const response = await post(service.app, { ...VALID, scope: 'a'.repeat(65_536) });
    expect(response.statusCode).toBe(413);
    expect(response.json()).toEqual({
      ...{ error: 'invalid_request', error_description: 'The body may have at most 65536 bytes.' },
      ...{ code: 'PAYLOAD_TOO_LARGE', message: 'The body may have at most 65536 bytes.' },
    });
  });

  it.each(['text/plain', 'application/xml', 'multipart/form-data; boundary=a'])(
    '415 for a body of the type %s (HDR-2, OAU-39)',
    async (type) => {
      const response = await post(service.app, 'token=a', type);
      const message = 'The body must be application/json or application/x-www-form-urlencoded.';
      expect(response.statusCode).toBe(415);
      expect(response.json()).toEqual({
        ...{ error: 'invalid_request', error_description: message },
        ...{ code: 'UNSUPPORTED_MEDIA_TYPE', message },
      });
    },
  );

  it('429 with Retry-After above the client rate limit (OAU-39)', async () => {
    const response = await post(limited);
    expect([response.statusCode, response.headers['retry-after']]).toEqual([429, '7']);
    expect(response.json()).toEqual({
      ...{ error: 'temporarily_unavailable', error_description: 'Too many requests.' },
      ...{ code: 'RATE_LIMITED', message: 'Too many requests.' },
    });
  });

  it('500 without the cause (ERR-18, OAU-39)', async () => {
    const response = await post(broken);
    expect(response.statusCode).toBe(500);
    expect(response.json()).toEqual({
      ...{ error: 'server_error', error_description: 'Something went wrong on our side.' },
      ...{ code: 'INTERNAL', message: 'Something went wrong on our side.' },
    });
  });

  it('503 with Retry-After while the databases are unavailable (OAU-39)', async () => {
    const response = await post(unavailable);
    expect([response.statusCode, response.headers['retry-after']]).toEqual([503, '1']);
    // RFC 6749 keeps semicolons, but no quotes and no backslashes, in a description.
    expect(response.json()).toEqual({
      ...{ error: 'temporarily_unavailable', error_description: 'The service cannot answer now; try again.' },
      ...{ code: 'UNAVAILABLE', message: 'The service cannot answer now; try again.' },
    });
  });

  it('forbids caching of errors (OAU-9)', async () => {
    for (const response of await Promise.all([
      post(limited),
      post(broken),
      post(unavailable),
      post(service.app, '', 'a/b'),
    ])) {
      expect(response.headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' });
    }
  });

  it('sends protocol errors without code and message', async () => {
    const response = await post(service.app, { ...VALID, client_secret: 'wrong' });
    expect([response.statusCode, Object.keys(response.json())]).toEqual([401, ['error', 'error_description']]);
  });
});
