import { pipeline, type Readable, Transform } from 'node:stream';
import { countReceivedBytes } from '../shared/buffer-collection.ts';
import { PacedQueue } from '../shared/paced-queue.ts';

/** Chunks of up to 64 KiB that are sent in one turn of the event loop, of all downloads. Each takes about 0.1 ms of it. */
const CHUNKS_PER_TURN = 2;

interface WaitingChunk {
  download: Transform;
  send: () => void;
}

/** Of the process, because its downloads share one event loop. */
const queue = new PacedQueue<WaitingChunk>(CHUNKS_PER_TURN, ({ download, send }) => {
  if (download.destroyed) return false;
  send();
  return true;
});

/**
 * Returns a stream of the same bytes that sends a few chunks of all downloads in each turn of the event loop, one of each share in turn (LIM-29).
 */
export function paceDownload(stream: Readable, shareKey: string): Readable {
  const download: Transform = new Transform({
    // A chunk waits here, and the source has read the next one: more would only take memory.
    highWaterMark: 1,
    transform(chunk: Buffer, _encoding, done) {
      countReceivedBytes(chunk.length);
      const waiting = { download, send: () => done(null, chunk) };
      if (!queue.tryBegin(waiting)) queue.add(shareKey, waiting);
    },
  });
  // `pipeline` passes errors on to the reader, and destroys the source when the reader stops.
  pipeline(stream, download, () => undefined);
  return download;
}
