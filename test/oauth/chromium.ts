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

/** Expects no accessibility violations, except inside the excluded elements. */
export async function expectAccessible(page: Page, name: string, excluded: string[] = []): Promise<void> {
  await page.evaluate(axe.source);
  const { violations, passes } = await page.evaluate(
    (exclude) => (globalThis as unknown as { axe: typeof axe }).axe.run({ include: [['html']], exclude }),
    excluded.map((selector) => [selector]),
  );
  expect(
    violations.map(({ id, impact, nodes }) => ({ id, impact, html: nodes[0]?.html })),
    name,
  ).toEqual([]);
  expect(passes.length, 'rules that were checked').toBeGreaterThan(15);
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
