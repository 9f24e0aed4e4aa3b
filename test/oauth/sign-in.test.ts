import argon2 from '@node-rs/argon2';
import pg from 'pg';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { Session } from '../../entities/session.entity.ts';
import { SignInAttempt } from '../../entities/sign-in-attempt.entity.ts';
import { User } from '../../entities/user.entity.ts';
import { hashPassword } from '../../src/domain/access/passwords.ts';
import { disableUser, enableUser } from '../../src/domain/access/users.ts';
import { deriveCsrfToken } from '../../src/oauth/interaction/csrf-token.ts';
import { hashSecret, newSecret } from '../../src/shared/secrets.ts';
import { OPERATOR } from '../support/audit.ts';
import { Browser } from './browser.ts';
import {
  addApplication,
  addBuilder,
  addUser,
  authorizationParameters,
  PASSWORD,
  responseParametersOf,
  toQuery,
} from './fixtures.ts';
import { buildOAuthApp, OAUTH_START, useOAuth } from './service.ts';

const COOKIE = 'session-au1';
const REQUEST = authorizationParameters('cli_app');

/** Addresses from which guesses are made at the same time, each of which has a user. */
const ADDRESSES = Array.from({ length: 12 }, (_, index) => `192.0.2.${index + 1}`);

const service = useOAuth();

beforeAll(async () => {
  await addBuilder(service, 'buil_a');
  for (const id of ['user_a', 'user_b', 'user_c', 'user_busy', 'user_shared', 'user_often', 'user_other', 'user_reset'])
    await addUser(service, id, ['buil_a']);
  // The password of an unknown user is verified at full cost.
  for (const id of ['user_d', 'user_e', 'user_many', 'waiting', ...ADDRESSES]) await addUser(service, id, []);
  await addUser(service, 'user_off', ['buil_a'], { disabledAt: new Date(OAUTH_START).toISOString() });
  await addUser(service, 'user_new', ['buil_a'], { passwordHash: null });
  await addApplication(service, 'cli_app');
});

/** Every browser has its own address, so that throttling does not affect other tests. */
let addresses = 0;
const newBrowser = (address = `198.51.100.${++addresses}`) => new Browser(service.app, address);

async function signIn(email: string, browser = newBrowser()) {
  const view = await browser.signIn(await browser.open(REQUEST), email);
  return { browser, view };
}

const submitPassword = async (browser: Browser, email: string, password: string) =>
  browser.submitWithoutFollowing(await browser.open(REQUEST), 'Sign in', { email, password });

describe('a user signs in', () => {
  test('with e-mail and password, and returns to the authorization request (OAU-25)', async () => {
    const { view } = await signIn('user_a@example.com');
    expect(view.heading).toMatch(/^Allow/);
  });

  test('with spaces and capitals in the e-mail', async () => {
    expect((await signIn('  User_A@Example.COM ')).view.heading).toMatch(/^Allow/);
  });

  test('once for several authorization requests of one browser', async () => {
    const { browser } = await signIn('user_a@example.com');
    expect((await browser.open(REQUEST)).heading).toMatch(/^Allow/);
  });

  test('for 12 hours at most (OAU-25)', async () => {
    const { browser } = await signIn('user_a@example.com');
    service.clock.at = OAUTH_START + 12 * 3_600_000 - 1;
    expect((await browser.open(REQUEST)).heading).toMatch(/^Allow/);
    service.clock.at = OAUTH_START + 12 * 3_600_000;
    expect((await browser.open(REQUEST)).heading).toBe('Sign in');
    service.clock.at = OAUTH_START;
  });

  test('until the user is disabled or the password is changed (OAU-25)', async () => {
    const em = service.databases.au1.fork();
    const { browser } = await signIn('user_b@example.com');
    const context = { database: service.databases.au1, clock: service.clock, source: OPERATOR };
    await disableUser(context, 'user_b');
    expect((await browser.open(REQUEST)).heading).toBe('Sign in');
    await enableUser(context, 'user_b');
    expect((await browser.open(REQUEST)).heading).toBe('Sign in');
    expect((await signIn('user_b@example.com', browser)).view.heading).toMatch(/^Allow/);
    await em.nativeUpdate(User, { id: 'user_b' }, { passwordHash: await hashPassword('another password') });
    expect((await browser.open(REQUEST)).heading).toBe('Sign in');
  });

  test('and out, after which the cookie is invalid', async () => {
    const { browser, view } = await signIn('user_a@example.com');
    const before = browser.cookies.get(COOKIE)!;
    const left = await browser.submit(view, 'Sign out');
    expect(left.heading).toBe('You are signed out');
    expect(left.body).toContain('/oauth/authorize?');
    browser.cookies.set(COOKIE, before);
    expect((await browser.open(REQUEST)).heading).toBe('Sign in');
  });

  test('or cancels, which redirects with access_denied', async () => {
    const browser = newBrowser();
    const view = await browser.submit(await browser.open(REQUEST), 'Cancel');
    expect(view.status).toBe(303);
    expect(responseParametersOf(view.location!)).toMatchObject({ error: 'access_denied', state: REQUEST.state });
  });
});

