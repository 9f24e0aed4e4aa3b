import { createServer, type Server } from 'node:http';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DESKTOP, executablePath, expectUsable, launchChromium, PHONE } from './chromium.ts';
import { addApplication, addBuilder, addUser, answerIn, authorization, PASSWORD, queryOf, VERIFIER } from './people.ts';
import { freePort, listening, startWhole, type Whole } from './whole.ts';

let whole: Whole;
let chromium: Browser;
/** The application: a page of another origin that finishes the flow by itself, as a browser application does. */
let application: Server;
let origin: string;
let redirect_uri: string;

beforeAll(async () => {
  if (!executablePath) return;
  const port = await freePort();
  origin = `http://127.0.0.1:${port}`;
  redirect_uri = `${origin}/callback`;
  whole = await startWhole();
  await listening(whole);
  await addBuilder(whole, 'buil_a', { name: 'Harbour Constructions' });
  await addBuilder(whole, 'buil_b', { name: 'Bay & Sons Building Group' });
  await addBuilder(whole, 'buil_few', { name: 'Northside Developments', allows: ['read:builders'] });
  await addBuilder(whole, 'buil_none', { name: 'Quarry Lane Homes', allows: null });
  await addUser(whole, 'user_one', ['buil_a'], { name: 'Kim Nguyen' });
  await addUser(whole, 'user_many', ['buil_a', 'buil_b', 'buil_few', 'buil_none'], { name: 'Sam Whitfield' });
  await addUser(whole, 'user_none', ['buil_none'], { name: 'Lee Park' });
  const redirectUris = [redirect_uri, `http://[::1]:${port}/callback`, `${origin}/onward`];
  await addApplication(whole, 'cli_app', { name: 'SnapSite Reports', redirectUris, origins: [origin] });
  application = createServer((request, response) => {
    // A callback that goes on to another host, as those of many applications do.
    if (request.url!.startsWith('/onward')) {
      response.writeHead(302, { location: `http://localhost:${port}/done` }).end();
      return;
    }
    response.setHeader('content-type', 'text/html').end(applicationPage(whole.baseUrl, redirect_uri));
  });
  await new Promise<void>((resolve) => application.listen(port, '127.0.0.1', resolve));
  chromium = await launchChromium();
});

afterAll(async () => {
  await chromium?.close();
  application?.close();
  await whole?.close();
});

const applicationPage = (baseUrl: string, redirectUri: string) => `<!doctype html><title>Application</title><pre></pre>
<script type="module">
const code = new URL(location).searchParams.get('code');
const say = (text) => { document.querySelector('pre').textContent = text; };
try {
  const response = await fetch('${baseUrl}/oauth/token', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ grant_type: 'authorization_code', client_id: 'cli_app', code, redirect_uri: '${redirectUri}',
      code_verifier: '${VERIFIER}' }),
  });
  const { access_token, error } = await response.json();
  if (error) say(error);
  else {
    const me = await fetch('${baseUrl}/me', { headers: { Authorization: 'Bearer ' + access_token } });
    say(JSON.stringify({ ...await me.json(), requestId: me.headers.get('X-Request-Id') !== null }));
  }
} catch (problem) {
  say(String(problem));
}
</script>`;

interface Visit {
  context: BrowserContext;
  page: Page;
  /** What the browser complained of: blocked by a policy, failed to load. */
  complaints: string[];
}

