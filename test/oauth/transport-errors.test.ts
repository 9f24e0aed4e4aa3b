import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database, type Databases } from '../../src/database/database.ts';
import { rateLimited } from '../../src/shared/errors.ts';
import { newSecret } from '../../src/shared/secrets.ts';
import { createDatabase } from '../setup/database.ts';
import { addClient, BASE_URL, buildApp, type OAuthService, startOAuth } from './service.ts';

const secret = newSecret();
const undo: (() => Promise<unknown>)[] = [];
let service: OAuthService;
/** The service over databases that are away, over databases without tables, and without budget for any client. */
let away: FastifyInstance;
let broken: FastifyInstance;
let limited: FastifyInstance;

beforeAll(async () => {
  service = await startOAuth();
  undo.push(() => service.close());
  await addClient(service, 'cli_app', { secrets: [secret] });
  const empty = await createDatabase('template1');
  undo.push(() => empty.drop());
  away = await appOver('postgresql://nobody@127.0.0.1:1/none');
  broken = await appOver(empty.url);
  limited = await buildApp(service.databases, service, async () => {
    throw rateLimited(7);
  });
  undo.push(() => limited.close());
});

afterAll(async () => {
  for (const step of undo.reverse()) await step();
});

async function appOver(url: string): Promise<FastifyInstance> {
  const databases: Databases = { au1: new Database('au1', url), us1: new Database('us1', url) };
  const app = await buildApp(databases, service);
  undo.push(async () => {
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
      const answer = await service.app.inject({ method, url });
      expect([answer.statusCode, answer.headers.allow]).toEqual([405, 'POST']);
      expect(answer.json()).toEqual({
        ...{ error: 'invalid_request', error_description: 'This path allows POST.' },
        ...{ code: 'METHOD_NOT_ALLOWED', message: 'This path allows POST.' },
      });
    }
  });

  it('413 for a body of more than 64 KiB (LIM-13, OAU-39)', async () => {
    const answer = await post(service.app, { ...VALID, scope: 'a'.repeat(65_536) });
    expect(answer.statusCode).toBe(413);
    expect(answer.json()).toEqual({
      ...{ error: 'invalid_request', error_description: 'The body may have at most 65536 bytes.' },
      ...{ code: 'PAYLOAD_TOO_LARGE', message: 'The body may have at most 65536 bytes.' },
    });
  });

  it.each(['text/plain', 'application/xml', 'multipart/form-data; boundary=a'])(
    '415 for a body of the type %s (HDR-2, OAU-39)',
    async (type) => {
      const answer = await post(service.app, 'token=a', type);
      const message = 'The body must be application/json or application/x-www-form-urlencoded.';
      expect(answer.statusCode).toBe(415);
      expect(answer.json()).toEqual({
        ...{ error: 'invalid_request', error_description: message },
        ...{ code: 'UNSUPPORTED_MEDIA_TYPE', message },
      });
    },
  );

  it('429 with Retry-After for a client without budget (OAU-39)', async () => {
    const answer = await post(limited);
    expect([answer.statusCode, answer.headers['retry-after']]).toEqual([429, '7']);
    expect(answer.json()).toEqual({
      ...{ error: 'temporarily_unavailable', error_description: 'Too many requests.' },
      ...{ code: 'RATE_LIMITED', message: 'Too many requests.' },
    });
  });

  it('500 without a word of its cause (ERR-18, OAU-39)', async () => {
    const answer = await post(broken);
    expect(answer.statusCode).toBe(500);
    expect(answer.json()).toEqual({
      ...{ error: 'server_error', error_description: 'Something went wrong on our side.' },
      ...{ code: 'INTERNAL', message: 'Something went wrong on our side.' },
    });
  });

  it('503 with Retry-After while the databases are away (OAU-39)', async () => {
    const answer = await post(away);
    expect([answer.statusCode, answer.headers['retry-after']]).toEqual([503, '1']);
    // RFC 6749 keeps semicolons, but no quotes and no backslashes, in a description.
    expect(answer.json()).toEqual({
      ...{ error: 'temporarily_unavailable', error_description: 'The service cannot answer now; try again.' },
      ...{ code: 'UNAVAILABLE', message: 'The service cannot answer now; try again.' },
    });
  });

  it('never lets an error be kept by a cache (OAU-9)', async () => {
    for (const answer of await Promise.all([post(limited), post(broken), post(away), post(service.app, '', 'a/b')])) {
      expect(answer.headers).toMatchObject({ 'cache-control': 'no-store', pragma: 'no-cache' });
    }
  });

  it('leaves errors of the protocol as they are', async () => {
    const answer = await post(service.app, { ...VALID, client_secret: 'wrong' });
    expect([answer.statusCode, Object.keys(answer.json())]).toEqual([401, ['error', 'error_description']]);
  });
});
