import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { notFound } from '../../shared/errors.ts';
import { loadOnce } from '../../shared/load-once.ts';
import { PACKAGE_ROOT } from '../../shared/version.ts';
import { rejectOtherMethods } from '../method-not-allowed.ts';
import { renderInteractiveReference } from './interactive-reference.ts';
import {
  type BuiltContents,
  escapeHtml,
  PAGE_STYLES,
  PLACEHOLDER_URL,
  POSTMAN_FILE,
  STYLESHEET,
  toPageFile,
} from './page.ts';
import { renderSearchPage } from './search.ts';
import { StaticDocument } from './static-document.ts';

interface DocsParts {
  document: object;
  baseUrl: string;
  /** Whether the reference is a page without scripts, and not the interactive one, which evaluates code and holds tokens. */
  production: boolean;
  /** Finds ids of records by prefix, for the examples of the interactive reference. */
  findExampleIds?: () => Promise<Partial<Record<string, string>>>;
  /** Takes a request from the address's budget. Without it everybody may ask as often as they like. */
  limitVisitor?: (request: FastifyRequest) => Promise<void>;
}

/** Where the files of the reference page are served. */
const PREFIX = '/docs' as const;
/** Requests of other paths do not load the files. */
const FILE_PATH =
  /^\/docs\/(?:openapi\.json|postman\.json|js\/scalar-[0-9a-f]{16}\.js|pages-[0-9a-f]{16}\.css|guides(?:\/[a-z-]+)*)?$/;
/** What `build/build-docs.ts` writes. */
const FOLDER = join(PACKAGE_ROOT, 'dist/documentation');

const STATIC_HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
};
const ANY_ORIGIN = { 'Access-Control-Allow-Origin': '*' };
const HTML = 'text/html; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';

/** Maximum characters of a search. */
const MAX_QUERY = 100;

/** Registers `/openapi.json`, and `/docs` with its reference, the guides for integrators and a Postman collection. */
export async function registerDocs(
  app: FastifyInstance,
  { document, baseUrl, production, findExampleIds = async () => ({}), limitVisitor }: DocsParts,
): Promise<void> {
  const openApi = new StaticDocument(Buffer.from(JSON.stringify(document)), JSON_TYPE, 'revalidated', ANY_ORIGIN);
  const loadBuiltPages = loadOnce(() => readBuiltPages(baseUrl));
  const loadFiles = loadOnce(async () => {
    const files = new Map((await loadBuiltPages()).pages);
    files.set(STYLESHEET, new StaticDocument(Buffer.from(PAGE_STYLES), 'text/css; charset=utf-8', 'immutable'));
    if (production) return files;
    return new Map([...files, ...(await renderInteractiveReference(document, await findExampleIds()))]);
  });
  // Browsers request it for pages without an icon.
  app.get('/favicon.ico', async (_request, reply) => reply.code(204).send());
  await app.register(async (docs) => {
    if (limitVisitor) docs.addHook('onRequest', limitVisitor);
    docs.get('/openapi.json', (request, reply) => openApi.send(request, reply));
    docs.get('/', async (_request, reply) => reply.redirect(PREFIX));
    docs.get(PREFIX, async (_request, reply) => reply.redirect(`${PREFIX}/`, 301));
    docs.get<{ Querystring: { q?: string | string[] } }>(`${PREFIX}/search`, async ({ query }, reply) => {
      const { contents } = await loadBuiltPages();
      const page = renderSearchPage(contents, String(query.q ?? '').slice(0, MAX_QUERY));
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

/** Returns the built pages and the collection by path, and what a search needs. They are read at the first request. */
async function readBuiltPages(baseUrl: string) {
  const contents: BuiltContents = JSON.parse(await readFile(join(FOLDER, 'contents.json'), 'utf8'));
  const read = async (path: string): Promise<[path: string, page: StaticDocument]> => {
    const html = await readFile(join(FOLDER, toPageFile(path)), 'utf8');
    const body = Buffer.from(html.replaceAll(PLACEHOLDER_URL, () => escapeHtml(baseUrl)));
    return [path, new StaticDocument(body, HTML, 'revalidated', STATIC_HEADERS)];
  };
  const pages = await Promise.all(contents.paths.map(read));
  const collection = await readFile(join(FOLDER, POSTMAN_FILE), 'utf8');
  const body = Buffer.from(collection.replaceAll(PLACEHOLDER_URL, () => JSON.stringify(baseUrl).slice(1, -1)));
  pages.push([`${PREFIX}/${POSTMAN_FILE}`, new StaticDocument(body, JSON_TYPE, 'revalidated', ANY_ORIGIN)]);
  return { contents, pages };
}
