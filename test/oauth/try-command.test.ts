import { createServer } from 'node:http';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { runCli } from '../../src/cli/run.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { newSecret } from '../../src/shared/secrets.ts';
import { TextCollector } from '../cli/cli-harness.ts';
import { freePort } from '../support/ports.ts';
import { Browser } from './browser.ts';
import { type Instance, startDeployment, startListening, type TestDeployment } from './deployment.ts';
import { addApplication, addBuilder, addUser, REDIRECT_URI } from './fixtures.ts';

const secret = newSecret();

let deployment: TestDeployment;
let instance: Instance;
let port: number;
let redirectUri: string;

beforeAll(async () => {
  deployment = await startDeployment();
  instance = await startListening(deployment);
  port = await freePort();
  redirectUri = `http://127.0.0.1:${port}/callback`;
  await addBuilder(deployment, 'buil_a');
  await addUser(deployment, 'user_a', ['buil_a']);
  const scopes = ['read:builders', 'read:projects'];
  await addApplication(deployment, 'cli_app', { redirectUris: [REDIRECT_URI, redirectUri], scopes });
  await addApplication(deployment, 'cli_far');
  await addApplication(deployment, 'cli_server', {
    type: 'CONFIDENTIAL',
    secrets: [secret],
    redirectUris: [redirectUri],
  });
  await addBuilder(deployment, 'buil_us', { region: 'us1' });
  await addUser(deployment, 'user_us', ['buil_us'], { region: 'us1' });
});
afterAll(() => deployment?.close());

let stderr: TextCollector;
beforeEach(() => {
  stderr = new TextCollector();
});

/** Runs `oauth try`; `useBrowser` opens the printed URL. */
async function oauthTry(args: string[], useBrowser?: (address: URL) => Promise<unknown>, stdin = '') {
  const stdout = new TextCollector();
  const env = {
    BASE_URL: deployment.baseUrl,
    DATABASE_URL_AU1: deployment.databases.au1.url,
    DATABASE_URL_US1: deployment.databases.us1.url,
    MIGRATE: 'check',
  };
  const input = new PassThrough();
  input.end(stdin);
  const shell = { env, clock: systemClock, stdin: input, stdout, stderr: stderr };
  const ended = runCli(['oauth', 'try', '--no-open', ...args], shell);
  if (useBrowser) await useBrowser(await printedAddress(ended));
  return { code: await ended, out: stdout.text, err: stderr.text };
}

async function printedAddress(ended: Promise<unknown>): Promise<URL> {
  let over = false;
  void ended.finally(() => {
    over = true;
  });
  for (;;) {
    const address = /^ {2}(http\S+\/oauth\/authorize\S+)$/m.exec(stderr.text)?.[1];
    if (address) return new URL(address);
    if (over) throw new Error(stderr.text);
    await new Promise(setImmediate);
  }
}

const answerConsent =
  (button: string, email = 'user_a@example.com') =>
  async (address: URL) => {
    const browser = new Browser(instance.app);
    const consent = await browser.signIn(await browser.send('GET', `${address.pathname}${address.search}`), email);
    const response = await fetch((await browser.submit(consent, button)).location!);
    return response.text();
  };

