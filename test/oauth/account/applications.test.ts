import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AuditEntry } from '../../../entities/audit-entry.entity.ts';
import { Browser, type PageView } from '../browser.ts';
import { backdateRotation, exchangeCode, obtainCode, obtainTokens, refreshTokens, type Tokens } from '../code-flow.ts';
import { type Instance, startDeployment, type TestDeployment } from '../deployment.ts';
import { addApplication, addBuilder, addUser, authorizationParameters, PASSWORD } from '../fixtures.ts';
import { postToken } from '../service.ts';

let deployment: TestDeployment;
let firstInstance: Instance;
let otherInstance: Instance;

const flow = { clientId: 'cli_app', email: 'user_a@example.com' };
const forBuilder = (builder_id: string) => ({ ...flow, changes: { builder_id } });

beforeAll(async () => {
  deployment = await startDeployment();
  [firstInstance, otherInstance] = [await deployment.startInstance(), await deployment.startInstance()];
  await addBuilder(deployment, 'buil_a', { name: 'Harbour Constructions' });
  await addBuilder(deployment, 'buil_b', { name: 'Bay Building' });
  await addUser(deployment, 'user_a', ['buil_a', 'buil_b']);
  await addUser(deployment, 'user_b', ['buil_a']);
  await addUser(deployment, 'user_none', ['buil_a']);
  await addUser(deployment, 'user_both', ['buil_a']);
  await addUser(deployment, 'user_us', [], { region: 'us1', email: 'user_both@example.com' });
  await addApplication(deployment, 'cli_app', { name: 'SnapSite' });
  await addApplication(deployment, 'cli_us', { region: 'us1' } as never);
});
afterAll(() => deployment?.close());

let addresses = 0;
const newBrowser = ({ app } = firstInstance) => new Browser(app, `198.51.100.${++addresses}`);

async function signIn(email: string, instance = firstInstance): Promise<{ browser: Browser; page: PageView }> {
  const browser = newBrowser(instance);
  return { browser, page: await browser.signIn(await browser.send('GET', '/account/applications'), email, PASSWORD) };
}

const statusOf = async ({ app }: Instance, { access_token }: Pick<Tokens, 'access_token'>) =>
  (await app.inject({ url: '/me', headers: { authorization: `Bearer ${access_token}` } })).statusCode;

const formFor = (page: PageView, builderId: string): PageView => ({
  ...page,
  forms: page.forms.filter(({ fields }) => fields.builder_id === builderId),
});
const REMOVE = /Remove access/;
const remove = (browser: Browser, page: PageView, builderId: string) => {
  const view = formFor(page, builderId);
  return browser.submit(view, view.forms[0]!.buttons.find(({ text }) => REMOVE.test(text))!.text);
};

