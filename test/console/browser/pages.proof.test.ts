import type { Page, Response, Route } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  DESKTOP,
  executablePath,
  expectAccessible,
  expectFits,
  expectUsableInBothThemes,
  PHONE,
  savePicture,
} from '../../oauth/chromium.ts';
import { type DemoConsole, startDemoConsole } from './demo-console.ts';

let staffConsole: DemoConsole;
let page: Page;
const browserErrors: string[] = [];
/** Path of `PAGES` that the browser shows without a dialog; null for anything else. */
let shown: string | null = null;

beforeAll(async () => {
  if (!executablePath) return;
  staffConsole = await startDemoConsole();
  page = await staffConsole.signIn('ADMIN');
  await addEndpoint();
  // A violation of the Content-Security-Policy is an error of the browser's console too.
  page.on('console', (message) => message.type() === 'error' && browserErrors.push(message.text()));
  page.on('pageerror', (error) => browserErrors.push(String(error)));
});
afterAll(() => staffConsole?.close());
afterEach(async () => {
  await page?.unrouteAll({ behavior: 'ignoreErrors' });
  await page?.context().setOffline(false);
});

const firstRow = (table: string) => async () => {
  await page.getByRole('table', { name: table, exact: true }).locator('[data-row]').first().click();
  await page.getByRole('dialog').waitFor();
  await settle();
};
const openLink = (name: string) => async () => {
  await page.getByRole('link', { name }).first().click();
  await page.getByRole('heading', { level: 1, name }).waitFor();
  await settle();
};

/** Opens the first button of a name, and waits for what it opens. */
const openForm = (button: string) => async () => {
  await page.getByRole('button', { name: button, exact: true }).first().click();
  await page.getByRole('dialog').waitFor();
  await settle();
};
/** Opens the page of an integrator and then runs `openMore`. */
const onIntegratorPage = (openMore: () => Promise<void>) => async () => {
  await openLink('SnapSite Photos')();
  await openMore();
};

const WIDE = { width: 1920, height: 1080 };

/** Pages, with an optional action that opens a dialog or panel. */
const PAGES: readonly [name: string, path: string, open?: () => Promise<void>][] = [
  ['today', 'today'],
  ['attendance', 'attendance'],
  [
    'visit',
    'attendance',
    async () => {
      await page.locator('.bar.open').first().click();
      await page.getByRole('dialog').waitFor();
    },
  ],
  ['visits', 'attendance?show=visits'],
  ['conflicts', 'attendance?show=conflicts'],
  ['conflict', 'attendance?show=conflicts', firstRow('Conflicts')],
  ['pending', 'attendance?show=pending'],
  ['open-visits', 'attendance?show=open'],
  ['open-visit', 'attendance?show=open', firstRow('Open visits')],
  ['pending-sign-off', 'attendance?show=pending', firstRow('Sign-offs without sign-on')],
  ['timesheets', 'timesheets'],
  ['timesheet', 'timesheets', firstRow('Timesheets')],
  ['workers', 'workers'],
  ['worker', 'workers', firstRow('Workers')],
  ['inductions', 'inductions'],
  ['insurances', 'insurances'],
  ['insurance', 'insurances', firstRow('Insurances')],
  [
    'search',
    'today',
    async () => {
      await page.keyboard.press('Control+k');
      await page.getByRole('combobox', { name: 'Search' }).fill('a');
      await page.getByRole('option').first().waitFor();
    },
  ],
  ['photos', 'photos'],
  [
    'photo',
    'photos',
    async () => {
      await page.getByRole('region', { name: 'Photos' }).getByRole('listitem').getByRole('button').first().click();
      await page.getByRole('dialog').getByRole('img').waitFor();
    },
  ],
  ['reports', 'reports'],
  ['report', 'reports', firstRow('Photo reports')],
  ['integrations', 'integrations'],
  ['integrator', 'integrations', openLink('SnapSite Photos')],
  ['connection', 'integrations', onIntegratorPage(firstRow('Connections'))],
  ['client', 'integrations', onIntegratorPage(firstRow('Clients'))],
  ['endpoint', 'integrations', onIntegratorPage(firstRow('Webhook endpoints'))],
  ['new-client', 'integrations', onIntegratorPage(openForm('New client'))],
  ['new-endpoint', 'integrations', onIntegratorPage(openForm('New endpoint'))],
  ['failing-webhooks', 'integrations?show=failing'],
  ['people', 'people'],
  ['person', 'people', firstRow('People')],
  ['invite', 'people', openForm('Invite a person')],
  ['audit', 'audit'],
  ['audit-entry', 'audit', firstRow('Audit log')],
  ['audit-reads', 'audit?show=reads'],
  ['no-such-page', 'no-such-page'],
];

