import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { executablePath, expectUsable } from '../../oauth/chromium.ts';
import { type DemoConsole, startDemoConsole } from './demo-console.ts';

let staffConsole: DemoConsole;
let page: Page;
const complaints: string[] = [];

beforeAll(async () => {
  if (!executablePath) return;
  staffConsole = await startDemoConsole();
  page = await staffConsole.signIn('ADMIN');
  // A violation of the Content-Security-Policy is an error of the browser's console too.
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
}, 180_000);
afterAll(() => staffConsole?.close());

const firstRow = (table: string) => async () => {
  await page.getByRole('table', { name: table, exact: true }).getByRole('button').first().click();
  await page.getByRole('dialog').waitFor();
  await settle();
};
const openLink = (name: string) => async () => {
  await page.getByRole('link', { name }).first().click();
  await page.getByRole('heading', { level: 1, name }).waitFor();
  await settle();
};

/** Pages, each with what is opened on it. */
const PAGES: readonly [name: string, path: string, open?: () => Promise<void>][] = [
  ['today', 'today'],
  ['attendance', 'attendance'],
  ['conflicts', 'attendance?show=conflicts'],
  ['conflict', 'attendance?show=conflicts', firstRow('Conflicts')],
  ['pending', 'attendance?show=pending'],
  ['timesheets', 'timesheets'],
  ['inductions', 'inductions'],
  ['insurances', 'insurances'],
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
  [
    'connection',
    'integrations',
    async () => {
      await openLink('SnapSite Photos')();
      await firstRow('Connections')();
    },
  ],
  ['people', 'people'],
  ['audit', 'audit'],
  ['no-such-page', 'no-such-page'],
];

/** Waits until nothing is loading. */
async function settle(): Promise<void> {
  await expect.poll(() => page.locator('.skeleton').count(), { timeout: 20_000 }).toBe(0);
}

describe.skipIf(!executablePath)('the pages of the console in Chromium', { timeout: 180_000 }, () => {
  describe.each(['light', 'dark'] as const)('in the %s theme', (theme) => {
    it.each(PAGES)('%s is accessible and fits on a phone', async (name, path, open) => {
      complaints.length = 0;
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
      await page.goto(`${staffConsole.baseUrl}/console/${path}`);
      await page.getByRole('navigation', { name: 'Pages of the console' }).waitFor();
      await settle();
      await open?.();
      await expectUsable(page, `${name}-${theme}`);
      expect(complaints).toEqual([]);
    });
  });
});