describe('the cookie', () => {
  test('is HttpOnly, SameSite=Lax and a session cookie (OAU-25)', async () => {
    const view = await newBrowser().open(REQUEST);
    expect(view.headers['set-cookie']).toMatch(/^session-au1=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/);
  });

  test('is Secure with the __Host- prefix under HTTPS (OAU-25)', async () => {
    const app = await buildOAuthApp(service.databases, service, undefined, 'https://api.example');
    const browser = new Browser(app);
    const view = await browser.open(REQUEST);
    expect(view.headers['set-cookie']).toMatch(
      /^__Host-session-au1=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    );
    expect((await browser.signIn(view, 'user_a@example.com')).heading).toMatch(/^Allow/);
    // The name without prefix is not accepted there.
    const plain = new Browser(app);
    plain.cookies.set(COOKIE, browser.cookies.get(`__Host-${COOKIE}`)!);
    expect((await plain.open(REQUEST)).heading).toBe('Sign in');
    await app.close();
  });

  test('is stored as a digest (OAU-41)', async () => {
    const { browser } = await signIn('user_a@example.com');
    const id = browser.cookies.get(COOKIE)!;
    const em = service.databases.au1.fork();
    expect(await em.findOne(Session, { digest: hashSecret(id) })).toMatchObject({ userId: 'user_a' });
    expect(await em.findOne(Session, { digest: id })).toBeNull();
  });

  test('is replaced at sign-in, against session fixation', async () => {
    const planted = newSecret();
    const victim = newBrowser();
    victim.cookies.set(COOKIE, planted);
    await signIn('user_a@example.com', victim);
    expect(victim.cookies.get(COOKIE)).not.toBe(planted);
    const attacker = newBrowser();
    attacker.cookies.set(COOKIE, planted);
    expect((await attacker.open(REQUEST)).heading).toBe('Sign in');
  });

  test('of an earlier session is invalid after another user signs in in the same browser', async () => {
    const { browser } = await signIn('user_a@example.com');
    const first = browser.cookies.get(COOKIE)!;
    const page = await newBrowser().open(REQUEST);
    const form = {
      ...page.forms.find(({ action }) => action.includes('sign-in'))!.fields,
      csrf: deriveCsrfToken(first),
    };
    const body = toQuery({ ...form, email: 'user_c@example.com', password: PASSWORD });
    await browser.send('POST', `/oauth/sign-in?${toQuery(REQUEST)}`, body);
    expect(browser.cookies.get(COOKIE)).not.toBe(first);
    expect(await service.databases.au1.fork().findOne(Session, { digest: hashSecret(first) })).toBeNull();
  });

  test.each(['', 'a', 'a'.repeat(42), `${'a'.repeat(42)}%`, `${newSecret()}; session-au1=x`])(
    'is ignored when it is "%s"',
    async (text) => {
      const browser = newBrowser();
      browser.cookies.set(COOKIE, text);
      expect((await browser.open(REQUEST)).heading).toBe('Sign in');
    },
  );
});

