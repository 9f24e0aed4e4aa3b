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
  chromium.launch({ executablePath: executablePath!, args: ['--no-sandbox', '--disable-dev-shm-usage'] });

/** Expects no accessibility violations and no horizontal overflow, on a phone and a desktop viewport. */
export async function expectUsable(page: Page, name: string): Promise<void> {
  for (const [device, viewport] of Object.entries({ phone: PHONE, desktop: DESKTOP })) {
    await page.setViewportSize(viewport);
    await page.evaluate(axe.source);
    const { violations, passes } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
    expect(
      violations.map(({ id, impact, nodes }) => ({ id, impact, html: nodes[0]?.html })),
      `${name}, ${device}`,
    ).toEqual([]);
    expect(passes.length, 'rules that were checked').toBeGreaterThan(15);
    const width = await page.evaluate('document.documentElement.scrollWidth');
    expect(width, `${name}, ${device}`).toBe(viewport.width);
    if (PICTURES) {
      await mkdir(PICTURES, { recursive: true });
      await page.screenshot({ path: join(PICTURES, `${device}-${name}.png`), fullPage: true });
    }
  }
}
