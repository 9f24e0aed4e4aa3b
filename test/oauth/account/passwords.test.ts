import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AuditEntry } from '../../../entities/audit-entry.entity.ts';
import { PasswordLink } from '../../../entities/password-link.entity.ts';
import { Session } from '../../../entities/session.entity.ts';
import { User } from '../../../entities/user.entity.ts';
import { inviteUser, resetPassword } from '../../../src/domain/access/password-links.ts';
import { updateUser } from '../../../src/domain/access/users.ts';
import { MailQueue } from '../../../src/mail/mail-queue.ts';
import { createMailer } from '../../../src/mail/mailer.ts';
import { PasswordResets } from '../../../src/oauth/account/password-resets.ts';
import { hashSecret } from '../../../src/shared/secrets.ts';
import { OPERATOR } from '../../support/audit.ts';
import { extractLink, type MailServer, startMailServer } from '../../support/mail-server.ts';
import { Browser } from '../browser.ts';
import { type Instance, startDeployment, type TestDeployment } from '../deployment.ts';
import { addApplication, addBuilder, addUser, authorizationParameters } from '../fixtures.ts';

let mail: MailServer;
let deployment: TestDeployment;
let instance: Instance;
let otherInstance: Instance;

const NEW_PASSWORD = 'a new long password';

beforeAll(async () => {
  mail = await startMailServer();
  deployment = await startDeployment({ SMTP_URL: mail.url, MAIL_FROM: 'Builder Integration <no-reply@example.com>' });
  [instance, otherInstance] = [await deployment.startInstance(), await deployment.startInstance()];
  await addBuilder(deployment, 'buil_a');
  await addApplication(deployment, 'cli_app');
  for (const id of ['user_a', 'user_b', 'user_c', 'user_d', 'user_e', 'user_f', 'user_g', 'user_h', 'user_i'])
    await addUser(deployment, id, ['buil_a']);
  await addUser(deployment, 'user_new', ['buil_a'], { passwordHash: null });
  await addUser(deployment, 'user_off', ['buil_a'], { disabledAt: '2026-01-01T00:00:00.000Z' });
  await addUser(deployment, 'user_staff', [], { staffRole: 'ADMIN' });
  await addUser(deployment, 'user_both', ['buil_a'], { email: 'both@example.com' });
  await addUser(deployment, 'user_us', [], { region: 'us1', email: 'both@example.com' });
});
afterAll(async () => {
  await deployment?.close();
  await mail?.close();
});

let addresses = 0;
const newBrowser = (app = instance.app) => new Browser(app, `198.51.100.${++addresses}`);
const context = () => ({ database: deployment.databases.au1, clock: deployment.clock, source: OPERATOR });
const em = () => deployment.databases.au1.fork();
const entriesOf = (objectId: string) => em().find(AuditEntry, { objectId }, { orderBy: { at: 'asc', id: 'asc' } });

const submitPassword = async (browser: Browser, path: string, password = NEW_PASSWORD, repeated = password) =>
  browser.submit(await browser.send('GET', path), 'Save the password', { password, repeated });
const signIn = async (email: string, password: string) => {
  const browser = newBrowser();
  const page = await browser.signIn(await browser.open(authorizationParameters('cli_app')), email, password);
  return page.heading;
};

