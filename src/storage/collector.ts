import { pipeline, type Readable, Transform } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = (options: { type: 'minor' }) => void;

/** Bytes after which the buffers that carried them are collected. */
const EVERY_BYTES = 16 * 1024 * 1024;

let collect: Collect | undefined;
let received = 0;

/**
 * Counts bytes that have passed through. What a socket reads lies outside V8's heap, where a hundred MiB of it may gather, long
 * written to disk, before V8 looks: with many large uploads at once that is most of the process's memory. A minor collection
 * of the young objects that hold it takes about a millisecond.
 */
export function passed(bytes: number): void {
  received += bytes;
  if (received < EVERY_BYTES) return;
  received = 0;
  if (!collect) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as Collect;
  }
  collect({ type: 'minor' });
}

/** The same bytes, counted as they pass. */
export function counted(stream: Readable): Readable {
  const count = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      passed(chunk.length);
      done(null, chunk);
    },
  });
  // Whoever reads hears of a failure; one that stops reading ends the source.
  pipeline(stream, count, () => undefined);
  return count;
}