/** Registers a webhook endpoint, which the demo company has none of. */
async function addEndpoint(): Promise<void> {
  const find =
    'select oauth_client.id from oauth_client join integrator on integrator.id = integrator_id where integrator.name = ?';
  const [client] = await staffConsole.databases.au1.fork().execute<{ id: string }[]>(find, ['SnapSite Photos']);
  const query = `mutation { createWebhookEndpoint(clientId: "${client!.id}", url: "https://receiver.example.com/hook") { id } }`;
  const headers = { 'Content-Type': 'application/json', 'X-Console-CSRF': '1', 'X-Service-Region-Id': 'au1' };
  const request = { method: 'POST', headers, body: JSON.stringify({ query }) };
  const result = await page.evaluate(async (init) => (await fetch('/console/graphql', init)).json(), request);
  expect((result as { errors?: unknown }).errors).toBeUndefined();
}

/** Waits until nothing is loading. */
async function settle(): Promise<void> {
  await expect.poll(() => page.locator('.skeleton').count(), { timeout: 20_000 }).toBe(0);
}

async function showAtDesktop(theme: 'light' | 'dark' = 'light'): Promise<void> {
  browserErrors.length = 0;
  await page.setViewportSize(DESKTOP);
  await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
}

/** Opens a page of the console in a theme, at the width of a desktop. */
async function open(path: string, theme: 'light' | 'dark' = 'light'): Promise<void> {
  shown = null;
  // The explorer loads itself again when the theme changes, which would cancel the navigation.
  await page.goto('about:blank');
  await showAtDesktop(theme);
  await page.goto(`${staffConsole.baseUrl}/console/${path}`);
}

/** Pages without data: name, path, operation whose response is mocked, and expected text. */
const STATES: readonly [name: string, path: string, operation: string | null, text: string][] = [
  ['empty-attendance', 'attendance?date=2001-01-01', null, 'Nobody signed on'],
  ['unknown-project', 'attendance?project=proj_none', null, 'There is no such project'],
  ['unknown-builder', 'today?region=au1&builder=buil_none', null, 'There is no such builder'],
  ['all-timesheets', 'timesheets?from=any&until=any', null, 'Charts show up to 371 days'],
  ['empty-timesheets', 'timesheets?from=2001-01-01&until=2001-01-31', null, 'No timesheets match'],
  ['empty-insurances', 'insurances?type=WORK_COVER&status=EXPIRED&ends=7', null, 'No insurances match'],
  ['empty-photos', 'photos?source=ITP', null, 'No photos here'],
  ['empty-people', 'people?search=nobody', null, 'Nobody matches'],
  ['error-today', 'today', 'query Today', 'This did not work'],
  ['error-timesheets', 'timesheets', 'query Timesheets', 'This did not work'],
  ['error-integrations', 'integrations', 'query Integrators', 'This did not work'],
];

/** Pages, each with the operation whose response is mocked. */
const FAILURES = [
  ['today', 'query Today'],
  ['attendance', 'query Board'],
  ['attendance?show=conflicts', 'query OpenConflicts'],
  ['attendance?show=open', 'query OpenVisits'],
  ['attendance?show=pending', 'query PendingSignOffs'],
  ['timesheets', 'query Timesheets'],
  ['inductions', 'query Inductions'],
  ['workers', 'query Workers'],
  ['insurances', 'query Insurances'],
  ['photos', 'query Photos'],
  ['reports', 'query Reports'],
  ['integrations', 'query Integrators'],
  ['people', 'query People'],
  ['audit', 'query Audit'],
] as const;