describe('/account/applications', () => {
  it('asks for a sign-in, and lists company, scopes, start and last use of each application (OAU-46)', async () => {
    const first = await obtainTokens(firstInstance, forBuilder('buil_a'));
    const day = 24 * 3_600_000;
    deployment.clock.at += 3 * day;
    await refreshTokens(firstInstance, flow, first.refresh_token);
    const signedOut = await newBrowser().send('GET', '/account/applications');
    expect([signedOut.status, signedOut.heading]).toEqual([200, 'Sign in']);
    const { page } = await signIn('user_a@example.com');
    expect([page.status, page.heading]).toEqual([200, 'Applications that use your data']);
    for (const text of ['SnapSite', 'Site Sync', 'Harbour Constructions', '2 March 2026', '5 March 2026'])
      expect(page.body).toContain(text);
    expect(page.body).toContain('<li>');
    expect(page.forms.filter(({ fields }) => fields.builder_id)).toHaveLength(1);
  });

  it('lists one application once, with the scopes of all its authorisations, and none of others (OAU-46)', async () => {
    await obtainTokens(firstInstance, {
      ...forBuilder('buil_a'),
      changes: { builder_id: 'buil_a', scope: 'read:photos' },
    });
    // An authorisation whose code was never used gave no access.
    await obtainCode(firstInstance, forBuilder('buil_b'));
    const { page } = await signIn('user_a@example.com');
    expect(page.forms.filter(({ fields }) => fields.builder_id).map(({ fields }) => fields.builder_id)).toEqual([
      'buil_a',
    ]);
    expect(page.body.match(/<li>/g)!.length).toBe(3);
    expect((await signIn('user_none@example.com')).page.body).toContain('No application has access.');
  });

  it('does not count sign-ins that succeed as failures of the network, in no region (OAU-27)', async () => {
    for (let count = 0; count < 12; count++) {
      const browser = new Browser(firstInstance.app, '198.51.100.250');
      const signInPage = await browser.send('GET', '/account/applications');
      const { heading } = await browser.signIn(signInPage, 'user_a@example.com', PASSWORD);
      expect(heading).toBe('Applications that use your data');
    }
  });

  it('signs out', async () => {
    const { browser, page } = await signIn('user_a@example.com');
    expect((await browser.submit(page, 'Sign out')).heading).toBe('You are signed out');
    expect((await browser.send('GET', '/account/applications')).heading).toBe('Sign in');
  });

  it('ends the session of another person of the other region at a sign-in, and keeps that of the same one (OAU-25)', async () => {
    for (const [email, isKept] of [
      ['user_a@example.com', false],
      ['user_both@example.com', true],
    ] as const) {
      const browser = newBrowser();
      await browser.signIn(await browser.open(authorizationParameters('cli_app')), email);
      await browser.signIn(await browser.open(authorizationParameters('cli_us')), 'user_both@example.com');
      const { body } = await browser.send('GET', '/account/applications');
      expect(body).toContain('user_both@example.com');
      expect(body.includes('user_a@example.com')).toBe(false);
      const { heading } = await browser.open(authorizationParameters('cli_app'));
      expect(heading).toMatch(isKept ? /^Allow/ : /^Sign in$/);
    }
  });

  it('is signed out of in all regions on the page of an application of one, too (OAU-25)', async () => {
    const { browser } = await signIn('user_both@example.com');
    const consent = await browser.open(authorizationParameters('cli_app'));
    expect(consent.heading).toMatch(/^Allow/);
    expect((await browser.submit(consent, 'Sign out')).heading).toBe('You are signed out');
    expect((await browser.send('GET', '/account/applications')).heading).toBe('Sign in');
  });
});

