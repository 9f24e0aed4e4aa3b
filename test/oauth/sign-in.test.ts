import argon2 from '@node-rs/argon2';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Session } from '../../entities/session.entity.ts';
import { SignInAttempt } from '../../entities/sign-in-attempt.entity.ts';
import { User } from '../../entities/user.entity.ts';
import { csrfTokenOf } from '../../src/oauth/interaction/browser.ts';
import { hashPassword } from '../../src/shared/passwords.ts';
import { digestOf, newSecret } from '../../src/shared/secrets.ts';
import { Browser } from './browser.ts';
import { addApplication, addBuilder, addUser, answerIn, authorization, PASSWORD, queryOf } from './people.ts';
import { buildApp, type OAuthService, START, startOAuth } from './service.ts';

const COOKIE = 'session-au1';
const REQUEST = authorization('cli_app');

let service: OAuthService;

beforeAll(async () => {
  service = await startOAuth();
  await addBuilder(service, 'buil_a');
  for (const id of ['user_a', 'user_b', 'user_c', 'user_busy']) await addUser(service, id, ['buil_a']);
  await addUser(service, 'user_off', ['buil_a'], { disabledAt: new Date(START).toISOString() });
  await addUser(service, 'user_new', ['buil_a'], { passwordHash: null });
  await addApplication(service, 'cli_app');
});
afterAll(() => service?.close());

/** Each test comes from an address of its own, so that none slows another down. */
let addresses = 0;
const visitor = (address = `198.51.100.${++addresses}`) => new Browser(service.app, address);

async function signedIn(email: string, browser = visitor()) {
  const view = await browser.signIn(await browser.open(REQUEST), email);
  return { browser, view };
}

const tryPassword = async (browser: Browser, email: string, password: string) =>
  browser.pressOnly(await browser.open(REQUEST), 'Sign in', { email, password });

describe('a user signs in', () => {
  test('with e-mail and password, and goes on where they were (OAU-25)', async () => {
    const { view } = await signedIn('user_a@example.com');
    expect(view.heading).toMatch(/^Allow/);
  });

  test('with the e-mail as people type it', async () => {
    expect((await signedIn('  User_A@Example.COM ')).view.heading).toMatch(/^Allow/);
  });

  test('once for several requests of one browser, and consents to each', async () => {
    const { browser } = await signedIn('user_a@example.com');
    expect((await browser.open(REQUEST)).heading).toMatch(/^Allow/);
  });

  test('for 12 hours at most (OAU-25)', async () => {
    const { browser } = await signedIn('user_a@example.com');
    service.clock.at = START + 12 * 3_600_000 - 1;
    expect((await browser.open(REQUEST)).heading).toMatch(/^Allow/);
    service.clock.at = START + 12 * 3_600_000;
    expect((await browser.open(REQUEST)).heading).toBe('Sign in');
    service.clock.at = START;
  });

  test('and is out again once disabled, or once the password is another (OAU-25)', async () => {
    const em = service.databases.au1.fork();
    const { browser } = await signedIn('user_b@example.com');
    await em.nativeUpdate(User, { id: 'user_b' }, { disabledAt: new Date(START).toISOString() });
    expect((await browser.open(REQUEST)).heading).toBe('Sign in');
    await em.nativeUpdate(User, { id: 'user_b' }, { disabledAt: null });
    expect((await browser.open(REQUEST)).heading).toMatch(/^Allow/);
    await em.nativeUpdate(User, { id: 'user_b' }, { passwordHash: await hashPassword('another password') });
    expect((await browser.open(REQUEST)).heading).toBe('Sign in');
  });

  test('and out, which leaves nothing that could be used again', async () => {
    const { browser, view } = await signedIn('user_a@example.com');
    const before = browser.cookies.get(COOKIE)!;
    const left = await browser.press(view, 'Sign out');
    expect(left.heading).toBe('You are signed out');
    expect(left.body).toContain('/oauth/authorize?');
    browser.cookies.set(COOKIE, before);
    expect((await browser.open(REQUEST)).heading).toBe('Sign in');
  });

  test('or not at all, which the application is told', async () => {
    const browser = visitor();
    const view = await browser.press(await browser.open(REQUEST), 'Cancel');
    expect(view.status).toBe(303);
    expect(answerIn(view.location!)).toMatchObject({ error: 'access_denied', state: REQUEST.state });
  });
});

