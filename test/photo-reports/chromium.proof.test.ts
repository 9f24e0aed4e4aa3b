import type { BrowserContext, Browser as Chromium, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { executablePath, expectUsable, launchChromium, PHONE } from '../oauth/chromium.ts';
import type { TestDeployment } from '../oauth/deployment.ts';
import { addBuilder, PASSWORD } from '../oauth/fixtures.ts';
import type { BuilderClient } from '../support/builder-client.ts';
import { createPicture } from '../support/images.ts';
import { useLongerTimeLimits } from '../support/longer-time-limits.ts';
import { blocks, item, type Json, page, request } from './documents.ts';
import { startReportDeployment } from './report-deployment.ts';
import { addReport } from './report-rows.ts';

let deployment: TestDeployment;
let chromium: Chromium;
let client: BuilderClient;

useLongerTimeLimits();
beforeAll(async () => {
  if (!executablePath) return;
  ({ deployment, client } = await startReportDeployment());
  await addBuilder(deployment, 'buil_b');
  chromium = await launchChromium();
});

afterAll(async () => {
  await chromium?.close();
  await deployment?.close();
});

interface OpenedPage {
  context: BrowserContext;
  tab: Page;
  /** Errors of the browser console, and dialogs that scripts opened. */
  browserErrors: string[];
}

async function openPage(path: string): Promise<OpenedPage> {
  const context = await chromium.newContext({ viewport: PHONE });
  const tab = await context.newPage();
  const browserErrors: string[] = [];
  tab.on('console', (message) => browserErrors.push(message.text()));
  tab.on('pageerror', (error) => browserErrors.push(error.message));
  tab.on('dialog', (dialog) => {
    browserErrors.push(`dialog: ${dialog.message()}`);
    return dialog.dismiss();
  });
  await tab.goto(`${deployment.baseUrl}${path}`);
  return { context, tab, browserErrors };
}

async function signIn(tab: Page): Promise<void> {
  await tab.getByLabel('E-mail').fill('user_kim@example.com');
  await tab.getByLabel('Password').fill(PASSWORD);
  await tab.getByRole('button', { name: 'Sign in' }).click();
}

const expectHeading = (tab: Page, name: string) =>
  tab.getByRole('heading', { level: 1, name, exact: true }).waitFor({ timeout: 30_000 });

const sync = async (document: Json): Promise<string> =>
  (await client.sendOk('POST', '/photo-reports/sync', request({ page: document }))).photoReportId;

/** A realistic report with a block of each type. */
async function createRealisticReport(): Promise<Json> {
  const large = await client.createPhoto({
    imageAttachment: await client.upload(await createPicture('jpeg', { width: 1600, height: 1200 })),
    description: 'Slab edge, looking east',
  });
  const gone = await client.createPhoto();
  const text = (id: string, ...runs: Json[]) => blocks.text(id, runs);
  const east = page([
    text(
      'a',
      { text: 'Edge protection is ' },
      { text: 'missing', marks: ['BOLD'] },
      { text: ' between grid 4 and 7.' },
    ),
    blocks.image('photo', large.id),
    blocks.failed('failed', { code: 'UPLOAD_FAILED', message: 'The phone lost its connection in the lift shaft.' }),
    blocks.image('gone', gone.id),
    blocks.page('stairs', page([blocks.list('l', [item('a')])], { title: 'Stairs' })),
  ]);
  const root = page(
    [
      { ...blocks.heading('h', 1), richText: [{ text: 'What was found' }] },
      text(
        't',
        { text: 'Two things to close before the pour on ' },
        { text: 'Thursday', marks: ['ITALIC'] },
        { text: '.' },
      ),
      blocks.list('o', [item('1'), item('2', { depth: 1 }), item('3', { depth: 2 }), item('4')], 'ORDERED_LIST'),
      blocks.list('c', [item('1', { checked: true }), item('2'), item('3', { depth: 1, checked: true })], 'CHECKLIST'),
      blocks.page('east', { ...east, title: 'East facade' }),
      blocks.page('west', page([], { title: 'West facade', shortDescription: 'Not walked: the hoist was closed.' })),
    ],
    { title: 'Level 3, before the pour', shortDescription: 'Walk with the formwork crew.' },
  );
  return { root, gone: gone.id };
}

describe.skipIf(!executablePath)('in Chromium', () => {
  it('a member signs in, reads the report in a mobile and a desktop viewport, and signs out', async () => {
    const { root, gone } = await createRealisticReport();
    const id = await sync(root);
    await client.sendOk('DELETE', `/photos/${gone}`);
    const { context, tab, browserErrors } = await openPage(`/reports/${id}`);
    await expectHeading(tab, 'Sign in');
    await expectUsable(tab, 'report-sign-in');
    await signIn(tab);
    await expectHeading(tab, 'Level 3, before the pour');
    const photo = tab.getByRole('img', { name: 'Slab edge, looking east' });
    await photo.scrollIntoViewIfNeeded();
    // The photo is rendered when it is requested. The policy of the page prevents polling in the page.
    const areShown = '[...document.images].every((image) => image.complete && image.naturalWidth > 0)';
    await expect.poll(() => tab.evaluate(areShown), { timeout: 30_000 }).toBe(true);
    await expectUsable(tab, 'report');
    await tab.emulateMedia({ colorScheme: 'dark' });
    const background = () => tab.evaluate(`getComputedStyle(document.querySelector('article')).backgroundColor`);
    expect(await background()).toBe('rgb(22, 32, 42)');
    await expectUsable(tab, 'report-dark');
    await tab.emulateMedia({ media: 'print' });
    expect(await background()).toBe('rgb(255, 255, 255)');
    expect(await tab.getByRole('navigation').isVisible()).toBe(false);
    expect((await tab.pdf()).subarray(0, 5).toString()).toBe('%PDF-');
    await tab.emulateMedia({ media: 'screen', colorScheme: 'light' });
    await tab.getByRole('link', { name: 'Stairs' }).click();
    await expect.poll(() => new URL(tab.url()).hash).toMatch(/^#page_/);
    await tab.getByRole('button', { name: 'Sign out' }).click();
    await expectHeading(tab, 'You are signed out');
    await expectUsable(tab, 'report-signed-out');
    await tab.getByRole('link', { name: 'Sign in again' }).click();
    await expectHeading(tab, 'Sign in');
    await tab.goto(
      `${deployment.baseUrl}/reports/${await addReport(deployment.databases.au1, 'buil_b', 'Of another builder')}`,
    );
    await signIn(tab);
    await expectHeading(tab, 'Not found');
    await expectUsable(tab, 'report-not-found');
    expect(browserErrors.filter((text) => !/status of 404/.test(text))).toEqual([]);
    await context.close();
  });

  it('no synced script runs, and the content security policy blocks scripts (PRP-39)', async () => {
    const evil = `</title></script><script>alert(1)</script><img src=x onerror=alert(2)><svg onload=alert(3)>"'onfocus=alert(4) autofocus x="`;
    const runs = [{ text: evil, marks: ['BOLD'] }];
    const id = await sync(
      page(
        [
          blocks.text('t', runs),
          blocks.list('l', [item('i', { richText: runs })], 'CHECKLIST'),
          blocks.failed('f', { code: evil.slice(0, 80), message: evil }),
          blocks.page(evil, page([], { title: evil, shortDescription: evil })),
        ],
        { title: evil, shortDescription: evil },
      ),
    );
    const { context, tab, browserErrors } = await openPage(`/reports/${id}`);
    await signIn(tab);
    await tab.getByRole('heading', { level: 1 }).filter({ hasText: 'alert(1)' }).waitFor();
    expect(await tab.locator('script, svg, [onerror], [onfocus], img[src="x"]').count()).toBe(0);
    expect(browserErrors).toEqual([]);
    // Simulates missing escaping: the content security policy still blocks the script.
    const blocked = tab.waitForEvent('console', { predicate: (message) => /Content Security/.test(message.text()) });
    await tab.evaluate(`document.body.insertAdjacentHTML('beforeend', '<img src="/none" onerror="alert(5)">')`);
    expect((await blocked).text()).toContain('script-src');
    expect(browserErrors.filter((text) => text.startsWith('dialog'))).toEqual([]);
    await context.close();
  });

  it('long words do not overflow the viewport', async () => {
    const long = 'W'.repeat(400);
    const deep = [0, 1, 2, 3, 4, 5, 6].map((depth) => item(`i${depth}`, { depth, richText: [{ text: long }] }));
    const inner = page([
      blocks.list('l', deep, 'ORDERED_LIST'),
      blocks.failed('f', { code: long.slice(0, 80), message: long }),
    ]);
    const nested = page([blocks.page('p', page([blocks.page('q', inner)], { title: long }))], { title: long });
    const { context, tab } = await openPage(`/reports/${await sync(nested)}`);
    await signIn(tab);
    await tab.getByRole('heading', { level: 1 }).filter({ hasText: long }).waitFor();
    await expectUsable(tab, 'report-long');
    await context.close();
  });
});
