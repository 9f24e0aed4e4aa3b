import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, type Transform } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { paceChunk } from '../../src/limits/paced-chunks.ts';
import { Spool } from '../../src/storage/spool.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'builder-api-spool-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('Spool.receive', () => {
  it('takes the chunks of a file in turn with those of other shares, however many they have (LIM-29)', async () => {
    // Fifty transfers without a share that always have a chunk.
    let passed = 0;
    let isOver = false;
    const send = (stream: Transform) =>
      paceChunk(stream, '', () => {
        passed++;
        if (!isOver) queueMicrotask(() => send(stream));
      });
    for (let count = 0; count < 50; count++) send(new PassThrough());
    const counts: number[] = [];
    async function* chunks(): AsyncGenerator<Buffer> {
      for (let chunk = 0; chunk < 2; chunk++) {
        counts.push(passed);
        yield Buffer.alloc(65_536);
      }
      counts.push(passed);
      isOver = true;
    }
    const received = await new Spool(folder).receive(chunks(), 3_000_000, { shareKey: 'intg_b' });
    expect(received).toMatchObject({ size: 2 * 65_536 });
    // Without turns by share the second chunk would be asked for after all fifty.
    expect(counts[1]! - counts[0]!).toBeLessThan(25);
  });
});