describe('oauth try', () => {
  test('prints the URL, waits at the registered redirect URI, and prints valid tokens', async () => {
    let shown = '';
    const { code, out } = await oauthTry([], async (address) => {
      expect(Object.fromEntries(address.searchParams)).toMatchObject({
        ...{ client_id: 'cli_app', redirect_uri: redirectUri, scope: 'read:builders read:projects' },
        ...{ response_type: 'code', code_challenge_method: 'S256' },
      });
      shown = await answerConsent('Allow')(address);
    });
    expect([code, shown]).toEqual([0, 'Done. The tokens are in the terminal; this tab can be closed.']);
    const token = /^access_token +(\S+)$/m.exec(out)?.[1];
    expect(out).toMatch(/^refresh_token +\S+$/m);
    expect(out).toContain(`curl -s ${deployment.baseUrl}/me -H "Authorization: Bearer ${token}"`);
    const me = await fetch(`${deployment.baseUrl}/me`, { headers: { authorization: `Bearer ${token}` } });
    expect(await me.json()).toMatchObject({ id: 'user_a' });
  });

  test('prints one object with --json, for the given scopes, client, port and builder', async () => {
    const args = ['--client', 'cli_app', '--port', String(port), '--scope', 'read:builders', '--builder', 'buil_a'];
    const { code, out } = await oauthTry([...args, '--json'], (address) => {
      expect(address.searchParams.get('builder_id')).toBe('buil_a');
      return answerConsent('Allow')(address);
    });
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({
      ...{ regionId: 'au1', clientId: 'cli_app', accessToken: expect.any(String), refreshToken: expect.any(String) },
      ...{ expiresIn: 3600, scope: 'read:builders' },
    });
  });

  test('takes the secret of a confidential client from stdin', async () => {
    const args = ['--client', 'cli_server', '--secret-stdin', '--scope', 'read:builders'];
    expect(await oauthTry(args, answerConsent('Allow'), `${secret}\n`)).toMatchObject({ code: 0 });
  });

  test('ignores requests that are not the redirect', async () => {
    const { code } = await oauthTry([], async (address) => {
      for (const call of [
        '',
        '/',
        '/callback',
        '/callback?code=a',
        '/callback?code=a&state=other',
        '/callback?error=x&state=',
      ]) {
        expect((await fetch(`http://127.0.0.1:${port}${call}`)).status).toBe(404);
      }
      return answerConsent('Allow')(address);
    });
    expect(code).toBe(0);
  });

  test('reports when the user denies access', async () => {
    const { code, err } = await oauthTry([], answerConsent('deny'));
    expect(code).toBe(1);
    expect(err).toContain('access_denied: The user did not allow it');
  });

  test('reports when the port is in use', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(port, '127.0.0.1', resolve));
    const { code, err } = await oauthTry([]);
    expect([code, err]).toEqual([
      1,
      `--port: port ${port} of 127.0.0.1 is in use: free it, or use another registered redirect URI.\n`,
    ]);
    taken.close();
  });

  test.each([
    [['--client', 'cli_nobody'], /--client: there is no client cli_nobody/],
    [['--client', 'nobody'], /--client: "nobody" is not an id/],
    [['--client', 'cli_far'], /--client: cli_far has no redirect URI on http loopback; it has https:\/\/app\.example/],
    [['--client', 'cli_server'], /--secret-stdin: cli_server is a confidential client/],
    [['--redirect-uri', 'http://127.0.0.1:1/callback'], /--redirect-uri: matches no loopback redirect URI of cli_app/],
    [['--port', '1'], /--port: matches no loopback redirect URI/],
    [['--port', 'x'], /must be an integer/],
    [['--scope', 'read:all'], /--scope: "read:all" is not a scope/],
    [['--builder', 'proj_a'], /--builder/],
  ])('rejects %j before it opens a port', async (args, message) => {
    const { code, out, err } = await oauthTry(args);
    expect([code, out]).toEqual([1, '']);
    expect(err).toMatch(message);
    expect(err.trim().split('\n')).toHaveLength(1);
  });

  test('requires --client when there are several, and finds a client of the other region', async () => {
    await addApplication(deployment, 'cli_us', { region: 'us1', redirectUris: [redirectUri] });
    expect((await oauthTry([])).err).toMatch(/--client: is required because several clients match: cli_app cli_us/);
    const { code, out } = await oauthTry(['--client', 'cli_us'], answerConsent('Allow', 'user_us@example.com'));
    expect(code).toBe(0);
    expect(out).toContain("-H 'X-Service-Region-Id: us1'");
  });
});
