import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hashPassword } from '../../src/domain/access/passwords.ts';
import { deriveCsrfToken } from '../../src/oauth/interaction/csrf-token.ts';
import { createSession } from '../../src/oauth/interaction/sessions.ts';
import { issueAuthorizationCode } from '../../src/oauth/tokens/authorization-codes.ts';
import { createManualOperations } from '../../src/rest/openapi/manual-operations.ts';
import { newSecret } from '../../src/shared/secrets.ts';
import { s256ChallengeOf } from '../oauth/fixtures.ts';
import { operations, schema } from '../support/definition.ts';
import { type Service, startService } from '../support/harness.ts';
import { type MailServer, startMailServer } from '../support/mail-server.ts';
import { OperationCalls } from '../support/operation-calls.ts';
import { createSamples } from '../support/samples.ts';

const STAFF = { id: 'user_staff', name: 'Kim Operator', email: 'kim@operator.example' };
const PASSWORD = 'a password of staff';
const VERIFIER = 'v'.repeat(43);

/** Pages of a user's own account, with the fields of their forms. */
const ACCOUNT_PAGES: [method: 'GET' | 'POST', path: string, fields?: Record<string, string>][] = [
  ['GET', '/account/applications'],
  ['POST', '/account/applications', { region: 'au1', client_id: 'CLIENT', builder_id: 'BUILDER' }],
  ['GET', '/account/sign-in'],
  ['POST', '/account/sign-in', { email: STAFF.email, password: PASSWORD }],
  ['POST', '/account/sign-out'],
  ['GET', '/account/signed-out'],
  ['GET', '/account/password'],
  ['POST', '/account/password', { region: 'au1', token: newSecret(), password: PASSWORD, repeated: PASSWORD }],
  ['GET', '/account/password-saved'],
  ['GET', '/account/forgot-password'],
  ['POST', '/account/forgot-password', { email: STAFF.email }],
];

let service: Service;
let mail: MailServer;
let calls: OperationCalls;
let builderId: string;
let cookie: string;

beforeAll(async () => {
  mail = await startMailServer();
  service = await startService({ SMTP_URL: mail.url, MAIL_FROM: 'no-reply@example.com' });
  builderId = service.findDemoClient('A').builderIds[0]!;
  calls = new OperationCalls(service, await createSamples(service.databases.au1, builderId));
  const passwordHash = await hashPassword(PASSWORD);
  const run = (sql: string, ...values: unknown[]) => service.databases.au1.fork().execute(sql, values);
  await run(
    `insert into app_user (id, created_at, updated_at, name, email, password_hash, staff_role) values (?, now(), now(), ?, ?, ?, 'ADMIN')`,
    ...[STAFF.id, STAFF.name, STAFF.email, passwordHash],
  );
  // The service never writes a staff user with a membership; the role alone must prevent every use.
  await run(
    `insert into membership (user_id, builder_id, created_at, updated_at, role) values (?, ?, now(), now(), 'ADMIN')`,
    ...[STAFF.id, builderId],
  );
  const browserId = newSecret();
  await createSession(
    service.databases.au1,
    browserId,
    { id: STAFF.id, credential: passwordHash },
    service.clock.now(),
  );
  cookie = `session-au1=${browserId}`;
});
afterAll(async () => {
  console.info(`isolation: ${calls.count} calls of staff refused as documented`);
  await service.stop();
  await mail.close();
});

/** Returns a token of the staff user, which the service itself never issues. */
const staffToken = () => {
  const { clientId, scopes } = service.findDemoClient('A public');
  return service.createToken({ clientId, scope: scopes, userId: STAFF.id, builderId });
};

const submit = (url: string, fields: Record<string, string>, cookies: string, csrf: string) =>
  service.request({
    ...{ method: 'POST', url, payload: new URLSearchParams({ ...fields, csrf }).toString() },
    headers: { ...(cookies && { cookie: cookies }), 'content-type': 'application/x-www-form-urlencoded' },
  });