describe('removing access', () => {
  it('ends every token of the application for that company on all instances, and no other (OAU-47)', async () => {
    const [mine, again, elsewhere] = [
      await obtainTokens(firstInstance, forBuilder('buil_a')),
      await obtainTokens(firstInstance, forBuilder('buil_a')),
      await obtainTokens(firstInstance, forBuilder('buil_b')),
    ];
    const theirs = await obtainTokens(firstInstance, { clientId: 'cli_app', email: 'user_b@example.com' });
    const code = await obtainCode(firstInstance, forBuilder('buil_a'));
    for (const tokens of [mine, again, elsewhere, theirs]) {
      expect([await statusOf(firstInstance, tokens), await statusOf(otherInstance, tokens)]).toEqual([200, 200]);
    }
    const { browser, page } = await signIn('user_a@example.com');
    const after = await remove(browser, page, 'buil_a');
    expect(after.body).toContain('SnapSite no longer has access.');
    expect(after.forms.filter(({ fields }) => fields.builder_id).map(({ fields }) => fields.builder_id)).toEqual([
      'buil_b',
    ]);
    for (const tokens of [mine, again]) expect(await statusOf(firstInstance, tokens)).toBe(401);
    deployment.clock.at += 1000;
    for (const tokens of [mine, again]) {
      expect(await statusOf(otherInstance, tokens)).toBe(401);
      expect((await refreshTokens(otherInstance, flow, tokens.refresh_token)).body.error).toBe('invalid_grant');
    }
    expect((await exchangeCode(otherInstance, flow, code)).body.error).toBe('invalid_grant');
    for (const tokens of [elsewhere, theirs])
      expect([await statusOf(firstInstance, tokens), await statusOf(otherInstance, tokens)]).toEqual([200, 200]);
  });

  it('is recorded once, with the user and the address (ACC-20)', async () => {
    await obtainTokens(firstInstance, { clientId: 'cli_app', email: 'user_b@example.com' });
    const { browser, page } = await signIn('user_b@example.com');
    await remove(browser, page, 'buil_a');
    await remove(browser, page, 'buil_a');
    const find = (action: string) =>
      deployment.databases.au1
        .fork()
        .find(AuditEntry, { action, personId: 'user_b' }, { orderBy: { at: 'asc', id: 'asc' } });
    const revoked = await find('consent.revoked');
    expect(revoked).toEqual([
      expect.objectContaining({
        ...{ actorType: 'USER', actorId: 'user_b', objectId: 'user_b/cli_app/buil_a', builderId: 'buil_a' },
        origin: { address: browser.address, requestId: expect.any(String) },
        valuesAfter: { reason: 'revoked by the user' },
      }),
    ]);
    expect((await find('consent.granted')).at(-1)).toMatchObject({
      actorId: 'user_b',
      valuesAfter: { clientId: 'cli_app' },
    });
  });

  it('needs the CSRF token of the browser and a session, and reaches only the own authorisations (OAU-26)', async () => {
    const tokens = await obtainTokens(firstInstance, forBuilder('buil_b'));
    const { browser: attacker, page } = await signIn('user_b@example.com');
    const { browser, page: own } = await signIn('user_a@example.com');
    // Another user's form, with the fields of user_a.
    const [form] = formFor(own, 'buil_b').forms;
    const csrf = page.forms.at(-1)!.fields.csrf!;
    const body = new URLSearchParams({ ...form!.fields, csrf } as Record<string, string>).toString();
    expect((await attacker.send('POST', '/account/applications', body)).status).toBe(200);
    expect(await statusOf(firstInstance, tokens)).toBe(200);
    for (const [from, fields] of [
      [newBrowser(), form!.fields],
      [browser, { ...form!.fields, csrf: '' }],
      [browser, { ...form!.fields, csrf }],
    ] as const) {
      const response = await from.send('POST', '/account/applications', new URLSearchParams(fields).toString());
      expect(response.status).toBe(403);
    }
    const elsewhere = { ...form!.fields, region: 'us1' };
    expect(
      (await browser.send('POST', '/account/applications', new URLSearchParams(elsewhere).toString())).status,
    ).toBe(400);
    expect(await statusOf(firstInstance, tokens)).toBe(200);
  });

  it('works in the other region too', async () => {
    await addBuilder(deployment, 'buil_u', { region: 'us1' });
    await addUser(deployment, 'user_u', ['buil_u'], { region: 'us1' });
    const usFlow = { clientId: 'cli_us', email: 'user_u@example.com' };
    const tokens = await obtainTokens(firstInstance, usFlow);
    const status = async () =>
      (
        await firstInstance.app.inject({
          url: '/me',
          headers: { authorization: `Bearer ${tokens.access_token}`, 'x-service-region-id': 'us1' },
        })
      ).statusCode;
    expect(await status()).toBe(200);
    const { browser, page } = await signIn('user_u@example.com');
    await remove(browser, page, 'buil_u');
    expect(await status()).toBe(401);
  });
});

describe('a revocation that the client causes', () => {
  it('is recorded with its reason: by itself, a code used twice, a replaced token used later (ACC-20)', async () => {
    const revoke = (token: string) =>
      firstInstance.app.inject({ method: 'POST', url: '/oauth/revoke', payload: { client_id: 'cli_app', token } });
    await revoke((await obtainTokens(firstInstance, forBuilder('buil_b'))).refresh_token);
    const code = await obtainCode(firstInstance, forBuilder('buil_b'));
    await exchangeCode(firstInstance, flow, code);
    await exchangeCode(firstInstance, flow, code);
    const { refresh_token } = await obtainTokens(firstInstance, forBuilder('buil_b'));
    await refreshTokens(firstInstance, flow, refresh_token);
    await backdateRotation(deployment, refresh_token, 61);
    await refreshTokens(firstInstance, flow, refresh_token);
    await postToken(firstInstance.app, { grant_type: 'refresh_token', refresh_token, client_id: 'cli_app' });
    const entries = await deployment.databases.au1
      .fork()
      .find(AuditEntry, { action: 'consent.revoked', actorType: 'CLIENT' }, { orderBy: { at: 'asc', id: 'asc' } });
    const reasons = entries.map(({ valuesAfter }) => valuesAfter!.reason);
    expect(reasons.toSorted()).toEqual([
      'a code was used twice',
      'a replaced refresh token was used',
      'revoked by the client',
    ]);
    expect(new Set(entries.map(({ actorId }) => actorId))).toEqual(new Set(['cli_app']));
  });
});
