import { pipeline, type Readable, Transform } from 'node:stream';
import { paceChunk } from '../../limits/paced-chunks.ts';

/** Returns a stream of the same bytes whose chunks take turns with those of other callers (LIM-29). */
export function paceDownload(stream: Readable, shareKey: string): Readable {
  const download: Transform = new Transform({
    // A chunk waits here, and the source has read the next one: more would only take memory.
    highWaterMark: 1,
    transform(chunk: Buffer, _encoding, done) {
      paceChunk(download, shareKey, () => done(null, chunk));
    },
  });
  // `pipeline` passes errors on to the reader, and destroys the source when the reader stops.
  pipeline(stream, download, () => undefined);
  return download;
}
