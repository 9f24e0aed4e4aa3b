import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RegionId } from '../context.ts';
import { forbidden, invalidField, notFound } from '../errors.ts';
import { type Grant, STORAGE_PATH } from '../storage/signatures.ts';
import { MAX_ATTACHMENT_BYTES, type Storage, type Storages } from '../storage/storage.ts';

/** Types that a browser may show in its window; it saves any other. */
const SHOWN = /^(image\/(jpeg|png|webp|gif|heic|heif)|application\/pdf)$/;

const CORS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'PUT',
  'Access-Control-Allow-Headers': 'Content-Type',
  'Access-Control-Max-Age': '86400',
};

/**
 * The signed URLs that the service answers itself: uploads to the local store and every download. They carry no access
 * token; the signature says what they allow. Part 8 of the decisions.
 */
export async function registerStorage(app: FastifyInstance, storages: Storages): Promise<void> {
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    // The handler takes the stream as it comes.
    scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
    const url = `${STORAGE_PATH}/:region/*`;
    scope.options(url, async (_request, reply) => reply.headers(CORS).code(204).send());
    scope.put(url, { onRequest: async (_request, reply) => void reply.headers(CORS) }, (request, reply) =>
      receive(storages, request, reply),
    );
    scope.get(url, (request, reply) => send(storages, request, reply));
  });
}

/** The storage and grant of a signed URL; throws 403 when it does not hold. */
function granted(storages: Storages, method: 'GET' | 'PUT', request: FastifyRequest): [Storage, Grant] {
  const { region, '*': key } = request.params as { region: string; '*': string };
  const storage = storages[region as RegionId] ?? storages.au1;
  const grant = storage.signer.check(method, region, key, request.query as Record<string, unknown>);
  if (grant === 'EXPIRED') throw forbidden('The signed URL has expired.');
  if (grant === 'ALTERED') throw forbidden('The URL is not signed for this request.');
  return [storage, grant];
}

async function receive(storages: Storages, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const [storage, { key, contentType, size }] = granted(storages, 'PUT', request);
  if (request.headers['content-type'] !== contentType) throw invalidField('Content-Type', `must be ${contentType}`);
  if (request.headers['content-length'] !== String(size)) throw invalidField('Content-Length', `must be ${size}`);
  // Node ends a body at its announced length; fewer bytes are a connection that broke, and end the work here.
  // A disk that is full must not end the connection, which has yet to be told.
  const body = request.raw.iterator({ destroyOnReturn: false });
  const file = await storage.spool.receive(body, Math.min(size!, MAX_ATTACHMENT_BYTES)).catch((error) => {
    throw request.raw.readableAborted ? invalidField('body', `must have ${size} bytes`) : error;
  });
  try {
    await storage.bytes.put(key, file.path, contentType);
  } finally {
    await storage.spool.discard(file.path);
  }
  return reply.code(200).send();
}

async function send(storages: Storages, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const [storage, { key, contentType, fileName }] = granted(storages, 'GET', request);
  const found = await storage.bytes.open(key);
  if (!found) throw notFound('File');
  return reply
    .headers({
      'Content-Type': contentType,
      'Content-Length': found.size,
      'Content-Disposition': disposition(contentType, fileName),
      'Content-Security-Policy': 'sandbox',
      'Cache-Control': 'private, max-age=900',
    })
    .send(found.stream);
}

/** RFC 6266: the name in UTF-8, percent-encoded, which leaves nothing to escape. */
function disposition(contentType: string, fileName: string | undefined): string {
  const how = SHOWN.test(contentType) ? 'inline' : 'attachment';
  if (fileName === undefined) return how;
  const encoded = encodeURIComponent(fileName.toWellFormed()).replace(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16)}`,
  );
  return `${how}; filename*=UTF-8''${encoded}`;
}
