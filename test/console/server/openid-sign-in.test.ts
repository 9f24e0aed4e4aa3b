import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AuditEntry } from '../../../entities/audit-entry.entity.ts';
import { User } from '../../../entities/user.entity.ts';
import { updateUser } from '../../../src/domain/access/users.ts';
import { createSession } from '../../../src/oauth/interaction/sessions.ts';
import { newSecret } from '../../../src/shared/secrets.ts';
import type { PageView } from '../../oauth/browser.ts';
import { CHEAP_HASH, PASSWORD } from '../../oauth/fixtures.ts';
import { OPERATOR } from '../../support/audit.ts';
import { addStaff, ConsoleBrowser, signInToConsole } from '../../support/console.ts';
import { type Service, startService } from '../../support/harness.ts';
import { RunningProvider } from '../../support/openid-provider.ts';
import { freePort } from '../../support/ports.ts';
import { withWrongClock } from '../../support/wrong-clock.ts';

const ME = '{ me { id role regions expiresAt } }';

let provider: RunningProvider;
let service: Service;
let settings: Record<string, string>;

beforeAll(async () => {
  provider = new RunningProvider(await freePort(), {
    kim: { email: 'user.kim@operator.example', email_verified: true },
    // Somebody who got Kim's address later.
    successor: { email: 'User.Kim@operator.example', email_verified: true },
    ana: { email: 'user.ana@operator.example', email_verified: true },
    unverified: { email: 'user.unverified@operator.example', email_verified: false },
    folded: { email: 'user.fo\u00df@operator.example', email_verified: true },
    stranger: { email: 'stranger@elsewhere.example', email_verified: true },
    member: { email: 'user.member@operator.example', email_verified: true },
    disabled: { email: 'user.disabled@operator.example', email_verified: true },
  });
  settings = {
    STAFF_OIDC_ISSUER: provider.issuer,
    STAFF_OIDC_CLIENT_ID: 'console',
    STAFF_OIDC_CLIENT_SECRET: 'console secret',
  };
  await provider.start();
  service = await startService(settings);
  await addStaff(service, 'OPERATOR', { id: 'user_kim' });
  await addStaff(service, 'ADMIN', { id: 'user_kim', region: 'us1' });
  for (const name of ['ana', 'foss', 'unverified', 'disabled'])
    await addStaff(service, 'VIEWER', { id: `user_${name}` });
  const em = service.databases.au1.fork();
  await em.nativeUpdate(User, { id: 'user_disabled' }, { disabledAt: new Date(service.clock.now()).toISOString() });
  await addStaff(service, 'VIEWER', { id: 'user_member' });
  await em.nativeUpdate(User, { id: 'user_member' }, { staffRole: null });
});
afterAll(async () => {
  await service.stop();
  provider.end();
});
beforeEach(async () => {
  for (const database of Object.values(service.databases)) {
    await database.fork().nativeUpdate(User, {}, { oidcIssuer: null, oidcSubject: null });
  }
});

/** Opens the sign-in page and goes to the provider. Returns the address there. */
async function goToProvider(browser: ConsoleBrowser, page = '/console/people'): Promise<string> {
  const view = await browser.send('GET', `/console/sign-in?${new URLSearchParams({ return: page })}`);
  const link = /href="(\/console\/sign-in\/openid[^"]*)"/.exec(view.body)![1]!.replaceAll('&amp;', '&');
  const response = await browser.send('GET', link);
  expect(response.status).toBe(303);
  return response.location!;
}

/** Opens the address to which the provider redirected, and follows the page that continues. */
async function comeBack(browser: ConsoleBrowser, url: string): Promise<PageView> {
  const { pathname, search } = new URL(url);
  const view = await browser.send('GET', `${pathname}${search}`);
  expect(view).toMatchObject({ status: 200, heading: 'Signing in' });
  return browser.send('GET', String(view.headers.refresh).replace('0; url=', ''));
}

async function signIn(account: string, browser = new ConsoleBrowser(service.app)) {
  const view = await comeBack(browser, await provider.signIn(await goToProvider(browser), account));
  return { browser, view };
}

async function changeEmail(email: string): Promise<void> {
  for (const database of Object.values(service.databases)) {
    await updateUser({ database, clock: service.clock, source: OPERATOR }, 'user_kim', { email });
  }
}

const findEntries = (action: string) =>
  service.databases.au1.fork().find(AuditEntry, { action } as object, { orderBy: { at: 'asc' } as object });

