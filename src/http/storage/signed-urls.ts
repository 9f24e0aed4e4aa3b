import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RateLimiter } from '../../auth/rate-limiter.ts';
import type { Databases } from '../../database/database.ts';
import { storeRendition } from '../../domain/photos/render-photo.ts';
import { renderPlaceholder } from '../../images/render.ts';
import type { FairShares } from '../../limits/fair-shares.ts';
import { toNetwork } from '../../network/client-network.ts';
import { ApiError, conflict, forbidden, invalidField, notFound, unavailable } from '../../shared/errors.ts';
import { REGIONS, type RegionId } from '../../shared/regions.ts';
import type { ByteRange } from '../../storage/byte-store.ts';
import { isRenditionKey } from '../../storage/keys.ts';
import { MAX_ATTACHMENT_BYTES, type Storage, type Storages } from '../../storage/storage.ts';
import { type SignedUrlClaims, STORAGE_PATH } from '../../storage/url-signer.ts';
import { hashBody, matchesTag } from '../documents/static-document.ts';
import { rejectOtherMethods } from '../method-not-allowed.ts';
import { holdUntilClosed } from './hold-until-closed.ts';
import { paceDownload } from './paced-download.ts';
import { MIN_COST, UploadRoom } from './upload-room.ts';

/** Media types that browsers may display; they save all others. */
const INLINE_TYPES = /^(image\/(jpeg|png|webp|gif|heic|heif)|application\/pdf)$/;

const STORAGE_ROUTE = `${STORAGE_PATH}/:region/*`;

/** Limits of requests to signed URLs, per share. */
export interface SignedUrlLimits {
  shares: FairShares;
  /** Rate limit of uploads; absent for none. */
  limits?: RateLimiter;
  databases?: Databases;
  /** Charges a request of another method to the rate limit of its address. */
  limitPageRequest?: (request: FastifyRequest) => Promise<void>;
}

const CORS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'PUT',
  'Access-Control-Allow-Headers': 'Content-Type',
  'Access-Control-Max-Age': '86400',
};

/**
 * Registers the signed URLs of this service: uploads to the local store and all downloads. They require no access token: the signature
 * determines what they allow (UPL-4).
 */
export async function registerStorage(
  app: FastifyInstance,
  { storages, ...limits }: SignedUrlLimits & { storages: Storages },
): Promise<void> {
  const urls = new SignedUrls(storages, limits);
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    // The handler reads the stream.
    scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
    const url = STORAGE_ROUTE;
    scope.options(url, async (_request, reply) => reply.headers(CORS).code(204).send());
    scope.put(url, { onRequest: urls.admitUpload }, urls.receive);
    // Fastify's own HEAD route would read the whole object.
    scope.get(url, { exposeHeadRoute: false, onRequest: urls.admitDownload }, urls.send);
    scope.head(url, { onRequest: urls.admitDownload }, urls.send);
  });
  rejectOtherMethods(app, [STORAGE_ROUTE], limits.limitPageRequest);
}

/** The hooks and handlers of the signed URLs. */
class SignedUrls {
  constructor(
    readonly storages: Storages,
    readonly limits: SignedUrlLimits,
  ) {}

