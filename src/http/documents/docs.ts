import { extname } from 'node:path';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { notFound } from '../../shared/errors.ts';
import { WorkerThread } from '../../shared/worker-thread.ts';
import { rejectOtherMethods } from '../method-not-allowed.ts';
import type { ReferenceFile, ReferenceTask } from './docs-thread.ts';
import { REFERENCE_STYLES, type ReferenceDocument, renderReferencePage } from './reference-page.ts';
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

/** Reading Scalar's bundle of 4 MB takes 200 ms. The thread ends with its task, and leaves the files. */
const THREAD = {
  file: new URL(`./docs-thread${extname(import.meta.url)}`, import.meta.url),
  memoryMb: 256,
  timeoutMs: 60_000,
  idleMs: 0,
};

/** Where the files of the reference page are served. */
const PREFIX = '/docs' as const;
const FILES: `/${string}`[] = [`${PREFIX}/`, `${PREFIX}/js/scalar.js`];
/** Requests of other paths do not load the files. */
const FILE_PATH = /^\/docs\/(?:js\/scalar-[0-9a-f]{16}\.js)?$/;
const STATIC_PATH = /^\/docs\/(?:reference-[0-9a-f]{16}\.css)?$/;

const STATIC_POLICY =
  "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Registers `/openapi.json` and `/docs`, its reference page. */
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
  const files = production ? new StaticReference(document) : new ReferenceFiles();
  // Browsers request it for pages without an icon.
  app.get('/favicon.ico', async (_request, reply) => reply.code(204).send());
  await app.register(async (docs) => {
    if (limitVisitor) docs.addHook('onRequest', limitVisitor);
    docs.get('/openapi.json', (request, reply) => openApi.send(request, reply));
    docs.get('/', async (_request, reply) => reply.redirect(PREFIX));
    docs.get(PREFIX, async (_request, reply) => reply.redirect(`${PREFIX}/`, 301));
    docs.get(`${PREFIX}/*`, async (request, reply) => {
      const file = await files.find(request.url.split('?', 1)[0]!);
      if (!file) throw notFound('File');
      return file.send(request, reply);
    });
    rejectOtherMethods(docs, ['/favicon.ico', '/openapi.json', '/', PREFIX, `${PREFIX}/*`]);
  });
}

/** The reference of production: a page and its styles, rendered when one is first requested. */
class StaticReference {
  readonly #document: object;
  #files: Map<string, StaticDocument> | null = null;

  constructor(document: object) {
    this.#document = document;
  }

  async find(path: string): Promise<StaticDocument | undefined> {
    if (!STATIC_PATH.test(path)) return undefined;
    this.#files ??= this.#render();
    return this.#files.get(path);
  }

  #render(): Map<string, StaticDocument> {
    const stylesheet = `${PREFIX}/reference-${hashBody(REFERENCE_STYLES)}.css`;
    const page = Buffer.from(renderReferencePage(this.#document as ReferenceDocument, stylesheet));
    const headers = { 'Content-Security-Policy': STATIC_POLICY };
    return new Map([
      [`${PREFIX}/`, new StaticDocument(page, 'text/html; charset=utf-8', 'revalidated', headers)],
      [stylesheet, new StaticDocument(Buffer.from(REFERENCE_STYLES), 'text/css; charset=utf-8', 'immutable')],
    ]);
  }
}

/** The files of the interactive reference of development, made when one is first requested: they take as much memory as a tenth of the service. */
class ReferenceFiles {
  #files: Promise<Map<string, StaticDocument>> | null = null;

  async find(path: string): Promise<StaticDocument | undefined> {
    if (!FILE_PATH.test(path)) return undefined;
    this.#files ??= this.#load();
    return (await this.#files).get(path);
  }

  async #load(): Promise<Map<string, StaticDocument>> {
    const thread = new WorkerThread<ReferenceTask, ReferenceFile[]>(THREAD);
    try {
      const task = { prefix: PREFIX, configuration: CONFIGURATION, paths: FILES };
      const files = await thread.run(task);
      return toDocuments(files);
    } catch (error) {
      this.#files = null;
      throw error;
    } finally {
      await thread.close();
    }
  }
}

/** Gives the script a path with its hash, so that browsers keep it for ever. */
function toDocuments(files: readonly ReferenceFile[]): Map<string, StaticDocument> {
  const [page, script] = FILES.map((path) => files.find((file) => file.path === path)!) as [
    ReferenceFile,
    ReferenceFile,
  ];
  const scriptName = `js/scalar-${hashBody(script.body)}.js`;
  // Bytes of another thread arrive as a Uint8Array, which Fastify would send as JSON.
  const html = Buffer.from(page.body.buffer).toString().replaceAll('js/scalar.js', scriptName);
  const headers = { 'Content-Security-Policy': PAGE_POLICY };
  return new Map([
    [`${PREFIX}/`, new StaticDocument(Buffer.from(html), page.type, 'revalidated', headers)],
    [`${PREFIX}/${scriptName}`, new StaticDocument(Buffer.from(script.body.buffer), script.type, 'immutable', headers)],
  ]);
}

const CONFIGURATION = {
  url: '/openapi.json',
  pageTitle: 'Builder Integration API',
  withDefaultFonts: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  orderSchemaPropertiesBy: 'preserve',
  orderRequiredPropertiesFirst: false,
  authentication: { preferredSecurityScheme: 'oauth2' },
  agent: { disabled: true },
  mcp: { disabled: true },
  telemetry: false,
};
