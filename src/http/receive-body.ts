import type { Readable } from 'node:stream';
import { invalidField, payloadTooLarge } from '../shared/errors.ts';

/** Receives a body of an announced length that is not large. */
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
    payload.once('error', (error) => reject(incomplete(error)));
  });
}

/** Receives a body of an announced length into one piece of memory, which the system provides as it is filled. */
export async function receiveLargeBody(payload: Readable, length: number): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(length);
  const received = await fill(bytes, 0, payload, () => lengthMismatch());
  if (received !== length) throw lengthMismatch();
  return bytes;
}

/**
 * Receives a body whose length was not announced.
 *
 * @param usual Bytes from which on it is large.
 * @param admit Is awaited before more than that is received.
 */
export async function receiveUnannouncedBody(
  payload: Readable,
  { usual, limit, admit }: { usual: number; limit: number; admit(): Promise<void> },
): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let received = 0;
  for await (const chunk of chunksOf(payload)) {
    chunks.push(chunk);
    received += chunk.length;
    if (received > usual) break;
  }
  const start = Buffer.concat(chunks, received);
  if (received <= usual) return start;
  if (received > limit) throw payloadTooLarge(limit);
  await admit();
  const bytes = new Uint8Array(limit);
  bytes.set(start);
  return bytes.subarray(0, await fill(bytes, received, payload, () => payloadTooLarge(limit)));
}

/** Appends what arrives to the bytes that are there; returns their number. */
async function fill(bytes: Uint8Array, start: number, payload: Readable, tooLong: () => Error): Promise<number> {
  let received = start;
  for await (const chunk of chunksOf(payload)) {
    if (received + chunk.length > bytes.length) throw tooLong();
    bytes.set(chunk, received);
    received += chunk.length;
  }
  return received;
}

/** The request stays open when the loop ends early, because it is still to be answered. */
async function* chunksOf(payload: Readable): AsyncGenerator<Buffer, void> {
  try {
    for await (const chunk of payload.iterator({ destroyOnReturn: false })) yield chunk as Buffer;
  } catch (error) {
    throw incomplete(error);
  }
}

const lengthMismatch = () => invalidField('Content-Length', 'does not match the body');

/** Nobody reads the answer to a request that ended early, and it is no failure of the service. */
function incomplete(error: unknown): Error {
  const isOurs = typeof (error as { status?: number }).status === 'number';
  return isOurs ? (error as Error) : invalidField('body', 'ended early');
}
