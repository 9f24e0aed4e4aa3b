import { describe, expect, it } from 'vitest';
import { executablePath, expectUsable } from '../oauth/chromium.ts';
import { useOfflineBrowser } from './offline-browser.ts';

const { open } = useOfflineBrowser();

describe.skipIf(!executablePath)('a guide, the index and a search', () => {
  it.each(['light', 'dark'] as const)('are accessible and fit a phone without internet, %s', async (colorScheme) => {
    const { context, page, external } = await open('/docs/guides', colorScheme);
    await expectUsable(page, `guides-${colorScheme}`);
    const pages = {
      guide: '/docs/guides/webhooks',
      codes: '/docs/guides/error-codes',
      search: '/docs/search?q=webhook',
    };
    for (const [name, path] of Object.entries(pages)) {
      await page.goto(path);
      await expectUsable(page, `${name}-${colorScheme}`);
    }
    expect(external).toEqual([]);
    await context.close();
  });
});