  /** Checks signature, rate limit and headers of an upload before Fastify looks for a content type parser. */
  readonly admitUpload = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    reply.headers(CORS);
    const [, grant] = this.#requireGrant('PUT', request);
    const { contentType, size, region } = grant;
    const { limits, databases, shares } = this.limits;
    const shareKey = toShareKey(grant, request);
    if (limits) await limits.take(databases![region], `upload:${shareKey}`, null);
    if (request.headers['content-type'] !== contentType) throw invalidField('Content-Type', `must be ${contentType}`);
    if (request.headers['content-length'] !== String(size)) throw invalidField('Content-Length', `must be ${size}`);
    await new UploadRoom(shares.transfers, shareKey, reply).reserve(size!);
  };

  readonly admitDownload = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const [, grant] = this.#requireGrant('GET', request);
    const held = { shareKey: toShareKey(grant, request), cost: MIN_COST };
    await holdUntilClosed(this.limits.shares.transfers, held, reply);
  };

  readonly receive = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const [storage, grant] = this.#requireGrant('PUT', request);
    const { key, contentType, size } = grant;
    // The body ends at its Content-Length; fewer bytes mean that the connection broke. The connection has to stay open for the response,
    // also where writing fails.
    const body = request.raw.iterator({ destroyOnReturn: false });
    const limit = Math.min(size!, MAX_ATTACHMENT_BYTES);
    const file = await storage.spool.receive(body, limit, { shareKey: toShareKey(grant, request) }).catch((error) => {
      throw request.raw.readableAborted ? invalidField('body', `must have ${size} bytes`) : error;
    });
    try {
      const outcome = await storage.byteStore.putOnce(key, file.path, contentType);
      if (outcome === 'conflict') throw conflict('UPLOAD_CONFLICT', 'Other bytes were sent to this URL before.');
    } finally {
      await storage.spool.discard(file.path);
    }
    return reply.code(200).send();
  };

  /** Responds to GET, and to HEAD with the headers of GET for the whole file. */
  readonly send = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const [storage, grant] = this.#requireGrant('GET', request);
    const { byteStore } = storage;
    const { range, 'if-range': condition, 'if-none-match': known } = request.headers;
    const tag = toEntityTag(grant);
    // The client has the bytes already. HDR-17.
    if (tag !== null && matchesTag(known, tag)) {
      const { 'Content-Length': _, ...headers } = createHeaders(grant, 0);
      return reply.code(304).headers(headers).send();
    }
    const isHead = request.method === 'HEAD';
    const wantsRange = !isHead && range !== undefined && (condition === undefined || condition === tag);
    const about = isHead || wantsRange ? await byteStore.stat(grant.key) : null;
    const part = wantsRange && about ? parseRange(range, about.size) : undefined;
    const found = isHead ? about : await byteStore.open(grant.key, part);
    if (!found) return this.#sendMissing(storage, grant, request, reply);
    if (part) reply.code(206).header('Content-Range', `bytes ${part.first}-${part.last}/${about!.size}`);
    return sendFound(grant, found, request, reply);
  };

  /** Renders a rendition that is not stored yet, and sends it whole, or the placeholder of a photo that cannot be rendered. */
  async #sendMissing(storage: Storage, grant: SignedUrlClaims, request: FastifyRequest, reply: FastifyReply) {
    const { shares, databases } = this.limits;
    if (!databases || !isRenditionKey(grant.key)) throw notFound('File');
    const context = { database: databases[storage.region], storage, shares, shareKey: toShareKey(grant, request) };
    const closed = new AbortController();
    reply.raw.once('close', () => closed.abort(unavailable(new Error('The client went away.'))));
    const missing = await storeRendition(context, grant.key, closed.signal);
    if (missing === null) {
      const found = await storage.byteStore.open(grant.key);
      if (!found) throw notFound('File');
      return sendFound(grant, found, request, reply);
    }
    const placeholder = await renderPlaceholder(missing);
    const { ETag: _, ...headers } = createHeaders(grant, placeholder.length);
    return reply.headers({ ...headers, 'Cache-Control': 'no-store' }).send(placeholder);
  }

  /** Returns the storage and grant of a signed URL; throws 403 where it is invalid. */
  #requireGrant(method: 'GET' | 'PUT', request: FastifyRequest): [Storage, SignedUrlClaims] {
    const { region, '*': key } = request.params as { region: string; '*': string };
    const storage = REGIONS.some((id) => id === region) ? this.storages[region as RegionId] : null;
    const grant = storage?.signer.verify(method, region, key, request.query as Record<string, unknown>) ?? 'ALTERED';
    if (grant === 'EXPIRED') throw forbidden('The signed URL has expired.');
    if (grant === 'ALTERED') throw forbidden('The URL is not signed for this request.');
    return [storage!, grant];
  }
}

/** Returns the share that the URL names; URLs without one are charged to the address of the client. */
const toShareKey = ({ shareKey }: SignedUrlClaims, request: FastifyRequest): string =>
  shareKey ?? toNetwork(request.ip);

function sendFound(
  grant: SignedUrlClaims,
  found: { size: number; stream?: Readable },
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  reply.headers(createHeaders(grant, found.size));
  return reply.send(found.stream && paceDownload(found.stream, toShareKey(grant, request)));
}

function createHeaders(grant: SignedUrlClaims, size: number) {
  const tag = toEntityTag(grant);
  return {
    'Content-Type': grant.contentType,
    'Content-Length': size,
    'Content-Disposition': disposition(grant.contentType, grant.fileName),
    'Content-Security-Policy': 'sandbox',
    'Cache-Control': 'private, max-age=900',
    'Accept-Ranges': 'bytes',
    ...(tag !== null && { ETag: tag }),
  };
}

/**
 * Returns the entity tag of stored bytes. Those of a final key never change, so the key identifies them; null for an upload, which the
 * client may replace in an S3 store.
 */
const toEntityTag = ({ region, key }: SignedUrlClaims): string | null =>
  key.startsWith('uploads/') ? null : `"${hashBody(`${region}/${key}`)}"`;

/**
 * Returns the byte range of a Range header (RFC 9110, section 14.2). Undefined for a header that is ignored: several ranges, other units or an
 * invalid one. Throws 416 when the file has none of the bytes.
 */
function parseRange(header: string, size: number): ByteRange | undefined {
  const match = /^bytes=(\d*)-(\d*)$/i.exec(header.replaceAll(' ', ''));
  const [first, last] = [match?.[1] ?? '', match?.[2] ?? ''];
  if (first === '' && last === '') return undefined;
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  if (first !== '' && last !== '' && Number(last) < start) return undefined;
  if (start >= size) {
    throw new ApiError('RANGE_NOT_SATISFIABLE', `The file has ${size} bytes.`, {
      headers: { 'Content-Range': `bytes */${size}` },
    });
  }
  return { first: start, last: end };
}

/** RFC 6266: the name in UTF-8, percent-encoded, which leaves nothing to escape. */
function disposition(contentType: string, fileName: string | undefined): string {
  const how = INLINE_TYPES.test(contentType) ? 'inline' : 'attachment';
  if (fileName === undefined) return how;
  const encoded = encodeURIComponent(fileName.toWellFormed()).replace(
    /['()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16)}`,
  );
  return `${how}; filename*=UTF-8''${encoded}`;
}