describe('a form without a valid CSRF token gets 403 and changes nothing (OAU-26)', () => {
  const send = async (path: string, fields: Record<string, string>, browser: Browser) => {
    const view = await browser.send('POST', `${path}?${toQuery(REQUEST)}`, toQuery(fields));
    expect([view.status, view.heading, view.location]).toEqual([403, 'This page has expired', null]);
    return view;
  };

  test.each(['missing', 'empty', "another browser's"])('%s', async (kind) => {
    const { browser } = await signIn('user_a@example.com');
    const stranger = deriveCsrfToken(newSecret());
    const csrf: Record<string, string> = kind === 'missing' ? {} : { csrf: kind === 'empty' ? '' : stranger };
    await send('/oauth/authorize', { ...csrf, action: 'allow', builder_id: 'buil_a' }, browser);
    await send('/oauth/authorize', { ...csrf, action: 'deny' }, browser);
    await send('/oauth/sign-in', { ...csrf, email: 'user_a@example.com', password: PASSWORD }, browser);
    const view = await send('/oauth/sign-out', csrf, browser);
    expect(view.body).toContain('Try again');
    expect((await browser.open(REQUEST)).heading).toMatch(/^Allow/);
  });

  test('from a browser without a cookie', async () => {
    await send(
      '/oauth/sign-in',
      { csrf: deriveCsrfToken(''), email: 'user_a@example.com', password: PASSWORD },
      newBrowser(),
    );
  });

  test.each([
    ['JSON', 'application/json', '{"csrf":"a"}'],
    ['multipart', 'multipart/form-data; boundary=a', '--a--'],
    ['text', 'text/plain', 'csrf=a'],
  ])('%s instead of a form gets 400', async (_name, type, body) => {
    const { browser } = await signIn('user_a@example.com');
    const view = await browser.send('POST', `/oauth/authorize?${toQuery(REQUEST)}`, body, { 'content-type': type });
    expect([view.status, view.location]).toEqual([400, null]);
  });

  test('a repeated field gets 400', async () => {
    const { browser } = await signIn('user_a@example.com');
    const csrf = deriveCsrfToken(browser.cookies.get(COOKIE)!);
    const body = `csrf=${csrf}&action=deny&action=allow&builder_id=buil_a`;
    const view = await browser.send('POST', `/oauth/authorize?${toQuery(REQUEST)}`, body);
    expect([view.status, view.location]).toEqual([400, null]);
  });
});

describe('a failed sign-in', () => {
  const CASES = [
    ['an unknown user', 'nobody@example.com', PASSWORD],
    ['a wrong password', 'user_c@example.com', 'wrong'],
    ['a disabled user', 'user_off@example.com', PASSWORD],
    ['a user without a password', 'user_new@example.com', ''],
    ['a password that is far too long', 'user_c@example.com', PASSWORD.repeat(100)],
  ] as const;

  test('costs the same work and gives the same response whatever the reason: one hash (OAU-28)', async () => {
    const verify = vi.spyOn(argon2, 'verify');
    const runs = [];
    for (const [name, email, password] of CASES) {
      verify.mockClear();
      const statements: string[] = [];
      const end = service.databases.au1.onStatement((statement) => statements.push(statement.name));
      const browser = newBrowser();
      const view = await submitPassword(browser, email, password);
      end();
      const text = view.body
        .replaceAll(email, 'EMAIL')
        .replaceAll(deriveCsrfToken(browser.cookies.get(COOKIE)!), 'CSRF');
      runs.push({ name, hashes: verify.mock.calls.length, status: view.status, statements, text });
    }
    verify.mockRestore();
    const [{ name: _, ...first }] = runs as [(typeof runs)[0]];
    expect(first).toMatchObject({ hashes: 1, status: 400 });
    expect(first.text).toContain('The e-mail or the password is not right.');
    for (const { name, ...run } of runs) expect(run, name).toEqual(first);
  });

  test('keeps the e-mail in the form, but not the password', async () => {
    const view = await submitPassword(newBrowser(), '"><b>@example.com', 'a-secret-word');
    expect(view.body).toContain('&quot;&gt;&lt;b&gt;@example.com');
    expect(view.body).not.toContain('a-secret-word');
  });
});