describe('the link of an invitation', () => {
  it('opens a page on which the user chooses the first password, once (OAU-43)', async () => {
    const link = await inviteUser(context(), 'user_new@example.com', false);
    const browser = newBrowser();
    const page = await browser.send('GET', link.path);
    expect([page.status, page.heading]).toEqual([200, 'Choose a password']);
    expect(page.body).toContain('user_new@example.com');
    // Opened twice, as by a mail program.
    expect((await newBrowser().send('GET', link.path)).status).toBe(200);
    const saved = await browser.submit(page, 'Save the password', { password: NEW_PASSWORD, repeated: NEW_PASSWORD });
    expect([saved.status, saved.heading]).toEqual([200, 'Your password is saved']);
    const notices = () => mail.messages.filter(({ text }) => text.includes('The password of your account was changed'));
    await expect.poll(() => notices().map(({ to }) => to)).toContainEqual(['user_new@example.com']);
    expect(await signIn('user_new@example.com', NEW_PASSWORD)).toMatch(/^Allow/);
    expect([
      (await browser.send('GET', link.path)).status,
      await submitPassword(browser, link.path).catch(() => null),
    ]).toEqual([404, null]);
    await expect(inviteUser(context(), 'user_new@example.com', false)).rejects.toThrow('has a password already');
  });

  it('stores only the digest of the token (OAU-43, OAU-41)', async () => {
    const { path } = await resetPassword(context(), 'user_a', false);
    const token = new URLSearchParams(path.split('?')[1]).get('token')!;
    expect(await em().count(PasswordLink, { digest: hashSecret(token) })).toBe(1);
    expect(JSON.stringify([await em().find(PasswordLink, {}), await em().find(AuditEntry, {})])).not.toContain(token);
  });
});

describe('choosing a password', () => {
  it('ends all sessions and all other links of the user, and records it (OAU-44)', async () => {
    const [first, second] = [
      await resetPassword(context(), 'user_b', false),
      await resetPassword(context(), 'user_b', false),
    ];
    const signedIn = newBrowser();
    await signedIn.signIn(await signedIn.open(authorizationParameters('cli_app')), 'user_b@example.com');
    await submitPassword(newBrowser(otherInstance.app), first.path);
    expect(await em().count(Session, { userId: 'user_b' })).toBe(0);
    expect((await signedIn.open(authorizationParameters('cli_app'))).heading).toBe('Sign in');
    expect((await newBrowser().send('GET', second.path)).heading).toBe('This link does not work');
    expect(await signIn('user_b@example.com', 'correct horse battery')).toBe('Sign in');
    const entry = (await entriesOf('user_b')).find(({ action }) => action === 'password.set');
    expect(entry).toMatchObject({
      ...{ action: 'password.set', actorType: 'USER', actorId: 'user_b', valuesAfter: { endedSessions: 1 } },
      origin: { address: expect.stringMatching(/^198\.51\.100\./), requestId: expect.any(String) },
    });
  });

  it('succeeds once when two browsers do it at once (OAU-43)', async () => {
    const { path } = await resetPassword(context(), 'user_c', false);
    const browsers = [newBrowser(), newBrowser(otherInstance.app)];
    const pages = await Promise.all(browsers.map((browser) => browser.send('GET', path)));
    const results = await Promise.all(
      browsers.map((browser, index) => {
        const password = `${NEW_PASSWORD} ${index}`;
        return browser.submit(pages[index]!, 'Save the password', { password, repeated: password });
      }),
    );
    expect(results.map(({ status }) => status).toSorted()).toEqual([200, 404]);
  });

  it.each([
    ['short', 'short', 'The password must have at least 12 characters.'],
    ['User_D@Example.com', '', 'The password must not be the name or e-mail address'],
    ['administrator1', '', 'The password must not be one of the most common passwords'],
    ['x'.repeat(201), 'x'.repeat(201), 'The password must have at most 200 characters.'],
    [NEW_PASSWORD, 'another password', 'The two passwords are not the same.'],
  ])('shows the problem and keeps the link: %s', async (password, repeated, problem) => {
    const { path } = await resetPassword(context(), 'user_d', false);
    const browser = newBrowser();
    const page = await submitPassword(browser, path, password, repeated);
    expect([page.status, page.heading]).toEqual([400, 'Choose a password']);
    expect(page.body).toContain(`role="alert" id="problem"><p>${problem}`);
    expect(page.body).not.toContain(password);
    expect((await submitPassword(browser, path)).heading).toBe('Your password is saved');
  });

  it('needs the CSRF token of the browser (OAU-26)', async () => {
    const { path } = await resetPassword(context(), 'user_d', false);
    const page = await newBrowser().send('GET', path);
    const stolen = await newBrowser().submit(page, 'Save the password', {
      password: NEW_PASSWORD,
      repeated: NEW_PASSWORD,
    });
    expect([stolen.status, stolen.heading]).toEqual([403, 'This page has expired']);
    expect((await newBrowser().send('GET', path)).status).toBe(200);
  });
});

