import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { hashSecret, newSecret } from '../../src/shared/secrets.ts';
import { readAllRows } from '../support/all-rows.ts';
import { startMailServer } from '../support/mail-server.ts';
import { Browser } from './browser.ts';
import { exchangeCode, refreshTokens } from './code-flow.ts';
import { startDeployment, type TestDeployment } from './deployment.ts';
import {
  addApplication,
  addBuilder,
  addUser,
  authorizationParameters,
  PASSWORD,
  responseParametersOf,
  VERIFIER,
} from './fixtures.ts';

const secret = newSecret();
const flow = { clientId: 'cli_server', secret };

let deployment: TestDeployment;

beforeAll(async () => {
  deployment = await startDeployment({ LOG_LEVEL: 'trace' });
  await addBuilder(deployment, 'buil_a');
  await addUser(deployment, 'user_a', ['buil_a']);
  await addApplication(deployment, 'cli_server', { type: 'CONFIDENTIAL', secrets: [secret] });
});
afterAll(() => deployment?.close());

/** Returns what the service writes to its log during the call. */
async function recordLog(work: () => Promise<unknown>): Promise<string> {
  const write = vi.spyOn(process.stdout, 'write').mockImplementation(() => true);
  try {
    await work();
    return write.mock.calls.map(([data]) => String(data)).join('');
  } finally {
    write.mockRestore();
  }
}

// OAU-41, OAU-42
test('the log contains every step of the flow, and neither it nor a table a code, token, secret, password or cookie', async () => {
  const unlogged = ['a state', 'user_a@example.com'];
  const secrets: string[] = [secret, PASSWORD, 'wrong word', VERIFIER];
  const log = await recordLog(async () => {
    const { app } = await deployment.startInstance();
    const browser = new Browser(app);
    const page = await browser.open(authorizationParameters('cli_server'));
    await browser.submitWithoutFollowing(page, 'Sign in', { email: 'user_a@example.com', password: 'wrong word' });
    const consent = await browser.signIn(page, 'user_a@example.com');
    const { code } = responseParametersOf((await browser.submit(consent, 'Allow')).location!);
    const first = (await exchangeCode({ app }, flow, code!)).body;
    const second = (await refreshTokens({ app }, flow, first.refresh_token)).body;
    for (const path of ['introspect', 'revoke']) {
      const payload = { client_id: 'cli_server', client_secret: secret, token: second.refresh_token };
      await app.inject({ method: 'POST', url: `/oauth/${path}?token=${second.refresh_token}`, payload });
    }
    await app.inject({ url: `/callback?code=${code}`, headers: { authorization: `Bearer ${second.access_token}` } });
    const cookies = [...browser.cookies.values()];
    secrets.push(code!, first.access_token, first.refresh_token, second.access_token, second.refresh_token, ...cookies);
  });
  for (const path of ['authorize', 'sign-in', 'token', 'introspect', 'revoke'])
    expect(log).toContain(`/oauth/${path}"`);
  for (const message of ['sign-in failed', 'signed in', 'access allowed']) expect(log).toContain(message);
  for (const text of [...secrets, ...unlogged]) expect(log).not.toContain(text);
  expect(log).not.toMatch(/"path":"[^"]*\?/);
  // The tables have their digests (OAU-41).
  const { au1, us1 } = deployment.databases;
  const rows = `${await readAllRows(au1)}\n${await readAllRows(us1)}`;
  for (const text of secrets) expect(rows).not.toContain(text);
  const [code, access, refresh] = secrets.slice(4);
  for (const text of [secret, code!, refresh!]) expect(rows).toContain(hashSecret(text));
  expect(rows).not.toContain(hashSecret(access!));
  expect(rows).toMatch(/"password_hash":"\$argon2id\$/);
});

test('the log does not name the address to which an e-mail was not sent', async () => {
  const mail = await startMailServer();
  // Its response quotes the address.
  mail.isRejecting = true;
  const log = await recordLog(async () => {
    const settings = { SMTP_URL: mail.url, MAIL_FROM: 'no-reply@example.com' };
    const { app } = await deployment.startInstance({ settings });
    const browser = new Browser(app);
    const page = await browser.send('GET', '/account/forgot-password');
    await browser.submit(page, 'Send the link', { email: 'user_a@example.com' });
    // The queue makes its last attempt.
    await app.close();
  });
  await mail.close();
  expect(log).toContain('e-mail was not sent');
  expect(log).toContain('"responseCode":550');
  expect(log).not.toContain('user_a@example.com');
});