describe('repeated failures', () => {
  const guess = (browser: Browser, email: string) => submitPassword(browser, email, 'wrong');
  /** Returns a function that submits the form of one page again and again. */
  const openForm = async (browser: Browser) => {
    const page = await browser.open(REQUEST);
    return (email: string, password = 'wrong') => browser.submitWithoutFollowing(page, 'Sign in', { email, password });
  };

  test('are throttled from the eleventh, with growing delays (OAU-27)', async () => {
    const attacker = newBrowser();
    const attempt = await openForm(attacker);
    for (let count = 0; count < 10; count++) expect((await attempt('user_busy@example.com')).status).toBe(400);
    const waits: number[] = [];
    for (let round = 0; round < 12; round++) {
      const view = await attempt('user_busy@example.com', PASSWORD);
      expect([view.status, view.location]).toEqual([429, null]);
      const seconds = Number(view.headers['retry-after']);
      waits.push(seconds);
      service.clock.at += seconds * 1000 - 1;
      expect((await attempt('user_busy@example.com')).status).toBe(429);
      service.clock.at += 1;
      expect((await attempt('user_busy@example.com')).status).toBe(400);
    }
    expect(waits).toEqual([30, 30, 30, 30, 30, 32, 64, 128, 256, 512, 900, 900]);
    // The owner can still sign in from another address, after at most 30 seconds.
    const owner = newBrowser();
    const delayed = await submitPassword(owner, 'user_busy@example.com', PASSWORD);
    expect([delayed.status, delayed.headers['retry-after']]).toEqual([429, '30']);
    service.clock.at += 30_000;
    expect((await signIn('user_busy@example.com', owner)).view.heading).toMatch(/^Allow/);
    // And from this address after the delay.
    service.clock.at += 900_000;
    expect((await signIn('user_busy@example.com', attacker)).view.heading).toMatch(/^Allow/);
    service.clock.at = OAUTH_START;
  });

  test('for many accounts from one address throttle the address for every account (OAU-27)', async () => {
    const attempt = await openForm(newBrowser());
    for (let count = 0; count < 10; count++) expect((await attempt(`nobody${count}@example.com`)).status).toBe(400);
    const view = await attempt('user_c@example.com', PASSWORD);
    expect(view.status).toBe(429);
    expect((await signIn('user_c@example.com')).view.heading).toMatch(/^Allow/);
  });

  test('from one IPv6 /64 network are counted together', async () => {
    const from = (host: string) => newBrowser(`2001:db8:0:7::${host}`);
    for (let count = 0; count < 10; count++) await guess(from((count + 1).toString(16)), 'user_d@example.com');
    expect((await guess(from('ffff:1'), 'user_d@example.com')).status).toBe(429);
    expect((await guess(newBrowser('2001:db8:0:8::1'), 'user_e@example.com')).status).toBe(400);
    expect((await guess(newBrowser('::ffff:198.51.100.250'), 'user_e@example.com')).status).toBe(400);
  });

  test('for one account from many addresses delay all but a browser that has signed in before (OAU-27)', async () => {
    const { browser: known } = await signIn('user_shared@example.com');
    const forgetSession = () => known.cookies.delete('session-au1') && known.cookies.delete('session-us1');
    forgetSession();
    const browsers = Array.from({ length: 15 }, () => newBrowser());
    const statuses = await Promise.all(
      browsers.map(async (browser) => (await guess(browser, 'user_shared@example.com')).status),
    );
    expect(statuses.filter((status) => status === 400)).toHaveLength(10);
    const owner = newBrowser();
    const delayed = await submitPassword(owner, 'user_shared@example.com', PASSWORD);
    expect([delayed.status, delayed.headers['retry-after']]).toEqual([429, '30']);
    // The others try again, and do not make the owner wait longer.
    service.clock.at += 29_000;
    await Promise.all(browsers.map((browser) => guess(browser, 'user_shared@example.com')));
    expect((await submitPassword(owner, 'user_shared@example.com', PASSWORD)).headers['retry-after']).toBe('1');
    expect((await signIn('user_shared@example.com', known)).view.heading).toMatch(/^Allow/);
    service.clock.at += 1_000;
    expect((await signIn('user_shared@example.com', owner)).view.heading).toMatch(/^Allow/);
    // The cookie of one account is of no use for another.
    forgetSession();
    for (let count = 0; count < 11; count++) await guess(newBrowser(), 'user_other@example.com');
    expect((await guess(known, 'user_other@example.com')).status).toBe(429);
    service.clock.at = OAUTH_START;
  });

  test('for one account from many addresses count, however often a browser that has signed in before does so again (OAU-27)', async () => {
    const email = 'user_often@example.com';
    const { browser: known } = await signIn(email);
    for (let count = 0; count < 10; count++) expect((await guess(newBrowser(), email)).status).toBe(400);
    for (let count = 0; count < 3; count++) {
      known.cookies.delete('session-au1');
      known.cookies.delete('session-us1');
      expect((await signIn(email, known)).view.heading).toMatch(/^Allow/);
    }
    expect((await guess(newBrowser(), email)).status).toBe(429);
  });

  test('for one account from many addresses are checked once in 30 seconds each, whatever browsers and failures they had (OAU-27)', async () => {
    const email = 'user_many@example.com';
    const checkAll = async (perAddress: number) => {
      const attempts = ADDRESSES.flatMap((address) => Array.from({ length: perAddress }, () => newBrowser(address)));
      const statuses = await Promise.all(attempts.map(async (browser) => (await guess(browser, email)).status));
      return statuses.filter((status) => status === 400).length;
    };
    // The first address has failed ten times for this account, the others for one of their own.
    for (const address of ADDRESSES.slice(1)) await guess(newBrowser(address), `${address}@example.com`);
    const attempt = await openForm(newBrowser(ADDRESSES[0]));
    for (let count = 0; count < 10; count++) await attempt(email);
    expect(await checkAll(1)).toBe(0);
    service.clock.at += 29_000;
    expect(await checkAll(2)).toBe(0);
    // New browsers of the same addresses have neither waited nor a right to several guesses.
    service.clock.at += 1_000;
    expect(await checkAll(3)).toBe(ADDRESSES.length);
    expect(await checkAll(1)).toBe(0);
    const keys = await service.databases.au1.fork().count(SignInAttempt, { failures: { $lte: 1 } });
    await checkAll(2);
    expect(await service.databases.au1.fork().count(SignInAttempt, { failures: { $lte: 1 } })).toBe(keys);
    service.clock.at = OAUTH_START;
  });

  test('of an address that is delayed for all accounts add no rows', async () => {
    const attempt = await openForm(newBrowser());
    for (let count = 0; count < 10; count++) await attempt(`absent${count}@example.com`);
    const count = () => service.databases.au1.fork().count(SignInAttempt, {});
    const rows = await count();
    expect((await attempt('another-absent@example.com')).status).toBe(429);
    expect(await count()).toBe(rows);
  });

  test('at the same time are limited to ten password checks', async () => {
    const attacker = newBrowser();
    const page = await attacker.open(REQUEST);
    const attempts = Array.from({ length: 25 }, () =>
      attacker.submitWithoutFollowing(page, 'Sign in', { email: 'parallel@example.com', password: 'wrong' }),
    );
    const statuses = (await Promise.all(attempts)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 400)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(15);
  });

  test('at the same time from one address occupy one connection to the database', async () => {
    const { url } = service.databases.au1;
    const admin = new pg.Client({ connectionString: url });
    await admin.connect();
    const attacker = newBrowser();
    const page = await attacker.open(REQUEST);
    await admin.query('begin; lock table oauth_sign_in_attempt in exclusive mode');
    const attempts = Array.from({ length: 40 }, () =>
      attacker.submitWithoutFollowing(page, 'Sign in', { email: 'waiting@example.com', password: 'wrong' }),
    );
    const countWaiting = async () => {
      const { rows } = await admin.query(
        `select count(*)::int as waiting from pg_locks where relation = 'oauth_sign_in_attempt'::regclass and not granted`,
      );
      return rows[0].waiting;
    };
    await expect.poll(countWaiting).toBeGreaterThan(0);
    // The other attempts have had time to take connections, of which others need one.
    for (let count = 0; count < 5; count++) await newBrowser().open(REQUEST);
    expect(await countWaiting()).toBe(1);
    expect(await service.databases.au1.transaction((em) => em.execute('select 1 as one'))).toEqual([{ one: 1 }]);
    await admin.query('rollback');
    const statuses = (await Promise.all(attempts)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 400)).toHaveLength(10);
    await admin.end();
  });

  test('are reset by a successful sign-in, and after an hour (OAU-27)', async () => {
    const browser = newBrowser();
    for (let count = 0; count < 9; count++) await guess(browser, 'user_reset@example.com');
    const { browser: same } = await signIn('user_reset@example.com', browser);
    same.cookies.clear();
    const attempt = await openForm(same);
    expect((await attempt('user_reset@example.com')).status).toBe(400);
    service.clock.at += 3_600_000;
    for (let count = 0; count < 10; count++) expect((await attempt('user_reset@example.com')).status).toBe(400);
    service.clock.at = OAUTH_START;
  });

  test('are counted by digests of address and account', async () => {
    const rows = await service.databases.au1.fork().find(SignInAttempt, {});
    expect(rows.length).toBeGreaterThan(0);
    for (const { key } of rows) expect(key).toMatch(/^[0-9a-f]{64}$/);
  });
});
