import type { Transform } from 'node:stream';
import { PacedQueue } from './paced-queue.ts';

/** Chunks of up to 64 KiB that pass in one turn of the event loop, of all uploads and downloads. Each takes about 0.1 ms of it. */
const CHUNKS_PER_TURN = 2;

interface WaitingChunk {
  stream: Transform;
  pass: () => void;
}

/** Of the process, because its uploads and downloads share one event loop. */
const queue = new PacedQueue<WaitingChunk>(CHUNKS_PER_TURN, ({ stream, pass }) => {
  if (stream.destroyed) return false;
  pass();
  return true;
});

/** Lets a chunk pass the stream, in this turn of the event loop or a later one: a few in each, one of each share in turn (LIM-29). */
export function paceChunk(stream: Transform, shareKey: string, pass: () => void): void {
  if (!queue.tryBegin({ stream, pass })) queue.add(shareKey, { stream, pass });
}
