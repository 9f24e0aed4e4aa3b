import type { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import { invalidField, payloadTooLarge, unsupportedEncoding } from '../../shared/errors.ts';

/** The error of a body whose client went away before all of it was received. No client reads it. */
export const bodyEndedEarly = () => invalidField('body', 'ended early');

/**
 * Adds a hook that rejects a body with a content encoding, such as gzip (HDR-2), and one whose client went away while the request waited,
 * for its authentication or for a permit. Fastify would wait forever for the events of its stream, which are over, and the request would
 * keep its permits. LIM-30.
 */
export function rejectUnreadableBodies(app: FastifyInstance): void {
  app.addHook('preParsing', ({ raw, headers }, _reply, payload, done) => {
    if (raw.readableAborted) return done(bodyEndedEarly());
    const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
    done(hasBody && !NO_ENCODING.test(headers['content-encoding'] ?? '') ? unsupportedEncoding() : null, payload);
  });
}

const NO_ENCODING = /^(identity)?$/i;

/** Receives a small body with a Content-Length. */
export function receiveSmallBody(payload: Readable, length: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let received = 0;
    payload.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      received += chunk.length;
    });
    payload.once('end', () => {
      if (received !== length) reject(lengthMismatch());
      else resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, received));
    });
    payload.once('error', (error) => reject(toReceiveError(error)));
  });
}

/** Receives a large body with a Content-Length into one buffer, whose memory the system allocates as it is filled. */
export async function receiveLargeBody(payload: Readable, length: number): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(length);
  const received = await fill(bytes, 0, payload, () => lengthMismatch());
  if (received !== length) throw lengthMismatch();
  return bytes;
}

/**
 * Receives a body with chunked transfer encoding.
 *
 * @param largeFrom number of bytes above which it is large.
 * @param admit awaited before more bytes are received.
 */
export async function receiveChunkedBody(
  payload: Readable,
  { largeFrom, limit, admit }: { largeFrom: number; limit: number; admit(): Promise<void> },
): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let received = 0;
  for await (const chunk of chunksOf(payload)) {
    chunks.push(chunk);
    received += chunk.length;
    if (received > largeFrom) break;
  }
  const start = Buffer.concat(chunks, received);
  if (received <= largeFrom) return start;
  if (received > limit) throw payloadTooLarge(limit);
  await admit();
  const bytes = new Uint8Array(limit);
  bytes.set(start);
  return bytes.subarray(0, await fill(bytes, received, payload, () => payloadTooLarge(limit)));
}

/** Appends the received bytes from `start` on; returns the total number. */
async function fill(bytes: Uint8Array, start: number, payload: Readable, tooLong: () => Error): Promise<number> {
  let received = start;
  for await (const chunk of chunksOf(payload)) {
    if (received + chunk.length > bytes.length) throw tooLong();
    bytes.set(chunk, received);
    received += chunk.length;
  }
  return received;
}

/** Yields the chunks of a body. The request stays open when the loop ends early, for the response. */
async function* chunksOf(payload: Readable): AsyncGenerator<Buffer, void> {
  try {
    for await (const chunk of payload.iterator({ destroyOnReturn: false })) yield chunk as Buffer;
  } catch (error) {
    throw toReceiveError(error);
  }
}

const lengthMismatch = () => invalidField('Content-Length', 'does not match the body');

/** Returns 400 for a body that ended early, which is not a failure of the service; other errors unchanged. */
function toReceiveError(error: unknown): Error {
  const isApiError = typeof (error as { status?: number }).status === 'number';
  return isApiError ? (error as Error) : bodyEndedEarly();
}
