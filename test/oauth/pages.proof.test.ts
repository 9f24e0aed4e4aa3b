import { createServer, type Server } from 'node:http';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../support/ports.ts';
import { DESKTOP, executablePath, expectUsable, launchChromium, PHONE } from './chromium.ts';
import { startDeployment, startListening, type TestDeployment } from './deployment.ts';
import {
  addApplication,
  addBuilder,
  addUser,
  authorizationParameters,
  PASSWORD,
  responseParametersOf,
  toQuery,
  VERIFIER,
} from './fixtures.ts';

let deployment: TestDeployment;
let chromium: Browser;
/** A client of another origin that runs in the browser and completes the flow. */
let application: Server;
let origin: string;
let redirect_uri: string;

beforeAll(async () => {
  if (!executablePath) return;
  const port = await freePort();
  origin = `http://127.0.0.1:${port}`;
  redirect_uri = `${origin}/callback`;
  deployment = await startDeployment();
  await startListening(deployment);
  await addBuilder(deployment, 'buil_a', { name: 'Harbour Constructions' });
  await addBuilder(deployment, 'buil_b', { name: 'Bay & Sons Building Group' });
  await addBuilder(deployment, 'buil_few', { name: 'Northside Developments', allows: ['read:builders'] });
  await addBuilder(deployment, 'buil_none', { name: 'Quarry Lane Homes', allows: null });
  await addUser(deployment, 'user_one', ['buil_a'], { name: 'Kim Nguyen' });
  await addUser(deployment, 'user_many', ['buil_a', 'buil_b', 'buil_few', 'buil_none'], { name: 'Sam Whitfield' });
  await addUser(deployment, 'user_none', ['buil_none'], { name: 'Lee Park' });
  const redirectUris = [redirect_uri, `http://[::1]:${port}/callback`, `${origin}/onward`];
  await addApplication(deployment, 'cli_app', { name: 'SnapSite Reports', redirectUris, origins: [origin] });
  application = createServer((request, response) => {
    // A callback that redirects to another host.
    if (request.url!.startsWith('/onward')) {
      response.writeHead(302, { location: `http://localhost:${port}/done` }).end();
      return;
    }
    response.setHeader('content-type', 'text/html').end(applicationPage(deployment.baseUrl, redirect_uri));
  });
  await new Promise<void>((resolve) => application.listen(port, '127.0.0.1', resolve));
  chromium = await launchChromium();
});

afterAll(async () => {
  await chromium?.close();
  application?.close();
  await deployment?.close();
});

const applicationPage = (baseUrl: string, redirectUri: string) => `<!doctype html><title>Application</title><pre></pre>
<script type="module">
const { code, error: denied } = Object.fromEntries(new URL(location).searchParams);
const show = (text) => { document.querySelector('pre').textContent = text; };
if (denied) show(denied);
else try {
  const response = await fetch('${baseUrl}/oauth/token', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ grant_type: 'authorization_code', client_id: 'cli_app', code, redirect_uri: '${redirectUri}',
      code_verifier: '${VERIFIER}' }),
  });
  const { access_token, error } = await response.json();
  if (error) show(error);
  else {
    const me = await fetch('${baseUrl}/me', { headers: { Authorization: 'Bearer ' + access_token } });
    show(JSON.stringify({ ...await me.json(), requestId: me.headers.get('X-Request-Id') !== null }));
  }
} catch (problem) {
  show(String(problem));
}
</script>`;

interface OpenPage {
  context: BrowserContext;
  page: Page;
  /** Messages of the console, such as policy violations and failed loads. */
  consoleMessages: string[];
}

async function openAuthorization(
  changes: Record<string, string | undefined> = {},
  options: { viewport?: typeof PHONE; javaScriptEnabled?: boolean } = {},
): Promise<OpenPage> {
  const context = await chromium.newContext({ viewport: DESKTOP, ...options });
  const page = await context.newPage();
  const consoleMessages: string[] = [];
  page.on('console', (message) => consoleMessages.push(message.text()));
  page.on('pageerror', (error) => consoleMessages.push(error.message));
  const query = toQuery(authorizationParameters('cli_app', { redirect_uri, ...changes }));
  await page.goto(`${deployment.baseUrl}/oauth/authorize?${query}`);
  return { context, page, consoleMessages };
}

