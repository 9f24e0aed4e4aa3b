import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import axe from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';

export const PHONE = { width: 390, height: 844 };
export const DESKTOP = { width: 1280, height: 800 };

/** Folder for screenshots of every page; none are taken without the variable. */
const PICTURES = process.env.PICTURES;

/** Paths of Chromium: the variable `CHROMIUM`, then the usual ones. */
const CANDIDATES = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

export const executablePath = CANDIDATES.find((path) => path !== undefined && existsSync(path));

if (!executablePath) {
  console.warn(
    '\nSKIPPED: no Chromium on this machine, so the pages were not tested in a browser (apt-get install chromium).\n',
  );
}

export const launchChromium = (): Promise<Browser> =>
  chromium.launch({
    executablePath: executablePath!,
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
    // The locale of inputs of dates, to which Playwright's `locale` does not apply. It needs Debian's package `chromium-l10n`.
    env: { ...process.env, LANG: 'en_AU.UTF-8', LANGUAGE: 'en_AU' },
  });

/** Rules of colours. A theme changes nothing else. */
const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

/** Expects no accessibility violations of the rules, by default of all, except inside the excluded elements. */
export async function expectAccessible(
  page: Page,
  name: string,
  { excluded = [], rules }: { excluded?: string[]; rules?: string[] } = {},
): Promise<void> {
  if (!(await page.evaluate('"axe" in globalThis'))) await page.evaluate(axe.source);
  // Without the elements that pass, which would be thousands.
  const { violations, passes } = await page.evaluate(
    async ([exclude, runOnly]) => {
      const results = await (globalThis as unknown as { axe: typeof axe }).axe.run(
        { include: [['html']], exclude },
        { resultTypes: ['violations'], ...(runOnly && { runOnly }) },
      );
      return {
        violations: results.violations.map(({ id, impact, nodes }) => ({ id, impact, html: nodes[0]?.html })),
        passes: results.passes.length,
      };
    },
    [excluded.map((selector) => [selector]), rules] as const,
  );
  expect(violations, name).toEqual([]);
  expect(passes, 'rules that were checked').toBeGreaterThan(rules ? 0 : 15);
}

/** Saves a screenshot where `PICTURES` is set: of the whole page, or of the window while a dialog is open. */
export async function savePicture(page: Page, name: string): Promise<void> {
  if (!PICTURES) return;
  await mkdir(PICTURES, { recursive: true });
  const fullPage = (await page.locator('dialog[open]').count()) === 0;
  await page.screenshot({ path: join(PICTURES, `${name}.png`), fullPage });
}

/** Expects that a viewport of the width shows the page without horizontal scrolling. */
export async function expectFits(page: Page, name: string, viewport: { width: number; height: number }): Promise<void> {
  await page.setViewportSize(viewport);
  // Charts follow the width of the window after it has changed.
  await expect
    .poll(() => page.evaluate('document.documentElement.scrollWidth'), { message: name })
    .toBe(viewport.width);
}

/** Expects no accessibility violations and no horizontal overflow, on a phone and a desktop viewport. */
export async function expectUsable(page: Page, name: string): Promise<void> {
  for (const [device, viewport] of Object.entries({ phone: PHONE, desktop: DESKTOP })) {
    await expectFits(page, `${name}, ${device}`, viewport);
    await expectAccessible(page, `${name}, ${device}`);
    await savePicture(page, `${device}-${name}`);
  }
}

/** Expects the same in both themes. The page shows the dark one after its browser has changed to it. */
export async function expectUsableInBothThemes(page: Page, name: string): Promise<void> {
  await expectUsable(page, `${name}-light`);
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  expect(await page.evaluate('matchMedia("(prefers-color-scheme: dark)").matches')).toBe(true);
  for (const [device, viewport] of Object.entries({ desktop: DESKTOP, phone: PHONE })) {
    await page.setViewportSize(viewport);
    await expectAccessible(page, `${name}-dark, ${device}`, { rules: COLOUR_RULES });
    await savePicture(page, `${device}-${name}-dark`);
  }
}