async function arrive(
  changes: Record<string, string | undefined> = {},
  options: { viewport?: typeof PHONE; javaScriptEnabled?: boolean } = {},
): Promise<Visit> {
  const context = await chromium.newContext({ viewport: DESKTOP, ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  const query = queryOf(authorization('cli_app', { redirect_uri, ...changes }));
  await page.goto(`${whole.baseUrl}/oauth/authorize?${query}`);
  return { context, page, complaints };
}

async function signIn(page: Page, user: string, password = PASSWORD): Promise<void> {
  await page.getByLabel('E-mail').fill(`${user}@example.com`);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** Waits until the page with this heading is there. */
const expectHeading = (page: Page, name: string | RegExp) =>
  page.getByRole('heading', { level: 1, name, exact: true }).waitFor({ timeout: 30_000 });

describe.skipIf(!executablePath)('in Chromium', { timeout: 120_000, retry: 2 }, () => {
  test('a person signs in, allows, and the application of another origin finishes the flow', async () => {
    const { context, page, complaints } = await arrive();
    await signIn(page, 'user_one');
    await expectHeading(page, 'Allow SnapSite Reports to use the data of Harbour Constructions?');
    await page.getByRole('button', { name: 'Allow', exact: true }).click();
    await page.waitForFunction("document.querySelector('pre')?.textContent");
    expect(page.url().startsWith(`${redirect_uri}?code=`)).toBe(true);
    expect(JSON.parse((await page.locator('pre').textContent())!)).toMatchObject({
      ...{ type: 'user', name: 'Kim Nguyen', clientId: 'cli_app' },
      ...{ memberships: [{ builderId: 'buil_a' }], requestId: true },
    });
    expect(complaints).toEqual([]);
    await context.close();
  });

  test('chooses among companies by keyboard alone, then denies', async () => {
    const { context, page, complaints } = await arrive({}, { viewport: PHONE });
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
    expect(await page.getByRole('radio', { name: /Harbour/ }).isChecked()).toBe(true);
    await page.keyboard.press('Enter');
    await expectHeading(page, /Harbour Constructions/);
    await page.getByRole('button', { name: 'Don’t allow' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(`${redirect_uri}?**`);
    expect(answerIn(page.url())).toMatchObject({ error: 'access_denied', iss: whole.baseUrl });
    expect(complaints).toEqual([]);
    await context.close();
  });

  test('all of it without JavaScript, and back to an IPv6 loopback address', async () => {
    const ipv6 = redirect_uri.replace('127.0.0.1', '[::1]');
    const { context, page, complaints } = await arrive({ redirect_uri: ipv6 }, { javaScriptEnabled: false });
    // Nothing listens there; where the browser goes is what counts.
    const arrived = page.waitForRequest((request) => request.url().startsWith(`${ipv6}?code=`));
    await signIn(page, 'user_many');
    await page.getByText('Bay & Sons').click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('button', { name: 'Allow', exact: true }).click();
    expect(answerIn((await arrived).url()).code).toMatch(/^[\w-]{43}$/);
    expect(complaints.filter((text) => /Content Security Policy/.test(text))).toEqual([]);
    await context.close();
  });

  test('arrives where the callback of the application goes on to', async () => {
    const { context, page, complaints } = await arrive({ redirect_uri: `${origin}/onward` });
    await signIn(page, 'user_one');
    await page.getByRole('button', { name: 'Allow', exact: true }).click();
    await page.waitForURL('http://localhost:*/done', { timeout: 30_000 });
    expect(complaints.filter((text) => /Content Security Policy/.test(text))).toEqual([]);
    await context.close();
  });

  test('every page is usable on a phone, by keyboard and with a screen reader', async () => {
    const { context, page, complaints } = await arrive({
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
    await page.goto(`${whole.baseUrl}/oauth/authorize?client_id=cli_nobody`);
    await expectUsable(page, 'error');
    expect(complaints.filter((text) => !/status of 400/.test(text))).toEqual([]);
    await context.close();
  });

  test('a page that was open in another tab says so and helps on', async () => {
    const { context, page } = await arrive();
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

  test('no frame shows it', async () => {
    const context = await chromium.newContext();
    const page = await context.newPage();
    await page.goto(origin);
    const query = queryOf(authorization('cli_app', { redirect_uri }));
    const frame = `document.body.append(Object.assign(document.createElement('iframe'), { src: '${whole.baseUrl}/oauth/authorize?${query}' }))`;
    const refused = page.waitForEvent('console', { predicate: (message) => /frame/i.test(message.text()) });
    await page.evaluate(frame);
    expect((await refused).text()).toMatch(/frame-ancestors|X-Frame-Options/);
    await context.close();
  });
});