describe('a staff user', () => {
  it.each(operations.map((operation) => [`${operation.method} ${operation.path}`, operation] as const))(
    'is 401 at %s, with a token and with a session (ACC-26)',
    async (_name, operation) => {
      expect((await calls.rest(operation, await staffToken())).status).toBe(401);
      expect((await calls.rest(operation, null, { cookie })).status).toBe(401);
    },
  );

  it.each(
    createManualOperations('')
      .filter(({ access }) => access !== 'public')
      .map((operation) => [`${operation.method} ${operation.path}`, operation] as const),
  )('is 401 at %s (ACC-26)', async (_name, operation) => {
    expect((await calls.upload(operation, await staffToken())).status).toBe(401);
    expect((await calls.upload(operation, null, { cookie })).status).toBe(401);
  });

  it.each(
    [schema.getQueryType(), schema.getMutationType()].flatMap((type) =>
      Object.values(type!.getFields()).map((field) => [`${type!.name}.${field.name}`, type!.name, field] as const),
    ),
  )('is 401 at %s of /graphql (ACC-26)', async (_name, kind, field) => {
    expect((await calls.graphql(kind as 'Query', field, await staffToken())).status).toBe(401);
    expect((await calls.graphql(kind as 'Query', field, null, { cookie })).status).toBe(401);
  });

  it('gets no token for a code (ACC-26)', async () => {
    const { clientId, redirectUris } = service.findDemoClient('A public');
    const consent = { clientId, userId: STAFF.id, builderId, scopes: ['read:builders'], resource: null };
    const code = await issueAuthorizationCode(
      {
        database: service.databases.au1,
        clock: service.clock,
        source: { actor: { type: 'USER', id: STAFF.id }, origin: {} },
      },
      consent,
      { redirectUri: redirectUris[0]!, codeChallenge: s256ChallengeOf(VERIFIER), codeChallengeMethod: 'S256' },
    );
    const response = await service.request({
      ...{ method: 'POST', url: '/oauth/token' },
      payload: {
        ...{ grant_type: 'authorization_code', code, client_id: clientId, redirect_uri: redirectUris[0] },
        code_verifier: VERIFIER,
      },
    });
    expect([response.statusCode, response.json().error]).toEqual([400, 'invalid_grant']);
  });

  it('sees the sign-in page at every page of the authorization, and cannot sign in (ACC-26)', async () => {
    const { clientId, redirectUris } = service.findDemoClient('A public');
    const query = new URLSearchParams({
      ...{ response_type: 'code', client_id: clientId, redirect_uri: redirectUris[0]!, scope: 'read:builders' },
      ...{ state: 's', code_challenge: s256ChallengeOf(VERIFIER), code_challenge_method: 'S256' },
    });
    const csrf = deriveCsrfToken(cookie.split('=')[1]!);
    const shown = await service.request({ url: `/oauth/authorize?${query}`, headers: { cookie } });
    expect([shown.statusCode, shown.body.includes('<h1>Sign in</h1>')]).toEqual([200, true]);
    const fields = { email: STAFF.email, password: PASSWORD };
    const bodies = [shown.body];
    for (const [path, values] of [
      ['/oauth/sign-in', fields],
      ['/oauth/authorize', { builder_id: builderId, action: 'allow' }],
      ['/oauth/sign-out', {}],
    ] as const) {
      const { statusCode, body, headers } = await submit(`${path}?${query}`, values, cookie, csrf);
      expect([200, 303, 400, 401, 403], path).toContain(statusCode);
      expect(String(headers.location ?? '')).not.toContain('code=');
      bodies.push(body);
    }
    for (const body of bodies) expect(body).not.toContain(STAFF.name);
    const sql = `select count(*)::int as count from oauth_token_family where user_id = ? and id not in
      (select family_id from oauth_authorization_code where code_challenge = ?)`;
    const rows = await service.databases.au1.fork().execute(sql, [STAFF.id, s256ChallengeOf(VERIFIER)]);
    expect(rows).toEqual([{ count: 0 }]);
  });

  it.each(ACCOUNT_PAGES)(
    'sees nothing of an account at %s %s with a session (ACC-26)',
    async (method, path, fields) => {
      const { statusCode, body } =
        method === 'GET'
          ? await service.request({ url: path, headers: { cookie } })
          : await submit(path, fields ?? {}, cookie, deriveCsrfToken(cookie.split('=')[1]!));
      expect(statusCode).toBeLessThan(500);
      expect(body).not.toContain(STAFF.name);
      expect(body).not.toContain('Signed in as');
    },
  );
});

describe('an anonymous caller of the account pages', () => {
  const sessions = async () =>
    (await service.databases.au1.fork().execute('select digest from oauth_session order by 1')) as unknown[];

  it.each(ACCOUNT_PAGES)('sees and changes nothing at %s %s (ACC-17, OAU-47)', async (method, path, fields) => {
    const before = await sessions();
    const ids = { client_id: service.findDemoClient('A public').clientId, builder_id: builderId };
    const { statusCode, body } =
      method === 'GET'
        ? await service.request({ url: path })
        : await submit(path, { ...fields, ...(fields?.client_id && ids) }, '', 'x');
    expect(method === 'GET' ? [200, 303, 404] : [400, 403]).toContain(statusCode);
    for (const text of ['Signed in as', 'name="client_id"', STAFF.name]) expect(body).not.toContain(text);
    expect(await sessions()).toEqual(before);
  });

  it('gets the same page for the address of a staff user as for any other (OAU-45)', async () => {
    const page = await service.request({ url: '/account/forgot-password' });
    const browserId = /session-au1=([^;]+)/.exec(String(page.headers['set-cookie']))![1]!;
    const request = async (email: string) => {
      const response = await submit(
        ...(['/account/forgot-password', { email }, `session-au1=${browserId}`, deriveCsrfToken(browserId)] as const),
      );
      return [response.statusCode, response.body];
    };
    expect(await request(STAFF.email)).toEqual(await request('nobody@example.com'));
  });
});