/** Returns a route handler that responds to an operation with an error of the service. */
const failOperation = (operation: string) => async (route: Route) => {
  const { query } = route.request().postDataJSON() as { query: string };
  if (!query.includes(`${operation}(`)) return route.continue();
  const error = {
    message: 'The service is not available.',
    extensions: { code: 'UNAVAILABLE', http: { status: 503 } },
  };
  return route.fulfill({ status: 200, json: { errors: [error] } });
};

describe.skipIf(!executablePath)('the pages of the console in Chromium', () => {
  it.each(PAGES)('%s is accessible in both themes, and fits on a phone and a wide screen', async (name, path, more) => {
    // A dialog opens over the page of the test before, where that is its page.
    if (more && shown === path) await showAtDesktop();
    else await open(path);
    shown = null;
    await page.getByRole('navigation', { name: 'Pages of the console' }).waitFor();
    await settle();
    await more?.();
    await expectFits(page, `${name}, wide`, WIDE);
    await savePicture(page, `wide-${name}`);
    await expectUsableInBothThemes(page, name);
    expect(browserErrors).toEqual([]);
    shown = more ? null : path;
  });

  it.each(STATES)('%s says what happened', async (name, path, operation, text) => {
    if (operation) await page.route('**/console/graphql', failOperation(operation));
    await open(path);
    await page.getByText(text).first().waitFor();
    await settle();
    await expectUsableInBothThemes(page, name);
  });

  it('shows that a page is loading', async () => {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/console/graphql', async (route) => {
      const { query } = route.request().postDataJSON() as { query: string };
      if (query.includes('query Timesheet')) await released;
      await route.continue();
    });
    await open('timesheets');
    await page.getByRole('heading', { level: 1, name: 'Timesheets' }).waitFor();
    expect(await page.locator('.skeleton').count()).toBeGreaterThan(0);
    await expectUsableInBothThemes(page, 'loading-timesheets');
    release();
    await settle();
    await page.getByRole('table', { name: 'Timesheets', exact: true }).waitFor();
  });

  it('keeps what a page shows while there is no connection, and says so', async () => {
    await open('today');
    await page.getByRole('heading', { name: 'On site now' }).waitFor();
    await page.context().setOffline(true);
    await page.getByText('No connection. The page shows what was loaded last').waitFor();
    expect(await page.getByRole('heading', { name: 'On site now' }).count()).toBe(1);
    await expectUsableInBothThemes(page, 'offline-today');
    await page.context().setOffline(false);
    await page.getByText('No connection. The page').waitFor({ state: 'detached' });
  });

  it.each(['light', 'dark'] as const)('has an explorer that is accessible in the %s theme', async (theme) => {
    await open('explorer', theme);
    await page.getByText('The first projects of the builder.').waitFor();
    for (const viewport of [WIDE, DESKTOP, PHONE]) {
      await expectFits(page, `explorer, ${theme}`, viewport);
      // GraphiQL draws a tab as an element with the role `tab` that contains its buttons, which it has no option for.
      await expectAccessible(page, `explorer, ${theme}`, { excluded: ['.graphiql-tab'] });
      await savePicture(page, `explorer-${viewport.width}-${theme}`);
    }
    // The editor has the width of a phone, and the result is below it.
    const [editor, result] = await Promise.all(
      ['.graphiql-query-editor', '.graphiql-response'].map((part) => page.locator(part).boundingBox()),
    );
    expect(editor!.width).toBeGreaterThan(300);
    expect(result!.y).toBeGreaterThan(editor!.y + 100);
  });

  it.each(FAILURES)('%s loads what failed when the person tries again', async (path, operation) => {
    await page.route('**/console/graphql', failOperation(operation));
    await open(path);
    const again = page.getByRole('alert').getByRole('button', { name: 'Try again' }).first();
    const isAnswer = (response: Response) => (response.request().postData() ?? '').includes(`${operation}(`);
    await Promise.all([page.waitForResponse(isAnswer), again.press('Enter')]);
    await page.getByText('This did not work').first().waitFor();
    await page.unrouteAll({ behavior: 'wait' });
    await again.press('Enter');
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await settle();
  });
});