async function signIn(page: Page, user: string, password = PASSWORD): Promise<void> {
  await page.getByLabel('E-mail').fill(`${user}@example.com`);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** Waits for a page with this heading. */
async function expectHeading(page: Page, name: string | RegExp): Promise<void> {
  const heading = page.getByRole('heading', { level: 1, name, exact: true });
  await heading.waitFor({ timeout: 30_000 });
  // A key that is pressed before the page has loaded can go to the previous page.
  await page.waitForLoadState();
  expect(await heading.count()).toBe(1);
}

describe.skipIf(!executablePath)('in Chromium', () => {
  test('a user signs in and allows access, and a browser client of another origin completes the flow', async () => {
    const { context, page, consoleMessages } = await openAuthorization();
    await signIn(page, 'user_one');
    await expectHeading(page, 'Allow SnapSite Reports to use the data of Harbour Constructions?');
    await page.getByRole('button', { name: 'Allow', exact: true }).click();
    await page.waitForFunction("document.querySelector('pre')?.textContent");
    expect(page.url().startsWith(`${redirect_uri}?code=`)).toBe(true);
    expect(JSON.parse((await page.locator('pre').textContent())!)).toMatchObject({
      ...{ type: 'user', name: 'Kim Nguyen', clientId: 'cli_app' },
      ...{ memberships: [{ builderId: 'buil_a' }], requestId: true },
    });
    expect(consoleMessages).toEqual([]);
    await context.close();
  });

  test('a company can be selected and access denied by keyboard only', async () => {
    const { context, page, consoleMessages } = await openAuthorization({}, { viewport: PHONE });
    await page.locator('#email:focus').waitFor();
    await page.keyboard.type('user_many@example.com');
    await page.keyboard.press('Tab');
    await page.keyboard.type(PASSWORD);
    await page.keyboard.press('Enter');
    await expectHeading(page, 'Choose a company');
    expect(await page.getByRole('radio', { name: /Northside/ }).isDisabled()).toBe(true);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => page.getByRole('radio', { name: /Harbour/ }).isChecked()).toBe(true);
    await page.keyboard.press('Enter');
    await expectHeading(page, /Harbour Constructions/);
    await page.getByRole('button', { name: 'Don’t allow' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(`${redirect_uri}?**`);
    expect(responseParametersOf(page.url())).toMatchObject({ error: 'access_denied', iss: deployment.baseUrl });
    expect(consoleMessages).toEqual([]);
    await context.close();
  });

  test('the flow works without JavaScript, with an IPv6 loopback redirect URI', async () => {
    const ipv6 = redirect_uri.replace('127.0.0.1', '[::1]');
    const { context, page, consoleMessages } = await openAuthorization(
      { redirect_uri: ipv6 },
      { javaScriptEnabled: false },
    );
    // Nothing listens there; the test checks the request only.
    const arrived = page.waitForRequest((request) => request.url().startsWith(`${ipv6}?code=`));
    await signIn(page, 'user_many');
    await page.getByText('Bay & Sons').click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('button', { name: 'Allow', exact: true }).click();
    expect(responseParametersOf((await arrived).url()).code).toMatch(/^[\w-]{43}$/);
    expect(consoleMessages.filter((text) => /Content Security Policy/.test(text))).toEqual([]);
    await context.close();
  });

  test('the redirect can continue from the callback to another host', async () => {
    const { context, page, consoleMessages } = await openAuthorization({ redirect_uri: `${origin}/onward` });
    await signIn(page, 'user_one');
    await page.getByRole('button', { name: 'Allow', exact: true }).click();
    await page.waitForURL('http://localhost:*/done', { timeout: 30_000 });
    expect(consoleMessages.filter((text) => /Content Security Policy/.test(text))).toEqual([]);
    await context.close();
  });

  test('every page passes the accessibility checks on phone and desktop', async () => {
    const { context, page, consoleMessages } = await openAuthorization({
      scope: 'read:builders read:projects read:photos write:photos',
    });
    await expectUsable(page, 'sign-in');
    expect(await page.locator(':focus').getAttribute('id')).toBe('email');
    await signIn(page, 'user_many', 'wrong');
    await page.getByRole('alert').waitFor();
    await expectUsable(page, 'sign-in-wrong');
    expect(await page.getByRole('alert').textContent()).toContain('not right');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expectHeading(page, 'Choose a company');
    await expectUsable(page, 'select-builder');
    await page.getByText('Bay & Sons').click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await expectHeading(page, /^Allow/);
    await expectUsable(page, 'consent');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await expectHeading(page, 'You are signed out');
    await expectUsable(page, 'signed-out');
    await page.getByRole('link', { name: 'Sign in again' }).click();
    await signIn(page, 'user_none');
    await expectHeading(page, 'No company can be chosen');
    await expectUsable(page, 'no-company');
    await page.goto(`${deployment.baseUrl}/oauth/authorize?client_id=cli_nobody`);
    await expectUsable(page, 'error');
    expect(consoleMessages.filter((text) => !/status of 400/.test(text))).toEqual([]);
    await context.close();
  });

  test('a page that expired in another tab offers to try again', async () => {
    const { context, page } = await openAuthorization();
    const other = await context.newPage();
    await other.goto(page.url());
    await signIn(other, 'user_one');
    await expectHeading(other, /^Allow/);
    await signIn(page, 'user_one');
    await expectHeading(page, 'This page has expired');
    await page.getByRole('link', { name: 'Try again' }).click();
    await expectHeading(page, /^Allow SnapSite/);
    await context.close();
  });

  test('pages cannot be framed', async () => {
    const context = await chromium.newContext();
    const page = await context.newPage();
    await page.goto(origin);
    const query = toQuery(authorizationParameters('cli_app', { redirect_uri }));
    const frame = `document.body.append(Object.assign(document.createElement('iframe'), { src: '${deployment.baseUrl}/oauth/authorize?${query}' }))`;
    const rejected = page.waitForEvent('console', { predicate: (message) => /frame/i.test(message.text()) });
    await page.evaluate(frame);
    expect((await rejected).text()).toMatch(/frame-ancestors|X-Frame-Options/);
    await context.close();
  });
});
