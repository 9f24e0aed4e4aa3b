import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

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
