import { readdir, readFile } from 'node:fs/promises';
import { basename, extname, join, relative, sep } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { StaticDocument } from '../../http/documents/static-document.ts';
import { rejectOtherMethods } from '../../http/method-not-allowed.ts';
import { notFound } from '../../shared/errors.ts';

const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Folder of files with a hash in their names. */
const HASHED = 'assets/';

/** The page of every route of the browser. */
const INDEX = 'index.html';
/** GraphiQL over `/graphql`, for development without internet. */
const GRAPHIQL = 'graphiql.html';
const GRAPHIQL_PATH = '/graphiql';

/** Returns the folder of the built console, whether this runs compiled or not. */
export function findConsoleFolder(): string {
  const root = join(import.meta.dirname, '../../..');
  return basename(root) === 'dist' ? join(root, 'console') : join(root, 'dist/console');
}

/** Whether a path shows GraphiQL, which inserts style elements and starts workers. */
const hasGraphiql = (path: string): boolean => path === GRAPHIQL || /^explorer(?:\/|$)/.test(path);

/** Returns the policy of a path's page. `images` are the origins of signed URLs. CON-13. */
const createPolicy = (path: string, images: readonly string[]): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self'${hasGraphiql(path) ? " 'unsafe-inline'" : ''}`,
    `img-src ${["'self'", 'data:', ...images].join(' ')}`,
    "font-src 'self' data:",
    "connect-src 'self'",
    `worker-src 'self'${hasGraphiql(path) ? ' blob:' : ''}`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

async function readDocument(folder: string, name: string, pagePolicy: string): Promise<StaticDocument> {
  const body = await readFile(join(folder, name));
  const extension = extname(name);
  const headers =
    extension === '.html' ? { 'Content-Security-Policy': pagePolicy, 'X-Frame-Options': 'DENY' } : undefined;
  const policy = name.startsWith(HASHED) ? 'immutable' : extension === '.html' ? 'unstored' : 'revalidated';
  return new StaticDocument(body, TYPES[extension] ?? 'application/octet-stream', policy, headers);
}

/** Returns the page that shows a route of the browser; null for a path that looks like a file. */
const findPage = (path: string): string | null => (path.slice(path.lastIndexOf('/') + 1).includes('.') ? null : INDEX);

const NOT_BUILT = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Staff console – Builder Integration</title></head>
<body><h1>The staff console is not built</h1><p>Run <code>npm run build</code> and start the service again.</p></body>
</html>
`;

/**
 * Registers `/console` and the paths below it: the built files, and the page for every route of the browser. CON-12. Registers `/graphiql`
 * outside production.
 *
 * @param options.images origins of signed URLs, beside that of the service
 */
export async function registerConsoleFiles(
  app: FastifyInstance,
  options: {
    folder: string;
    images: readonly string[];
    production: boolean;
    limitPageRequest: (request: FastifyRequest) => Promise<void>;
  },
): Promise<void> {
  const { folder, images, production, limitPageRequest } = options;
  const names = await listFileNames(folder);
  if (production) names.delete(GRAPHIQL);
  const documents = new Map<string, Promise<StaticDocument>>();
  /** Returns the file of a path below `/console/`, read when it is first requested. Throws 404. */
  const findDocument = (path: string) => {
    const name = names.has(path) ? path : findPage(path);
    if (name === null || !names.has(name)) throw notFound('Route');
    const policy = createPolicy(path, images);
    const key = `${name} ${policy}`;
    const document = documents.get(key) ?? readDocument(folder, name, policy);
    documents.set(key, document);
    return document;
  };
  const onRequest = async (request: FastifyRequest) => {
    // Files with a hash are cached for ever, and a page loads several.
    if (!names.has(getPath(request))) await limitPageRequest(request);
  };
  const handler = async (request: FastifyRequest, reply: FastifyReply) => {
    if (!names.has(INDEX)) return reply.code(503).type(TYPES['.html']!).send(NOT_BUILT);
    return (await findDocument(getPath(request))).send(request, reply);
  };
  const urls = ['/console', '/console/*'];
  if (!production) urls.push(GRAPHIQL_PATH);
  for (const url of urls) app.get(url, { onRequest, handler });
  rejectOtherMethods(app, urls, limitPageRequest);
}

/** Returns the path of the request below `/console/`. */
const getPath = ({ params, routeOptions }: FastifyRequest): string =>
  routeOptions.url === GRAPHIQL_PATH ? GRAPHIQL : ((params as { '*'?: string })['*'] ?? '');

/** Returns the names of the files in a folder and below it, with slashes; none where there is no folder. */
async function listFileNames(folder: string): Promise<Set<string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile());
  const names = files.map((file) => relative(folder, join(file.parentPath, file.name)).split(sep).join('/'));
  // The build keeps its own records in hidden files.
  return new Set(names.filter((name) => !/(?:^|\/)\./.test(name)));
}
