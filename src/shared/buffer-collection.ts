import { pipeline, type Readable, Transform } from 'node:stream';
import { collectGarbage } from './collect-garbage.ts';

/** Received bytes after which a minor garbage collection runs. */
const COLLECTION_INTERVAL_BYTES = 16 * 1024 * 1024;

let receivedBytes = 0;

/**
 * Counts bytes received from a socket or file, and runs a minor garbage collection after every 16 MiB. The buffers lie outside V8's
 * heap, whose growth alone triggers collections: with many large uploads, a hundred MiB of buffers that are already written to disk
 * would otherwise remain. A minor collection takes about a millisecond.
 */
export function countReceivedBytes(bytes: number): void {
  receivedBytes += bytes;
  if (receivedBytes < COLLECTION_INTERVAL_BYTES) return;
  receivedBytes = 0;
  collectGarbage('minor');
}

/** Returns a stream of the same bytes that counts them as received. */
export function withReceivedBytesCounted(stream: Readable): Readable {
  const count = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      countReceivedBytes(chunk.length);
      done(null, chunk);
    },
  });
  // `pipeline` passes errors on to the reader, and destroys the source when the reader stops.
  pipeline(stream, count, () => undefined);
  return count;
}
