import axe from 'axe-core';
import { describe, expect, it } from 'vitest';
import { executablePath, expectUsable, savePicture } from '../oauth/chromium.ts';
import { useOfflineBrowser } from './offline-browser.ts';

const { open, service } = useOfflineBrowser();

describe.skipIf(!executablePath)('GET /graphql by a browser without internet', () => {
  it('shows GraphiQL, which runs a query with the token of its headers and keeps it over a reload', async () => {
    const { context, page, external } = await open('/graphql');
    await page.waitForURL('**/graphiql');
    external.length = 0;
    await page.locator('.graphiql-editor-tool .monaco-editor:visible').click();
    for (const key of ['Control+Home', 'ArrowDown', 'End', 'ArrowLeft', 'Control+Shift+ArrowLeft'])
      await page.keyboard.press(key);
    await page.keyboard.insertText(await service().tokenOf('A'));
    await page.locator('.graphiql-query-editor').click();
    await page.keyboard.insertText('{ builders { data { name } } }');
    const run = async () => {
      await page.locator('.graphiql-query-editor').getByText('builders').waitFor();
      await page.getByRole('button', { name: 'Execute query (Ctrl-Enter)' }).click();
    };
    const result = page.locator('.graphiql-response');
    await run();
    const { name } = (await service().get('/builders', await service().tokenOf('A'))).json().data[0];
    await expect.poll(() => result.textContent()).toContain(name.split(' ')[0]);
    // GraphiQL keeps headers half a second after their last change.
    await page.waitForTimeout(1_000);
    await page.reload();
    await run();
    await expect.poll(() => result.textContent()).toContain(name.split(' ')[0]);
    expect(external).toEqual([]);
    await savePicture(page, 'graphiql');
    await context.close();
  });
});

describe.skipIf(!executablePath)('the interactive reference', () => {
  it('leads to the guides and back, and shows no lines around the target of a link', async () => {
    const { context, page, external } = await open('/docs/');
    await page.getByRole('link', { name: 'Guides', exact: true }).click();
    await page.getByRole('link', { name: 'Error codes' }).first().click();
    const path = '/builders/{builderId}/photo-folders/{folderId}';
    await page
      .getByRole('link', { name: `PATCH ${path}` })
      .first()
      .click();
    const target = page.locator(`[id$="tag/photos/PATCH${path}"]`);
    await expect.poll(() => target.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('none');
    await page.goto('about:blank');
    await page.goto('/docs/#tag/photos');
    const guide = page.getByRole('link', { name: 'Guide', exact: true }).first();
    expect(await guide.getAttribute('href')).toMatch(/\/docs\/guides\/[a-z/-]+$/);
    expect(external).toEqual([]);
    await context.close();
  });

  it('declares its language and names its buttons, those of a request too', async () => {
    const { context, page, external } = await open('/docs/#tag/builders/GET/builders/{id}');
    const expectNames = async () => {
      await page.evaluate(axe.source);
      const { violations, passes } = (await page.evaluate(
        "axe.run({ runOnly: ['button-name', 'html-has-lang', 'html-lang-valid'] })",
      )) as axe.AxeResults;
      expect(violations.flatMap(({ nodes }) => nodes.map(({ html }) => html))).toEqual([]);
      expect(passes.map(({ id }) => id)).toEqual(expect.arrayContaining(['button-name', 'html-has-lang']));
    };
    await page.getByRole('button', { name: 'Test Request' }).first().waitFor();
    await expectNames();
    await page.getByRole('button', { name: 'Test Request' }).first().click();
    await page.getByRole('button', { name: 'Send' }).first().waitFor();
    await expectNames();
    expect(external).toEqual([]);
    await context.close();
  });

  it('keeps the token over a reload', async () => {
    const { context, page, external } = await open('/docs/');
    const { clientId, clientSecret } = service().findDemoClient('A');
    await page.locator('[data-placeholder="12345"]').click();
    await page.keyboard.insertText(clientId);
    await page.getByPlaceholder('XYZ123').fill(clientSecret!);
    await page.getByText('Select All').click();
    await page.getByRole('button', { name: 'Authorize' }).click();
    const token = page.getByText('Access Token:').first();
    await token.waitFor();
    // Scalar keeps credentials a moment after their last change.
    await page.waitForTimeout(1_000);
    await page.reload();
    await token.waitFor();
    expect(external).toEqual([]);
    await context.close();
  });
});

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
