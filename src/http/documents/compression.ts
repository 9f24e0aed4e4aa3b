import { pipeline, Readable, type Transform } from 'node:stream';
import { promisify } from 'node:util';
import {
  brotliCompress,
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createGzip,
  gzip,
  gzipSync,
} from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

/** Bytes below which a response is sent as it is: it fits into one packet. */
export const MIN_COMPRESSED_BYTES = 1024;

/** Bytes up to which a response is compressed at once, in some 200 µs. Handing it to another thread would take as long. */
const MAX_SYNC_BYTES = 64 * 1024;

/** Types whose content is text. Images and PDF are compressed already. */
const COMPRESSIBLE = /^(?:application\/(?:[\w.-]+\+)?json|text\/|image\/svg\+xml|application\/javascript)/;

export type Encoding = 'br' | 'gzip';

/** The lowest levels: higher ones take two to five times as long for a tenth less. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
const GZIP = { level: 1 };

export const compressBrotli = promisify(brotliCompress);
export const compressGzip = promisify(gzip);

/** Returns the encoding that the client prefers among those of this service; null for none. RFC 9110, section 12.5.3. */
export function selectEncoding(header = ''): Encoding | null {
  const weights: Partial<Record<string, number>> = {};
  for (const part of header.toLowerCase().split(',')) {
    const [name = '', parameter = ''] = part.split(';', 2);
    const [, weight = '1'] = /^\s*q=(.*)/.exec(parameter) ?? [];
    weights[name.trim()] = Number(weight) || 0;
  }
  const { '*': others = 0, br = others, gzip: gzipped = others } = weights;
  if (br === 0 && gzipped === 0) return null;
  return br >= gzipped ? 'br' : 'gzip';
}

/** Compresses a text of more than 1 KB for a client that accepts it, and calls `done` with it; with nothing for other responses. HDR-16. */
export function compressResponse(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  done: (error?: Error | null, compressed?: unknown) => void,
): void {
  const accepted = request.headers['accept-encoding'];
  const encoding = accepted && isCompressible(request, reply, payload) ? selectEncoding(accepted) : null;
  if (!encoding) {
    done();
    return;
  }
  const send = (compressed: unknown) => {
    reply.removeHeader('content-length');
    reply.header('Content-Encoding', encoding);
    // `Vary` concerns caches only, and these responses are not stored.
    if (reply.getHeader('cache-control') !== 'no-store') {
      const others = reply.getHeader('vary');
      reply.header('Vary', others === undefined ? 'Accept-Encoding' : `${others}, Accept-Encoding`);
    }
    done(null, compressed);
  };
  if (payload instanceof Readable) {
    // Ends the payload too when the client leaves.
    send(pipeline(payload, createEncoder(encoding), () => undefined));
  } else {
    const bytes = payload as string | Buffer;
    if (bytes.length <= MAX_SYNC_BYTES)
      send(encoding === 'br' ? brotliCompressSync(bytes, BROTLI) : gzipSync(bytes, GZIP));
    else (encoding === 'br' ? compressBrotli(bytes, BROTLI) : compressGzip(bytes, GZIP)).then(send, done);
  }
}

function isCompressible({ method }: FastifyRequest, reply: FastifyReply, payload: unknown): boolean {
  const type = reply.getHeader('content-type');
  if (method === 'HEAD' || typeof type !== 'string' || !COMPRESSIBLE.test(type)) return false;
  if (reply.hasHeader('content-encoding') || reply.statusCode === 206 || reply.statusCode === 304) return false;
  if (typeof payload === 'string' || Buffer.isBuffer(payload)) return payload.length >= MIN_COMPRESSED_BYTES;
  return payload instanceof Readable;
}

/** Flushes after each chunk, so that a browser shows the beginning of a page before its end is made. */
function createEncoder(encoding: Encoding): Transform {
  return encoding === 'br'
    ? createBrotliCompress({ ...BROTLI, flush: constants.BROTLI_OPERATION_FLUSH })
    : createGzip({ ...GZIP, flush: constants.Z_SYNC_FLUSH });
}
