import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { DESKTOP, executablePath, launchChromium } from '../oauth/chromium.ts';
import { type Service, startService } from '../support/harness.ts';
import { freePort } from '../support/ports.ts';

interface OfflinePage {
  context: BrowserContext;
  page: Page;
  /** Other addresses that the page requested. */
  external: string[];
}

/** A service that listens, and a browser that reaches it alone, for the tests of the file that calls it. */
export function useOfflineBrowser() {
  let service: Service;
  let baseUrl: string;
  let chromium: Browser;

  beforeAll(async () => {
    if (!executablePath) return;
    const port = await freePort();
    baseUrl = `http://127.0.0.1:${port}`;
    service = await startService({ BASE_URL: baseUrl });
    await service.app.listen({ port, host: '127.0.0.1' });
    chromium = await launchChromium();
  });

  afterAll(async () => {
    await chromium?.close();
    await service?.stop();
  });

  /** Opens a browser session, and the page of a path. */
  async function open(path: string, colorScheme: 'light' | 'dark' = 'light'): Promise<OfflinePage> {
    const context = await chromium.newContext({ viewport: DESKTOP, colorScheme, baseURL: baseUrl });
    const external: string[] = [];
    await context.route(
      (url) => url.origin !== baseUrl,
      (route) => {
        external.push(route.request().url());
        return route.abort('internetdisconnected');
      },
    );
    const page = await context.newPage();
    await page.goto(path);
    return { context, page, external };
  }

  return { open, service: () => service };
}