describe('a link that cannot be used', () => {
  it('is the same 404 after 24 hours, for a disabled user, after a change of address, and when made up (OAU-43)', async () => {
    const expired = await resetPassword(context(), 'user_e', false);
    deployment.clock.at += 24 * 3_600_000;
    const disabled = await resetPassword(context(), 'user_f', false);
    await em().nativeUpdate(User, { id: 'user_f' }, { disabledAt: '2026-01-01T00:00:00.000Z' });
    const moved = await resetPassword(context(), 'user_g', false);
    await updateUser(context(), 'user_g', { email: 'moved@example.com' });
    const wrongRegion = (await resetPassword(context(), 'user_e', false)).path.replace('au1', 'us1');
    const made = [
      `/account/password?region=au1&token=${'A'.repeat(43)}`,
      '/account/password?region=x&token=y',
      '/account/password',
    ];
    for (const path of [expired.path, disabled.path, moved.path, wrongRegion, ...made]) {
      const page = await newBrowser().send('GET', path);
      expect([page.status, page.heading], path).toEqual([404, 'This link does not work']);
    }
    await expect(resetPassword(context(), 'user_off', false)).rejects.toThrow('is disabled');
  });
});

describe('Forgot your password?', () => {
  const request = async (email: string, browser = newBrowser()) =>
    browser.submit(await browser.send('GET', '/account/forgot-password'), 'Send the link', { email });
  const received = (to: string) => mail.messages.filter((message) => message.to.includes(to));

  it('is offered on the sign-in page, and sends a link that works (OAU-45)', async () => {
    const page = await newBrowser().open(authorizationParameters('cli_app'));
    expect(page.body).toContain('<a href="/account/forgot-password">Forgot your password?</a>');
    const answer = await request(' User_H@example.com');
    expect([answer.status, answer.heading]).toEqual([200, 'Look in your mailbox']);
    await expect.poll(() => received('user_h@example.com')).toHaveLength(1);
    const [message] = received('user_h@example.com');
    expect(message).toMatchObject({ from: 'no-reply@example.com', to: ['user_h@example.com'] });
    expect(message!.source).toContain('Subject: Choose your password for Builder Integration');
    expect((await submitPassword(newBrowser(), extractLink(message!))).heading).toBe('Your password is saved');
    const created = (await entriesOf('user_h')).find(({ action }) => action === 'password_link.created');
    expect(created).toMatchObject({ action: 'password_link.created', actorType: 'USER', actorId: null });
  });

  it('gives the same response, before any look-up, for every address (OAU-45)', async () => {
    const statements: string[] = [];
    const ends = Object.values(instance.databases).map((database) =>
      database.onStatement(({ name }) => statements.push(name)),
    );
    const emails = [
      'user_a@example.com',
      'nobody@example.com',
      'user_off@example.com',
      'user_staff@example.com',
      'x',
      '',
    ];
    const answers = [];
    for (const email of emails) {
      const { status, body } = await request(email);
      answers.push([status, body]);
    }
    for (const end of ends) end();
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(new Set(statements)).toEqual(
      new Set(['limits.lease', 'limits.purge'].filter((name) => statements.includes(name))),
    );
    await expect.poll(() => received('user_a@example.com')).toHaveLength(1);
    // The queue runs in order: what was requested before this message has been decided.
    await request('user_h@example.com');
    await expect.poll(() => received('user_h@example.com')).toHaveLength(2);
    for (const email of emails.slice(1)) expect(received(email)).toEqual([]);
  });

  it('sends a link for the account of each region', async () => {
    await request('both@example.com');
    await expect.poll(() => received('both@example.com')).toHaveLength(2);
    const regions = received('both@example.com').map((message) =>
      new URL(extractLink(message), 'http://x').searchParams.get('region'),
    );
    expect(regions.toSorted()).toEqual(['au1', 'us1']);
  });

  it('sends an account at most three links in an hour, with the same response (OAU-45)', async () => {
    const before = received('user_d@example.com').length;
    await em().nativeDelete(PasswordLink, { userId: 'user_d' });
    const answers = [];
    for (let count = 0; count < 5; count++) answers.push((await request('user_d@example.com')).body);
    await request('user_e@example.com');
    await expect.poll(() => received('user_e@example.com')).toHaveLength(1);
    expect(received('user_d@example.com').length - before).toBe(3);
    expect(new Set(answers).size).toBe(1);
  });

  it('counts no link that was not sent, and deletes it (OAU-45)', async () => {
    const mailer = await createMailer({ url: mail.url, from: 'no-reply@example.com' });
    const queue = new MailQueue(() => undefined, []);
    const { databases, clock, baseUrl } = deployment;
    const resets = new PasswordResets({ databases, clock, baseUrl, mailer, queue });
    const send = async () => {
      resets.add('user_i@example.com', { address: '198.51.100.250', requestId: 'a' });
      await queue.drain();
    };
    mail.isFailing = true;
    for (let count = 0; count < 3; count++) await send();
    mail.isFailing = false;
    expect(await em().count(PasswordLink, { userId: 'user_i' })).toBe(0);
    const actions = (await entriesOf('user_i')).map(({ action }) => action);
    expect(actions.filter((action) => action === 'password_link.deleted')).toHaveLength(3);
    for (let count = 0; count < 4; count++) await send();
    expect(received('user_i@example.com')).toHaveLength(3);
    await em().nativeDelete(PasswordLink, { userId: 'user_i' });
    mail.isFailing = true;
    // After six attempts and these there may be two more in the hour.
    await em().execute(
      `insert into audit_entry select (jsonb_populate_record(e, jsonb_build_object('id', 'aud_earlier' || n))).* from audit_entry e,
        generate_series(1, 12) n where e.id = (select min(id) from audit_entry where object_id = 'user_i' and action = 'password_link.created')`,
    );
    for (let count = 0; count < 4; count++) await send();
    mail.isFailing = false;
    const created = (await entriesOf('user_i')).filter(({ action }) => action === 'password_link.created');
    expect(created).toHaveLength(20);
    mailer.close();
  });

  it('allows a network 20 requests in an hour, on all instances (OAU-45)', async () => {
    const statuses: number[] = [];
    for (let count = 0; count < 24; count++) {
      const browser = new Browser(count % 2 ? instance.app : otherInstance.app, '192.0.2.77');
      statuses.push((await request(`unknown${count}@example.com`, browser)).status);
    }
    const allowed = statuses.filter((status) => status === 200).length;
    expect(allowed).toBeGreaterThanOrEqual(18);
    expect(allowed).toBeLessThanOrEqual(20);
    expect(statuses.at(-1)).toBe(429);
    const again = await request('unknown@example.com', new Browser(instance.app, '192.0.2.77'));
    expect([again.heading, again.headers['retry-after']]).toEqual(['Too many requests', expect.any(String)]);
  });

  it('is not offered without a mail server', async () => {
    const { app } = await deployment.startInstance({ settings: { SMTP_URL: '', MAIL_FROM: '' } });
    expect((await newBrowser(app).open(authorizationParameters('cli_app'))).body).not.toContain('Forgot');
    expect((await newBrowser(app).send('GET', '/account/forgot-password')).status).toBe(401);
  });
});
