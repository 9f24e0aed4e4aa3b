import Fastify from 'fastify';
import { EXAMPLE_ID } from './page.ts';
import { hashBody, StaticDocument } from './static-document.ts';

/** Scalar's bundle needs inline styles; nothing is loaded from, or sent to, another host. */
const PAGE_POLICY = [
  "default-src 'self'",
  "script-src 'self' 'unsafe-inline' 'unsafe-eval'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "worker-src 'self' blob:",
  "frame-ancestors 'none'",
].join('; ');

/** Paths of the OpenAPI document of the page, and of the guides. */
const DOCUMENT = '/docs/openapi.json';
const GUIDES = '/docs/guides';

const CONFIGURATION = {
  url: DOCUMENT,
  pageTitle: 'Builder Integration API',
  withDefaultFonts: false,
  hideClientButton: true,
  showDeveloperTools: 'never' as const,
  orderSchemaPropertiesBy: 'preserve' as const,
  orderRequiredPropertiesFirst: false,
  authentication: { preferredSecurityScheme: 'oauth2' },
  persistAuth: true,
  // A section that a link leads to has the focus, which Scalar shows as lines over the whole page.
  customCss: 'section[tabindex="-1"]:focus-visible { outline: none; }',
  agent: { disabled: true },
  mcp: { disabled: true },
  telemetry: false,
};

/** Names the buttons that Scalar shows as icons alone, also those that it adds later. */
const NAME_BUTTONS = `new MutationObserver(() => {
  for (const button of document.querySelectorAll('button:not([aria-label], [aria-labelledby])')) {
    if (button.matches('.scalar-code-copy')) button.ariaLabel = 'Copy';
    else if (!button.textContent.trim()) button.ariaLabel = button.ariaPressed === null ? 'Show or hide' : 'Dark theme';
  }
}).observe(document, { childList: true, subtree: true });`;

/** The parts of an OpenAPI document that the page changes. */
interface ApiDocument {
  info: { description?: string };
  tags: { description?: string; externalDocs?: { url: string } }[];
}

/**
 * Returns the files of the interactive reference of development by path. Scalar's bundle of 4 MB is read at the first use. The path of the
 * script has its hash, so that browsers keep it for ever.
 *
 * @param ids ids of records by their prefix, which examples have in place of their own
 */
export async function renderInteractiveReference(document: object, ids: Partial<Record<string, string>>) {
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  const server = Fastify();
  await server.register(scalar, { routePrefix: '/docs', configuration: CONFIGURATION });
  const [page, script] = [await server.inject('/docs/'), await server.inject('/docs/js/scalar.js')];
  const scriptName = `js/scalar-${hashBody(script.rawPayload)}.js`;
  const html = page.body
    .replaceAll('js/scalar.js', scriptName)
    .replace('<html>', '<html lang="en">')
    .replace('<head>', `<head><script>${NAME_BUTTONS}</script>`);
  const examples = JSON.stringify(linkGuides(document as ApiDocument)).replace(
    EXAMPLE_ID,
    (id, prefix: string) => ids[prefix] ?? id,
  );
  const headers = { 'Content-Security-Policy': PAGE_POLICY };
  return new Map([
    ['/docs/', new StaticDocument(Buffer.from(html), 'text/html; charset=utf-8', 'revalidated', headers)],
    [DOCUMENT, new StaticDocument(Buffer.from(examples), 'application/json; charset=utf-8', 'revalidated')],
    [`/docs/${scriptName}`, new StaticDocument(script.rawPayload, String(script.headers['content-type']), 'immutable')],
  ]);
}

/** Adds links to the guides, because Scalar does not show `externalDocs` of tags. */
const linkGuides = (document: ApiDocument): ApiDocument => ({
  ...document,
  info: { ...document.info, description: `[Guides](${GUIDES})\n\n${document.info.description}` },
  tags: document.tags.map((tag) => ({ ...tag, description: `${tag.description} [Guide](${tag.externalDocs?.url})` })),
});