describe('the cookie', () => {
  test('is out of reach of scripts and other sites, and ends with the browser (OAU-25)', async () => {
    const view = await visitor().open(REQUEST);
    expect(view.headers['set-cookie']).toMatch(/^session-au1=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/);
  });

  test('is secure under HTTPS, and no neighbouring host can set it (OAU-25)', async () => {
    const app = await buildApp(service.databases, service, undefined, undefined, 'https://api.example');
    const browser = new Browser(app);
    const view = await browser.open(REQUEST);
    expect(view.headers['set-cookie']).toMatch(
      /^__Host-session-au1=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
    );
    expect((await browser.signIn(view, 'user_a@example.com')).heading).toMatch(/^Allow/);
    // The plain name is not taken there.
    const plain = new Browser(app);
    plain.cookies.set(COOKIE, browser.cookies.get(`__Host-${COOKIE}`)!);
    expect((await plain.open(REQUEST)).heading).toBe('Sign in');
    await app.close();
  });

  test('is stored as a digest (OAU-41)', async () => {
    const { browser } = await signedIn('user_a@example.com');
    const id = browser.cookies.get(COOKIE)!;
    const em = service.databases.au1.fork();
    expect(await em.findOne(Session, { digest: digestOf(id) })).toMatchObject({ userId: 'user_a' });
    expect(await em.findOne(Session, { digest: id })).toBeNull();
  });

  test('is a new one after signing in, so that a planted one is worth nothing', async () => {
    const planted = newSecret();
    const victim = visitor();
    victim.cookies.set(COOKIE, planted);
    await signedIn('user_a@example.com', victim);
    expect(victim.cookies.get(COOKIE)).not.toBe(planted);
    const attacker = visitor();
    attacker.cookies.set(COOKIE, planted);
    expect((await attacker.open(REQUEST)).heading).toBe('Sign in');
  });

  test('of an earlier session ends when somebody else signs in in the same browser', async () => {
    const { browser } = await signedIn('user_a@example.com');
    const first = browser.cookies.get(COOKIE)!;
    const page = await visitor().open(REQUEST);
    const form = { ...page.forms.find(({ action }) => action.includes('sign-in'))!.fields, csrf: csrfTokenOf(first) };
    const body = queryOf({ ...form, email: 'user_c@example.com', password: PASSWORD });
    await browser.send('POST', `/oauth/sign-in?${queryOf(REQUEST)}`, body);
    expect(browser.cookies.get(COOKIE)).not.toBe(first);
    expect(await service.databases.au1.fork().findOne(Session, { digest: digestOf(first) })).toBeNull();
  });

  test.each(['', 'a', 'a'.repeat(42), `${'a'.repeat(42)}%`, `${newSecret()}; session-au1=x`])(
    'may be "%s"',
    async (text) => {
      const browser = visitor();
      browser.cookies.set(COOKIE, text);
      expect((await browser.open(REQUEST)).heading).toBe('Sign in');
    },
  );
});

describe('a form without its token is refused, and nothing happens (OAU-26)', () => {
  const send = async (path: string, fields: Record<string, string>, browser: Browser) => {
    const view = await browser.send('POST', `${path}?${queryOf(REQUEST)}`, queryOf(fields));
    expect([view.status, view.heading, view.location]).toEqual([403, 'This page has expired', null]);
    return view;
  };

  test.each(['missing', 'empty', "another browser's"])('%s', async (kind) => {
    const { browser } = await signedIn('user_a@example.com');
    const stranger = csrfTokenOf(newSecret());
    const csrf: Record<string, string> = kind === 'missing' ? {} : { csrf: kind === 'empty' ? '' : stranger };
    await send('/oauth/authorize', { ...csrf, action: 'allow', builder_id: 'buil_a' }, browser);
    await send('/oauth/authorize', { ...csrf, action: 'deny' }, browser);
    await send('/oauth/sign-in', { ...csrf, email: 'user_a@example.com', password: PASSWORD }, browser);
    const view = await send('/oauth/sign-out', csrf, browser);
    expect(view.body).toContain('Try again');
    expect((await browser.open(REQUEST)).heading).toMatch(/^Allow/);
  });

  test('of a browser without a cookie', async () => {
    await send('/oauth/sign-in', { csrf: csrfTokenOf(''), email: 'user_a@example.com', password: PASSWORD }, visitor());
  });

  test.each([
    ['JSON', 'application/json', '{"csrf":"a"}'],
    ['multipart', 'multipart/form-data; boundary=a', '--a--'],
    ['text', 'text/plain', 'csrf=a'],
  ])('and so is %s', async (_name, type, body) => {
    const { browser } = await signedIn('user_a@example.com');
    const view = await browser.send('POST', `/oauth/authorize?${queryOf(REQUEST)}`, body, { 'content-type': type });
    expect([view.status, view.location]).toEqual([400, null]);
  });

  test('and one with a field twice', async () => {
    const { browser } = await signedIn('user_a@example.com');
    const csrf = csrfTokenOf(browser.cookies.get(COOKIE)!);
    const body = `csrf=${csrf}&action=deny&action=allow&builder_id=buil_a`;
    const view = await browser.send('POST', `/oauth/authorize?${queryOf(REQUEST)}`, body);
    expect([view.status, view.location]).toEqual([400, null]);
  });
});

