import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AuthorizationCode } from '../../entities/authorization-code.entity.ts';
import { ConsoleSession } from '../../entities/console-session.entity.ts';
import { OAuthClient } from '../../entities/oauth-client.entity.ts';
import { PasswordLink } from '../../entities/password-link.entity.ts';
import { Session } from '../../entities/session.entity.ts';
import { User } from '../../entities/user.entity.ts';
import { updateClient } from '../../src/domain/access/clients.ts';
import { updateConnection } from '../../src/domain/access/connections.ts';
import { resetPassword } from '../../src/domain/access/password-links.ts';
import { disableUser, enableUser } from '../../src/domain/access/users.ts';
import { hashSecret } from '../../src/shared/secrets.ts';
import { OPERATOR } from '../support/audit.ts';
import { Browser } from './browser.ts';
import { exchangeCode, obtainCode, obtainTokens, refreshTokens } from './code-flow.ts';
import { type Instance, startDeployment, type TestDeployment } from './deployment.ts';
import { addApplication, addBuilder, addUser, authorizationParameters, CHEAP_HASH, REDIRECT_URI } from './fixtures.ts';
import { addClient, postToken } from './service.ts';

let deployment: TestDeployment;
let firstInstance: Instance;
let otherInstance: Instance;

const flow = { clientId: 'cli_app', email: 'user_a@example.com' };
const SECRET = 'machine-secret';

beforeAll(async () => {
  deployment = await startDeployment();
  [firstInstance, otherInstance] = [await deployment.startInstance(), await deployment.startInstance()];
  await addBuilder(deployment, 'buil_a');
  await addUser(deployment, 'user_a', ['buil_a']);
  await addApplication(deployment, 'cli_app', { pilotAgreement: 'PILOT-1' });
  await addClient(deployment, 'cli_machine', { secrets: [SECRET], pilotAgreement: 'PILOT-1' });
});
afterAll(() => deployment?.close());

const context = () => ({ database: deployment.databases.au1, clock: deployment.clock, source: OPERATOR });
const initial = new Map<string, Partial<OAuthClient>>();

beforeEach(async () => {
  for (const client of await deployment.databases.au1.fork().find(OAuthClient, {})) {
    const { grants, scopes, redirectUris, pilotAgreement } = initial.get(client.id) ?? client;
    initial.set(client.id, { grants, scopes, redirectUris, pilotAgreement });
    await deployment.databases.au1
      .fork()
      .nativeUpdate(OAuthClient, { id: client.id }, { grants, scopes, redirectUris, pilotAgreement });
  }
});

/** Calls both instances, of which the other has cached the token, a second after the change. */
async function statusesOf(token: string, url = '/builders/buil_a/projects') {
  deployment.clock.at += 1000;
  const headers = { authorization: `Bearer ${token}` };
  return Promise.all(
    [firstInstance, otherInstance].map(async ({ app }) => (await app.inject({ url, headers })).statusCode),
  );
}

async function requestClientToken(scope = 'read:builders read:projects'): Promise<string> {
  const credentials = { client_id: 'cli_machine', client_secret: SECRET, audience: deployment.baseUrl };
  const { body } = await postToken(firstInstance.app, { grant_type: 'client_credentials', scope, ...credentials });
  return body.access_token;
}

describe('a client whose scope was removed', () => {
  it('cannot use it with tokens that exist, on every instance within a second (ACC-25)', async () => {
    const token = await requestClientToken();
    const { access_token } = await obtainTokens(firstInstance, flow);
    for (const each of [token, access_token]) expect(await statusesOf(each)).toEqual([200, 200]);
    for (const id of ['cli_machine', 'cli_app']) await updateClient(context(), id, { scopes: ['read:builders'] });
    for (const each of [token, access_token]) {
      expect(await statusesOf(each)).toEqual([403, 403]);
      expect(await statusesOf(each, '/builders')).toEqual([200, 200]);
    }
  });
});

describe('a connection whose scope was removed', () => {
  it('does not allow it to tokens that exist (ACC-6, ACC-25)', async () => {
    const token = await requestClientToken();
    const key = { integratorId: 'intg_a', builderId: 'buil_a' };
    expect(await statusesOf(token)).toEqual([200, 200]);
    await updateConnection(context(), { ...key, scopes: ['read:builders'] });
    expect(await statusesOf(token)).toEqual([403, 403]);
    await updateConnection(context(), { ...key, scopes: ['read:builders read:projects'] });
    expect(await statusesOf(token)).toEqual([200, 200]);
  });
});

