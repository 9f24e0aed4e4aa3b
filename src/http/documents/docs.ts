import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import { notFound } from '../../shared/errors.ts';
import { loadOnce } from '../../shared/load-once.ts';
import { rejectOtherMethods } from '../method-not-allowed.ts';
import { Guides } from './guides.ts';
import { PAGE_STYLES } from './page.ts';
import { type ReferenceDocument, renderReferencePage } from './reference-page.ts';
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

interface DocsParts {
  document: object;
  /** Whether the reference is a page without scripts, and not the interactive one, which evaluates code and holds tokens. */
  production: boolean;
  /** Takes a request from the address's budget. Without it everybody may ask as often as they like. */
  limitVisitor?: (request: FastifyRequest) => Promise<void>;
}

/** Where the files of the reference page are served. */
const PREFIX = '/docs' as const;
/** Requests of other paths do not load the files. */
const FILE_PATH = /^\/docs\/(?:js\/scalar-[0-9a-f]{16}\.js|pages-[0-9a-f]{16}\.css|guides(?:\/[a-z-]+)*)?$/;
const STYLESHEET = `${PREFIX}/pages-${hashBody(PAGE_STYLES)}.css`;

const STATIC_HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
};
const HTML = 'text/html; charset=utf-8';

/** Maximum characters of a search. */
const MAX_QUERY = 100;

/** Registers `/openapi.json`, and `/docs` with its reference and the guides for integrators. */
export async function registerDocs(
  app: FastifyInstance,
  { document, production, limitVisitor }: DocsParts,
): Promise<void> {
  const openApi = new StaticDocument(
    Buffer.from(JSON.stringify(document)),
    'application/json; charset=utf-8',
    'revalidated',
    { 'Access-Control-Allow-Origin': '*' },
  );
  const loadGuides = loadOnce(() => Guides.load(document as ReferenceDocument, STYLESHEET));
  const loadFiles = loadOnce(async () => {
    const files = production
      ? renderStaticReference(document as ReferenceDocument)
      : await renderInteractiveReference();
    files.set(STYLESHEET, new StaticDocument(Buffer.from(PAGE_STYLES), 'text/css; charset=utf-8', 'immutable'));
    for (const [path, html] of (await loadGuides()).pages) files.set(path, toStaticPage(html));
    return files;
  });
  // Browsers request it for pages without an icon.
  app.get('/favicon.ico', async (_request, reply) => reply.code(204).send());
  await app.register(async (docs) => {
    if (limitVisitor) docs.addHook('onRequest', limitVisitor);
    docs.get('/openapi.json', (request, reply) => openApi.send(request, reply));
    docs.get('/', async (_request, reply) => reply.redirect(PREFIX));
    docs.get(PREFIX, async (_request, reply) => reply.redirect(`${PREFIX}/`, 301));
    docs.get<{ Querystring: { q?: string | string[] } }>(`${PREFIX}/search`, async ({ query }, reply) => {
      const page = (await loadGuides()).search(String(query.q ?? '').slice(0, MAX_QUERY));
      return reply.headers(STATIC_HEADERS).type(HTML).send(page);
    });
    docs.get(`${PREFIX}/*`, async (request, reply) => {
      const path = request.url.split('?', 1)[0]!;
      const file = FILE_PATH.test(path) && (await loadFiles()).get(path);
      if (!file) throw notFound('File');
      return file.send(request, reply);
    });
    rejectOtherMethods(docs, ['/favicon.ico', '/openapi.json', '/', PREFIX, `${PREFIX}/search`, `${PREFIX}/*`]);
  });
}

const toStaticPage = (html: string) => new StaticDocument(Buffer.from(html), HTML, 'revalidated', STATIC_HEADERS);

/** Returns the reference of production by path, a page without scripts. */
const renderStaticReference = (document: ReferenceDocument) =>
  new Map([[`${PREFIX}/`, toStaticPage(renderReferencePage(document, STYLESHEET))]]);

/**
 * Returns the files of the interactive reference of development by path. Scalar's bundle of 4 MB is read at the first use. The path of the
 * script has its hash, so that browsers keep it for ever.
 */
async function renderInteractiveReference(): Promise<Map<string, StaticDocument>> {
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  const server = Fastify();
  await server.register(scalar, { routePrefix: PREFIX, configuration: CONFIGURATION });
  const [page, script] = [await server.inject(`${PREFIX}/`), await server.inject(`${PREFIX}/js/scalar.js`)];
  const scriptName = `js/scalar-${hashBody(script.rawPayload)}.js`;
  const html = Buffer.from(page.body.replaceAll('js/scalar.js', scriptName));
  const headers = { 'Content-Security-Policy': PAGE_POLICY };
  const scriptType = String(script.headers['content-type']);
  return new Map([
    [`${PREFIX}/`, new StaticDocument(html, HTML, 'revalidated', headers)],
    [`${PREFIX}/${scriptName}`, new StaticDocument(script.rawPayload, scriptType, 'immutable')],
  ]);
}

const CONFIGURATION = {
  url: '/openapi.json',
  pageTitle: 'Builder Integration API',
  withDefaultFonts: false,
  hideClientButton: true,
  showDeveloperTools: 'never' as const,
  orderSchemaPropertiesBy: 'preserve' as const,
  orderRequiredPropertiesFirst: false,
  authentication: { preferredSecurityScheme: 'oauth2' },
  agent: { disabled: true },
  mcp: { disabled: true },
  telemetry: false,
};