describe('the sign-in of staff users at an OpenID Connect provider', () => {
  it('signs in to each region in which the person is a staff user, with the role there (CON-19)', async () => {
    const { browser, view } = await signIn('kim');
    expect(view).toMatchObject({ status: 303, location: '/console/people' });
    const regions = ['au1', 'us1'];
    expect((await browser.query(ME)).data.me).toMatchObject({ id: 'user_kim', role: 'OPERATOR', regions });
    const inUs = await browser.query(ME, {}, { 'x-service-region-id': 'us1' });
    expect(inUs.data.me).toMatchObject({ id: 'user_kim', role: 'ADMIN', regions });
  });

  it('binds the identity at the first sign-in, and records that once', async () => {
    const before = (await findEntries('staff.identity_bound')).length;
    await signIn('ana');
    await signIn('ana');
    const entries = await findEntries('staff.identity_bound');
    expect(entries).toHaveLength(before + 1);
    expect(entries.at(-1)).toMatchObject({ objectId: 'user_ana', valuesAfter: { oidcIssuer: provider.issuer } });
    expect(JSON.stringify(entries)).not.toContain('subject');
  });

  it('keeps two staff users apart', async () => {
    const [kim, ana] = [await signIn('kim'), await signIn('ana')];
    expect((await kim.browser.query(ME)).data.me.id).toBe('user_kim');
    expect((await ana.browser.query(ME)).data.me.id).toBe('user_ana');
  });

  it('ends the sessions of the previous user of the browser, in all regions', async () => {
    const { browser } = await signIn('kim');
    await signIn('ana', browser);
    expect((await browser.query(ME)).data.me).toMatchObject({ id: 'user_ana', regions: ['au1'] });
    expect((await browser.query(ME, {}, { 'x-service-region-id': 'us1' })).status).toBe(401);
  });

  it('signs in a bound person whose e-mail address has changed at the provider', async () => {
    await signIn('kim');
    const { email } = provider.accounts.kim!;
    provider.accounts.kim!.email = 'kim.married@operator.example';
    await provider.start();
    const { view } = await signIn('kim');
    provider.accounts.kim!.email = email;
    await provider.start();
    expect(view.status).toBe(303);
  });

  it('signs out of every region', async () => {
    const { browser } = await signIn('kim');
    await browser.query('mutation { signOut }');
    expect((await browser.query(ME)).status).toBe(401);
  });

  it('refuses another identity with the address of a bound staff user, and records it', async () => {
    await signIn('kim');
    const before = (await findEntries('staff.identity_refused')).length;
    const { browser, view } = await signIn('successor');
    expect(view).toMatchObject({ status: 403, heading: 'You have no access to the console' });
    expect((await browser.query(ME)).status).toBe(401);
    expect(await findEntries('staff.identity_refused')).toHaveLength(before + 1);
  });

  it.each([
    ['the same', 'user.kim@operator.example'],
    ['another', 'user.kim.hill@operator.example'],
  ])(
    'refuses it in a region without a binding too, where the user has %s address in the other one',
    async (_, email) => {
      await signIn('kim');
      const [au1, us1] = Object.values(service.databases).map((database) => database.fork());
      await au1!.nativeUpdate(User, { id: 'user_kim' }, { email });
      await us1!.nativeUpdate(User, { id: 'user_kim' }, { oidcIssuer: null, oidcSubject: null });
      const { view } = await signIn('successor');
      await au1!.nativeUpdate(User, { id: 'user_kim' }, { email: 'user.kim@operator.example' });
      expect(view).toMatchObject({ status: 403, heading: 'You have no access to the console' });
      expect(await us1!.find(User, { id: 'user_kim', oidcSubject: { $ne: null } })).toEqual([]);
      const { browser } = await signIn('kim');
      expect((await browser.query(ME)).data.me).toMatchObject({ id: 'user_kim', regions: ['au1', 'us1'] });
    },
  );

  it('unbinds with a change of the e-mail address here, which ends the sessions', async () => {
    const { browser } = await signIn('kim');
    await changeEmail('kim.away@operator.example');
    expect((await browser.query(ME)).status).toBe(401);
    await changeEmail('user.kim@operator.example');
    expect((await signIn('successor')).view.status).toBe(303);
  });

  it.each([
    ['an unverified address', 'unverified', 'has not verified your e-mail address'],
    ['an address of nobody', 'stranger', 'Ask an administrator'],
    ['another address that is compared as equal', 'folded', 'Ask an administrator'],
    ['the address of a user of builders', 'member', 'Ask an administrator'],
    ['a disabled staff user', 'disabled', 'Ask an administrator'],
  ])('refuses %s with a page that says whom to ask', async (_, account, text) => {
    const { browser, view } = await signIn(account);
    expect(view).toMatchObject({ status: 403, body: expect.stringContaining(text) });
    expect((await browser.query(ME)).status).toBe(401);
  });
});

