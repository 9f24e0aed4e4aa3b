import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newSecret } from '../../src/shared/secrets.ts';
import { Browser } from '../oauth/browser.ts';
import { type Instance, startDeployment, startListening, type TestDeployment } from '../oauth/deployment.ts';
import { addApplication, addBuilder, addUser } from '../oauth/fixtures.ts';
import { freePort } from '../support/ports.ts';

const secret = newSecret();

let deployment: TestDeployment;
let instance: Instance;
let redirectUri: string;

beforeAll(async () => {
  deployment = await startDeployment();
  instance = await startListening(deployment);
  redirectUri = `http://127.0.0.1:${await freePort()}/callback`;
  await addBuilder(deployment, 'buil_a');
  await addUser(deployment, 'user_a', ['buil_a']);
  const client = { redirectUris: [redirectUri], scopes: ['read:builders', 'read:projects'] };
  await addApplication(deployment, 'cli_app', client);
  await addApplication(deployment, 'cli_server', { ...client, type: 'CONFIDENTIAL', secrets: [secret] });
});
afterAll(() => deployment?.close());

/** Runs the example; `useBrowser` opens the address that it prints. */
async function runExample(variables: Record<string, string>, useBrowser: (address: URL) => Promise<unknown>) {
  const env = { PATH: process.env.PATH, BASE_URL: deployment.baseUrl, REDIRECT_URI: redirectUri, ...variables };
  const example = spawn(process.execPath, ['docs/code-flow.ts'], { env });
  const out = text(example.stdout);
  const ended = new Promise((resolve) => example.on('exit', resolve));
  let err = '';
  let address: string | undefined;
  try {
    for await (const chunk of example.stderr) {
      err += chunk;
      if (address) continue;
      address = /^ {2}(http\S+\/oauth\/authorize\S+)$/m.exec(err)?.[1];
      if (address) await useBrowser(new URL(address));
    }
    return { code: await ended, out: await out, err };
  } finally {
    example.kill();
  }
}

const answerConsent = (button: string) => async (address: URL) => {
  const browser = new Browser(instance.app);
  const page = await browser.send('GET', `${address.pathname}${address.search}`);
  const consent = await browser.signIn(page, 'user_a@example.com');
  return (await fetch((await browser.submit(consent, button)).location!)).text();
};

describe('docs/code-flow.ts', () => {
  test.each([
    ['a public client', { CLIENT_ID: 'cli_app' }],
    ['a confidential client', { CLIENT_ID: 'cli_server', CLIENT_SECRET: secret }],
  ])('waits at the redirect URI of %s and prints valid tokens', async (_client, variables) => {
    const { code, out } = await runExample(variables, answerConsent('Allow'));
    expect(code).toBe(0);
    const tokens = JSON.parse(out);
    expect(tokens).toMatchObject({ scope: 'read:builders read:projects', refresh_token: expect.any(String) });
    const me = await fetch(`${deployment.baseUrl}/me`, { headers: { authorization: `Bearer ${tokens.access_token}` } });
    expect(await me.json()).toMatchObject({ id: 'user_a' });
  });

  test('ignores requests that are not the redirect', async () => {
    const { code } = await runExample({ CLIENT_ID: 'cli_app' }, async (address) => {
      for (const path of ['/', '/callback', '/callback?code=a', '/callback?code=a&state=other', '/callback?state='])
        expect((await fetch(new URL(path, redirectUri))).status).toBe(404);
      return answerConsent('Allow')(address);
    });
    expect(code).toBe(0);
  });

  test('ends with the error when the user denies access', async () => {
    const { code, err } = await runExample({ CLIENT_ID: 'cli_app' }, answerConsent('deny'));
    expect(code).toBe(1);
    expect(err).toContain('access_denied');
  });
});
