import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { paceDownload } from '../../src/http/storage/paced-download.ts';
import { createUploadKey } from '../../src/storage/keys.ts';
import { startStore, type TestStore } from '../support/stores.ts';

const chunksOf = (count: number) => Array.from({ length: count }, (_, at) => Buffer.alloc(1_024, at));

describe('a download', () => {
  it('has the bytes of its source', async () => {
    const chunks = chunksOf(20);
    expect(await buffer(paceDownload(Readable.from(chunks), 'intg_a'))).toEqual(Buffer.concat(chunks));
  });

  it('fails where its source fails, and ends the source where its client goes away', async () => {
    const broken = new Readable({ read: () => broken.destroy(new Error('The disk is gone.')) });
    await expect(buffer(paceDownload(broken, 'intg_a'))).rejects.toThrow('The disk is gone.');
    const source = Readable.from(chunksOf(20));
    for await (const _ of paceDownload(source, 'intg_a')) break;
    await expect(finished(source)).rejects.toThrow();
    expect(source.destroyed).toBe(true);
  });

  it('takes two chunks of a turn of the event loop together with all others (LIM-29)', async () => {
    let sent = 0;
    const downloads = Array.from({ length: 50 }, () =>
      paceDownload(Readable.from(chunksOf(4)), 'intg_a').on('data', () => sent++),
    );
    const inTurns: number[] = [];
    while (downloads.some(({ readableEnded }) => !readableEnded)) {
      const before = sent;
      await nextTurn();
      inTurns.push(sent - before);
    }
    expect(sent).toBe(200);
    expect(Math.max(...inTurns)).toBeLessThanOrEqual(4);
    expect(inTurns.length).toBeGreaterThanOrEqual(99);
  });
});

describe('GET of signed URLs', () => {
  const SIZE = 4 * 1_048_576;
  let store: TestStore;
  let key: string;

  beforeAll(async () => {
    store = await startStore();
    key = createUploadKey('buil_a1');
    const body = Buffer.alloc(SIZE, 7);
    const url = await store.storages.au1.createUploadUrl(key, 'image/png', SIZE);
    await fetch(url, { method: 'PUT', body, headers: { 'Content-Type': 'image/png' } });
  });

  afterAll(() => store.stop());

  it('by one share do not take the bytes of another share, whole or in ranges (LIM-29)', async () => {
    let sent = 0;
    const ofA = Array.from({ length: 16 }, async (_, at) => {
      const url = store.storages.au1.withShareKey('intg_a').createDownloadUrl(key, 'image/png');
      const { body } = await fetch(url, { headers: at % 2 === 0 ? {} : { Range: 'bytes=1-' } });
      for await (const chunk of body!) sent += chunk.length;
    });
    const response = await fetch(store.storages.au1.withShareKey('intg_b').createDownloadUrl(key, 'image/png'));
    const before = sent;
    expect((await response.bytes()).length).toBe(SIZE);
    // Fairness by download instead of by share would give the other share sixteen times as much.
    expect((sent - before) / SIZE).toBeLessThan(8);
    await Promise.all(ofA);
    expect(sent).toBe(16 * SIZE - 8);
  });
});