describe('an answer of the provider', () => {
  it('is refused a second time', async () => {
    const browser = new ConsoleBrowser(service.app);
    const answer = await provider.signIn(await goToProvider(browser), 'kim');
    const cookies = new Map(browser.cookies);
    expect((await comeBack(browser, answer)).status).toBe(303);
    for (const [name, value] of cookies) browser.cookies.set(name, value);
    expect(await comeBack(browser, answer)).toMatchObject({ status: 400, heading: 'You are not signed in' });
  });

  it('is refused in another browser, and with another state, nonce or return', async () => {
    const browser = new ConsoleBrowser(service.app);
    const answer = await provider.signIn(await goToProvider(browser), 'kim');
    expect(await comeBack(new ConsoleBrowser(service.app), answer)).toMatchObject({ status: 400 });
    const other = new ConsoleBrowser(service.app);
    await goToProvider(other);
    expect(await comeBack(other, answer)).toMatchObject({ status: 400 });
    const url = new URL(answer);
    const [mac] = url.searchParams.get('state')!.split('.');
    url.searchParams.set('state', `${mac}.${Buffer.from('/console/audit').toString('base64url')}`);
    expect(await comeBack(browser, url.href)).toMatchObject({ status: 400 });
  });

  it('shows a page when the person has cancelled', async () => {
    const browser = new ConsoleBrowser(service.app);
    const state = new URL(await goToProvider(browser)).searchParams.get('state')!;
    const query = new URLSearchParams({ error: 'access_denied', state, iss: provider.issuer });
    const view = await comeBack(browser, `http://localhost/console/sign-in/callback?${query}`);
    expect(view).toMatchObject({ status: 400, heading: 'You are not signed in' });
  });

  it('returns to the console only, whatever page was asked for', async () => {
    const browser = new ConsoleBrowser(service.app);
    const answer = await provider.signIn(await goToProvider(browser, '//evil.example'), 'kim');
    expect((await comeBack(browser, answer)).location).toBe('/console');
  });
});

describe('the provider', () => {
  it('may have a clock that is wrong by 45 seconds, and not by five minutes', async () => {
    for (const [wrongBy, status] of [
      [45_000, 303],
      [-45_000, 303],
      [-300_000, 503],
      [0, 303],
    ] as const) {
      await provider.start(wrongBy);
      expect((await signIn('kim')).view.status).toBe(status);
    }
  });

  it('may sign with a new key, which is read when the known ones are a minute old', async () => {
    await signIn('kim');
    provider.rotateKeys();
    await provider.start(90_000);
    expect((await withWrongClock(90_000, () => signIn('kim'))).view.status).toBe(303);
    await provider.start();
  });

  it('may be down, while passwords open the console', async () => {
    await provider.stop();
    const app = await service.startInstance();
    const view = await new ConsoleBrowser(app).send('GET', '/console/sign-in/openid');
    expect(view).toMatchObject({ status: 503, heading: 'The sign-in service does not answer' });
    const browser = await signInToConsole(app, 'user.ana@operator.example');
    expect((await browser.query(ME)).data.me.id).toBe('user_ana');
    await provider.start();
    expect((await new ConsoleBrowser(app).send('GET', '/console/sign-in/openid')).status).toBe(303);
  });
});

describe('STAFF_PASSWORDS=0 and STAFF_SESSION_HOURS', () => {
  it('opens the console to no password, also not to a session that one began', async () => {
    const strict = await startService({ ...settings, STAFF_PASSWORDS: '0', STAFF_SESSION_HOURS: '2' });
    try {
      const email = await addStaff(strict, 'ADMIN', { id: 'user_kim' });
      const browser = new ConsoleBrowser(strict.app);
      const page = await browser.send('GET', '/console/sign-in');
      expect(page.body).not.toContain('type="password"');
      const fields = new URLSearchParams({ email, password: PASSWORD }).toString();
      expect((await browser.send('POST', '/console/sign-in', fields)).status).toBe(405);
      const secret = newSecret();
      const account = { id: 'user_kim', credential: CHEAP_HASH };
      await createSession(strict.databases.au1, secret, account, strict.clock.now(), 'staff');
      browser.cookies.set('console-au1', secret);
      expect((await browser.query(ME)).status).toBe(401);
      const answer = await provider.signIn(await goToProvider(browser), 'kim');
      const view = await comeBack(browser, answer);
      expect(String(view.headers['set-cookie'])).toMatch(
        /console-au1=[^;]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=7200/,
      );
      const { expiresAt } = (await browser.query(ME)).data.me;
      expect(Date.parse(expiresAt)).toBe(strict.clock.now() + 2 * 3_600_000);
    } finally {
      await strict.stop();
    }
  });
});