describe('a wrong sign-in', () => {
  const CASES = [
    ['an unknown user', 'nobody@example.com', PASSWORD],
    ['a wrong password', 'user_c@example.com', 'wrong'],
    ['a disabled user', 'user_off@example.com', PASSWORD],
    ['a user without a password', 'user_new@example.com', ''],
    ['a password that is far too long', 'user_c@example.com', PASSWORD.repeat(100)],
  ] as const;

  test('does the same work and says the same, whatever is wrong: one hash each (OAU-28)', async () => {
    const verify = vi.spyOn(argon2, 'verify');
    const runs = [];
    for (const [name, email, password] of CASES) {
      verify.mockClear();
      const statements: string[] = [];
      const end = service.databases.au1.onStatement((statement) => statements.push(statement.name));
      const browser = visitor();
      const view = await tryPassword(browser, email, password);
      end();
      const text = view.body.replaceAll(email, 'EMAIL').replaceAll(csrfTokenOf(browser.cookies.get(COOKIE)!), 'CSRF');
      runs.push({ name, hashes: verify.mock.calls.length, status: view.status, statements, text });
    }
    verify.mockRestore();
    const [{ name: _, ...first }] = runs as [(typeof runs)[0]];
    expect(first).toMatchObject({ hashes: 1, status: 400 });
    expect(first.text).toContain('The e-mail or the password is not right.');
    for (const { name, ...run } of runs) expect(run, name).toEqual(first);
  });

  test('keeps what was typed but the password', async () => {
    const view = await tryPassword(visitor(), '"><b>@example.com', 'a-secret-word');
    expect(view.body).toContain('&quot;&gt;&lt;b&gt;@example.com');
    expect(view.body).not.toContain('a-secret-word');
  });
});

describe('guessing', () => {
  const guess = (browser: Browser, email: string) => tryPassword(browser, email, 'wrong');

  test('is slowed down after ten failures, longer each time, and ends nowhere (OAU-27)', async () => {
    const attacker = visitor();
    for (let count = 0; count < 10; count++) expect((await guess(attacker, 'user_busy@example.com')).status).toBe(400);
    const waits: number[] = [];
    for (let round = 0; round < 12; round++) {
      const view = await tryPassword(attacker, 'user_busy@example.com', PASSWORD);
      expect([view.status, view.location]).toEqual([429, null]);
      const seconds = Number(view.headers['retry-after']);
      waits.push(seconds);
      service.clock.at += seconds * 1000 - 1;
      expect((await guess(attacker, 'user_busy@example.com')).status).toBe(429);
      service.clock.at += 1;
      expect((await guess(attacker, 'user_busy@example.com')).status).toBe(400);
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
    // The owner, elsewhere, notices nothing of it, and the right password still opens the door.
    expect((await signedIn('user_busy@example.com')).view.heading).toMatch(/^Allow/);
    // Nor does the wait last.
    service.clock.at += 900_000;
    expect((await signedIn('user_busy@example.com', attacker)).view.heading).toMatch(/^Allow/);
    service.clock.at = START;
  });

  test('many accounts from one address slows the address down for every account (OAU-27)', async () => {
    const attacker = visitor();
    for (let count = 0; count < 10; count++)
      expect((await guess(attacker, `nobody${count}@example.com`)).status).toBe(400);
    const view = await tryPassword(attacker, 'user_c@example.com', PASSWORD);
    expect(view.status).toBe(429);
    expect((await signedIn('user_c@example.com')).view.heading).toMatch(/^Allow/);
  });

  test('from all over one IPv6 network is guessing from one address', async () => {
    const from = (host: string) => visitor(`2001:db8:0:7::${host}`);
    for (let count = 0; count < 10; count++) await guess(from((count + 1).toString(16)), 'user_c@example.com');
    expect((await guess(from('ffff:1'), 'user_c@example.com')).status).toBe(429);
    expect((await guess(visitor('2001:db8:0:8::1'), 'user_c@example.com')).status).toBe(400);
    expect((await guess(visitor('::ffff:198.51.100.250'), 'user_c@example.com')).status).toBe(400);
  });

  test('at once gains nothing: ten are looked at', async () => {
    const attacker = visitor();
    const page = await attacker.open(REQUEST);
    const attempts = Array.from({ length: 25 }, () =>
      attacker.pressOnly(page, 'Sign in', { email: 'user_c@example.com', password: 'wrong' }),
    );
    const statuses = (await Promise.all(attempts)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 400)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(15);
  });

  test('is forgotten with the right password, and after an hour (OAU-27)', async () => {
    const browser = visitor();
    for (let count = 0; count < 9; count++) await guess(browser, 'user_c@example.com');
    const { browser: same } = await signedIn('user_c@example.com', browser);
    same.cookies.clear();
    for (let count = 0; count < 1; count++) expect((await guess(same, 'user_c@example.com')).status).toBe(400);
    service.clock.at += 3_600_000;
    for (let count = 0; count < 10; count++) expect((await guess(same, 'user_c@example.com')).status).toBe(400);
    service.clock.at = START;
  });

  test('is counted without a list of who was tried, or from where', async () => {
    const rows = await service.databases.au1.fork().find(SignInAttempt, {});
    expect(rows.length).toBeGreaterThan(0);
    for (const { key } of rows) expect(key).toMatch(/^[0-9a-f]{64}$/);
  });
});
