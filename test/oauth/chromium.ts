import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import axe from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';

export const PHONE = { width: 390, height: 844 };
export const DESKTOP = { width: 1280, height: 800 };

/** Folder for pictures of every page, to be looked at by people; none are taken without it. */
const PICTURES = process.env.PICTURES;

/** Debian's, or the one that `CHROMIUM` names. */
const CANDIDATES = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

export const executablePath = CANDIDATES.find((path) => path !== undefined && existsSync(path));

if (!executablePath) {
  console.warn(
    '\nSKIPPED: no Chromium on this machine, so no test has looked at the pages (apt-get install chromium).\n',
  );
}

export const launchChromium = (): Promise<Browser> =>
  chromium.launch({ executablePath: executablePath!, args: ['--no-sandbox', '--disable-dev-shm-usage'] });

/** Nothing that a checker finds, and nothing that runs out of the window. */
export async function expectUsable(page: Page, name: string): Promise<void> {
  for (const [device, viewport] of Object.entries({ phone: PHONE, desktop: DESKTOP })) {
    await page.setViewportSize(viewport);
    await page.evaluate(axe.source);
    const { violations, passes } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
    expect(
      violations.map(({ id, impact, nodes }) => ({ id, impact, html: nodes[0]?.html })),
      `${name}, ${device}`,
    ).toEqual([]);
    expect(passes.length, 'rules that were looked at').toBeGreaterThan(15);
    const width = await page.evaluate('document.documentElement.scrollWidth');
    expect(width, `${name}, ${device}`).toBe(viewport.width);
    if (PICTURES) {
      await mkdir(PICTURES, { recursive: true });
      await page.screenshot({ path: join(PICTURES, `${device}-${name}.png`), fullPage: true });
    }
  }
}
