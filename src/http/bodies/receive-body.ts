import type { Readable } from 'node:stream';
import { ApiError, invalidField, payloadTooLarge } from '../../shared/errors.ts';

/** The error of a body whose client went away before all of it was received. No client reads it. */
export const bodyEndedEarly = () => invalidField('body', 'ended early');

/**
 * Receives a body, a large one into one buffer whose memory the system allocates as it is filled. Throws 400 or 413 for one of another length.
 *
 * @param length Content-Length of a large body; undefined for chunked transfer encoding.
 * @param largeFrom number of bytes above which it is large.
 * @param admit awaited before more bytes are received.
 */
export async function receiveBody(
  payload: Readable,
  length: number | undefined,
  { largeFrom, limit, admit }: { largeFrom: number; limit: number; admit(): Promise<void> },
): Promise<Uint8Array> {
  const maxLength = length ?? limit;
  const chunks: Buffer[] = [];
  let large: Uint8Array | undefined;
  let received = 0;
  const startLarge = async () => {
    await admit();
    large = new Uint8Array(maxLength);
    large.set(Buffer.concat(chunks));
  };
  if (length !== undefined) await startLarge();
  for await (const chunk of chunksOf(payload)) {
    const start = received;
    received += chunk.length;
    if (received > maxLength) throw length === undefined ? payloadTooLarge(limit) : lengthMismatch();
    if (received > largeFrom && !large) await startLarge();
    if (large) large.set(chunk, start);
    else chunks.push(chunk);
  }
  if (length !== undefined && received !== length) throw lengthMismatch();
  return large ? large.subarray(0, received) : Buffer.concat(chunks);
}

/** Yields the chunks of a body. The request stays open when the loop ends early, for the response. */
async function* chunksOf(payload: Readable): AsyncGenerator<Buffer, void> {
  try {
    for await (const chunk of payload.iterator({ destroyOnReturn: false })) yield chunk as Buffer;
  } catch (error) {
    // One that ended early is no failure of the service.
    throw error instanceof ApiError ? error : bodyEndedEarly();
  }
}

const lengthMismatch = () => invalidField('Content-Length', 'does not match the body');