describe('a client whose grant was removed', () => {
  it('cannot use the tokens of the grant (ACC-25)', async () => {
    const token = await requestClientToken();
    expect(await statusesOf(token)).toEqual([200, 200]);
    await updateClient(context(), 'cli_machine', { grants: ['authorization_code'], redirectUris: [REDIRECT_URI] });
    expect(await statusesOf(token)).toEqual([401, 401]);
  });

  it('cannot refresh without the grant refresh_token (ACC-25)', async () => {
    const tokens = await obtainTokens(firstInstance, flow);
    await updateClient(context(), 'cli_app', { grants: ['authorization_code'] });
    expect((await refreshTokens(otherInstance, flow, tokens.refresh_token)).body.error).toBe('unauthorized_client');
    expect(await statusesOf(tokens.access_token)).toEqual([200, 200]);
  });
});

describe('a redirect URI that was removed', () => {
  it('gets no code, and the codes that it has are invalid_grant (ACC-25)', async () => {
    const code = await obtainCode(firstInstance, flow);
    await updateClient(context(), 'cli_app', { redirectUris: ['https://app.example/other'] });
    expect((await exchangeCode(otherInstance, flow, code)).body.error).toBe('invalid_grant');
    const page = await new Browser(otherInstance.app).open(authorizationParameters('cli_app'));
    expect([page.status, page.location]).toEqual([400, null]);
    expect(await deployment.databases.au1.fork().count(AuthorizationCode, { usedAt: null })).toBe(1);
  });
});

describe('a user who was disabled and enabled again', () => {
  it('has no session, password link, code or token of before, also one that was stored meanwhile (OAU-25, OAU-35)', async () => {
    const em = () => deployment.databases.au1.fork();
    const [tokens, code] = [await obtainTokens(firstInstance, flow), await obtainCode(firstInstance, flow)];
    const { path } = await resetPassword(context(), 'user_a', false);
    const stored = {
      ...{ userId: 'user_a', createdAt: '2026-01-01T00:00:00.000Z', expiresAt: '2030-01-01T00:00:00.000Z' },
      credentialDigest: hashSecret(CHEAP_HASH),
    };
    await em().insert(ConsoleSession, { digest: 'before', ...stored });
    await disableUser(context(), 'user_a');
    expect(await em().count(Session, { userId: 'user_a' })).toBe(0);
    expect(await em().count(PasswordLink, { userId: 'user_a' })).toBe(0);
    await em().insert(ConsoleSession, { digest: 'meanwhile', ...stored });
    await enableUser(context(), 'user_a');
    expect(await em().count(ConsoleSession, { userId: 'user_a' })).toBe(0);
    expect(await statusesOf(tokens.access_token)).toEqual([401, 401]);
    expect((await refreshTokens(otherInstance, flow, tokens.refresh_token)).body.error).toBe('invalid_grant');
    expect((await exchangeCode(otherInstance, flow, code)).body.error).toBe('invalid_grant');
    expect((await firstInstance.app.inject({ url: path })).statusCode).toBe(404);
    expect(await statusesOf((await obtainTokens(firstInstance, flow)).access_token)).toEqual([200, 200]);
  });
});

describe('a staff user', () => {
  const staff = { id: 'user_staff', email: 'user_staff@example.com' };

  it('cannot sign in to authorise an application, and gets no code (ACC-26)', async () => {
    await addUser(deployment, staff.id, ['buil_a'], { staffRole: 'ADMIN' });
    const browser = new Browser(firstInstance.app, '203.0.113.99');
    const page = await browser.signIn(await browser.open(authorizationParameters('cli_app')), staff.email);
    expect([page.status, page.heading]).toEqual([400, 'Sign in']);
  });

  it('cannot use a token or session that was issued before (ACC-26)', async () => {
    const tokens = await obtainTokens(firstInstance, flow);
    const code = await obtainCode(firstInstance, flow);
    const browser = new Browser(firstInstance.app);
    const consent = await browser.signIn(await browser.open(authorizationParameters('cli_app')), flow.email);
    await deployment.databases.au1.fork().nativeUpdate(User, { id: 'user_a' }, { staffRole: 'VIEWER' });
    try {
      expect(await statusesOf(tokens.access_token)).toEqual([401, 401]);
      expect((await refreshTokens(firstInstance, flow, tokens.refresh_token)).body.error).toBe('invalid_grant');
      expect((await exchangeCode(firstInstance, flow, code)).body.error).toBe('invalid_grant');
      expect((await browser.submit(consent, 'Allow')).heading).toBe('Sign in');
    } finally {
      await deployment.databases.au1.fork().nativeUpdate(User, { id: 'user_a' }, { staffRole: null });
    }
  });
});
