import { randomBytes } from 'node:crypto';
import { readdir, utimes, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { createObjectKey, createUploadKey } from '../../src/storage/keys.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { startStore, type TestStore } from '../support/stores.ts';
import { type Swift, startSwift, swiftUnavailableReason } from '../support/swift.ts';

const TYPE = 'image/png';
const BUILDER = 'buil_a1';

if (swiftUnavailableReason)
  console.warn(`\n*** The S3 store is NOT tested: ${swiftUnavailableReason} Run test/support/install-swift. ***\n`);

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

const put = (url: string, body: Buffer | string, contentType = TYPE) =>
  fetch(url, { method: 'PUT', body: body as never, headers: { 'Content-Type': contentType } });

/** The URL with one query parameter changed, or the path. */
function alterUrl(url: string, change: (url: URL) => void): string {
  const copy = new URL(url);
  change(copy);
  return copy.href;
}

describe.each(['local', 's3'])('the %s store', (kind) => {
  if (kind === 's3' && swiftUnavailableReason) {
    it.skip(`is not tested: ${swiftUnavailableReason}`, () => undefined);
    return;
  }
  let swift: Swift | null = null;
  let store: TestStore;
  let storage: Storage;

  beforeAll(async () => {
    swift = kind === 's3' ? await startSwift() : null;
    store = await startStore(swift?.settings ?? {});
    storage = store.storages.au1;
  });

  afterAll(async () => {
    await store?.stop();
    await swift?.stop();
  });

  async function read(key: string, of: Storage = storage): Promise<string | null> {
    const found = await of.byteStore.open(key);
    return found && text(found.stream);
  }

  const uploaded = async (body: string) => {
    const key = createUploadKey(BUILDER);
    expect((await put(await storage.createUploadUrl(key, TYPE, body.length), body)).status).toBe(200);
    return key;
  };

  it('takes what a client PUTs to the signed URL (UPL-5)', async () => {
    const body = randomBytes(300_000);
    const key = createUploadKey(BUILDER);
    const answer = await put(await storage.createUploadUrl(key, TYPE, body.length), body);
    expect(answer.status).toBe(200);
    const found = await storage.withFile(key, async (_path, size) => size);
    expect(found).toBe(body.length);
  });

  it('takes files of builders with the longest ids that an import accepts (UPL-5)', async () => {
    const longest = BUILDER.padEnd(200, 'x');
    const key = createUploadKey(longest);
    expect((await put(await storage.createUploadUrl(key, TYPE, 5), 'bytes')).status).toBe(200);
    const copied = createObjectKey('photos', longest, TYPE);
    await storage.byteStore.copy(key, copied, TYPE);
    expect(await (await fetch(storage.createDownloadUrl(copied, TYPE))).text()).toBe('bytes');
  });

  it('knows other bytes under the same key by their version', async () => {
    const key = await uploaded('first');
    const first = (await storage.byteStore.stat(key))!.version;
    expect(await storage.byteStore.copy(key, createObjectKey('photos', BUILDER, TYPE), TYPE)).toBe(first);
    expect((await storage.byteStore.stat(key))!.version).toBe(first);
    const path = await storage.spool.createPath();
    await writeFile(path, 'other');
    await storage.byteStore.put(key, path, TYPE);
    const second = (await storage.byteStore.stat(key))!.version;
    expect(second).not.toBe(first);
    expect(await storage.byteStore.copy(key, createObjectKey('photos', BUILDER, TYPE), TYPE)).toBe(second);
  });

  if (kind === 's3') {
    it('replaces at a repeated PUT (UPL-6)', async () => {
      const key = createUploadKey(BUILDER);
      const url = await storage.createUploadUrl(key, TYPE, 5);
      await put(url, 'first');
      await put(url, 'other');
      expect(await read(key)).toBe('other');
    });
  }

  it('refuses another length (UPL-5)', async () => {
    const key = createUploadKey(BUILDER);
    const url = await storage.createUploadUrl(key, TYPE, 5);
    for (const body of ['four', 'longer than that', '']) {
      expect((await put(url, body)).status).toBeGreaterThanOrEqual(400);
      expect((await put(url, body)).status).toBeLessThan(500);
    }
    expect(await storage.byteStore.stat(key)).toBeNull();
  });

  it('refuses another type, and the same type with parameters (UPL-5)', async () => {
    const key = createUploadKey(BUILDER);
    const url = await storage.createUploadUrl(key, TYPE, 5);
    for (const type of ['image/jpeg', 'text/html', `${TYPE}; charset=utf-8`]) {
      const { status } = await put(url, 'bytes', type);
      expect([400, 403]).toContain(status);
    }
    expect(await storage.byteStore.stat(key)).toBeNull();
  });

  it('refuses an expired URL (UPL-4)', async () => {
    const key = createUploadKey(BUILDER);
    const url = await store.openWithClockBehind(901).au1.createUploadUrl(key, TYPE, 5);
    expect((await put(url, 'bytes')).status).toBe(403);
    expect(await storage.byteStore.stat(key)).toBeNull();
    const recent = await store.openWithClockBehind(880).au1.createUploadUrl(key, TYPE, 5);
    expect((await put(recent, 'bytes')).status).toBe(200);
  });

  it('refuses an altered URL (UPL-4)', async () => {
    const key = createUploadKey(BUILDER);
    const url = await storage.createUploadUrl(key, TYPE, 5);
    const other = createUploadKey(BUILDER);
    const longer = [...new URL(url).searchParams.keys()].map((name) =>
      alterUrl(url, ({ searchParams }) => searchParams.set(name, `${searchParams.get(name)}0`)),
    );
    const elsewhere = [
      url.replace(key, other),
      url.replace(key, key.replace(BUILDER, 'buil_b2')),
      url.replace('/au1/', '/us1/'),
    ];
    const spelledOtherwise = ['05', '5.0', '5e0'].map((size) =>
      alterUrl(url, ({ searchParams }) => searchParams.set('size', size)),
    );
    for (const wrong of [...longer, ...elsewhere, ...spelledOtherwise]) {
      const { status } = await put(wrong, 'bytes');
      expect([400, 403], wrong).toContain(status);
    }
    expect(await storage.byteStore.stat(key)).toBeNull();
    expect(await storage.byteStore.stat(other)).toBeNull();
  });

  it('never shows half of an upload whose connection breaks (UPL-7)', async () => {
    const key = createUploadKey(BUILDER);
    const url = new URL(await storage.createUploadUrl(key, TYPE, 1_000_000));
    const socket = connect(Number(url.port), url.hostname);
    socket.on('error', () => undefined);
    const head = [
      `PUT ${url.pathname}${url.search} HTTP/1.1`,
      `Host: ${url.host}`,
      `Content-Type: ${TYPE}`,
      'Content-Length: 1000000',
      '',
      '',
    ];
    socket.write(head.join('\r\n'));
    await new Promise((written) => socket.write(Buffer.alloc(400_000), written));
    const spooled = () => readdir(join(store.folder, 'storage', 'spool'));
    // Another server does not say what it has received.
    const untilSpooled = (count: number) => (kind === 'local' ? expect.poll(spooled).toHaveLength(count) : sleep(200));
    await untilSpooled(1);
    expect(await storage.byteStore.stat(key)).toBeNull();
    socket.destroy();
    await untilSpooled(0);
    expect(await storage.byteStore.stat(key)).toBeNull();
  });

  it('copies to a final key, which a later PUT to the upload URL does not change (UPL-17)', async () => {
    const key = createUploadKey(BUILDER);
    const url = await storage.createUploadUrl(key, TYPE, 5);
    await put(url, 'right');
    const kept = createObjectKey('photos', BUILDER, TYPE);
    const { version } = (await storage.byteStore.stat(key))!;
    expect(await storage.byteStore.copy(key, kept, TYPE)).toBe(version);
    expect((await put(url, 'wrong')).status).toBe(kind === 'local' ? 409 : 200);
    expect(await read(kept)).toBe('right');
    const download = await fetch(storage.createDownloadUrl(kept));
    expect(await download.text()).toBe('right');
  });

  it('knows a copy as new, however old its source is (UPL-30)', async () => {
    const source = await uploaded('old');
    if (kind === 'local') {
      const path = join(store.folder, 'storage/objects/au1', source);
      await utimes(path, new Date(0), new Date(0));
    }
    const copy = createObjectKey('photos', BUILDER, TYPE);
    await storage.byteStore.copy(source, copy, TYPE);
    const { modifiedAt } = (await storage.byteStore.stat(copy))!;
    expect(Math.abs(Date.now() - modifiedAt)).toBeLessThan(60_000);
  });

  it('distinguishes a copy of a missing object from a completed one', async () => {
    expect(
      await storage.byteStore.copy(createUploadKey(BUILDER), createObjectKey('photos', BUILDER, TYPE), TYPE),
    ).toBeNull();
    expect(await storage.byteStore.open('uploads/buil_a1/nothing')).toBeNull();
    expect(await storage.withFile('uploads/buil_a1/nothing', async () => true)).toBeNull();
  });

  it('makes a file an object, lists and removes it', async () => {
    const path = await storage.spool.createPath();
    await writeFile(path, 'bytes of a file');
    const key = createObjectKey('logos', BUILDER, TYPE);
    await storage.byteStore.put(key, path, TYPE);
    await storage.spool.discard(path);
    expect(await read(key)).toBe('bytes of a file');
    const listed = await collect(storage.byteStore.list('logos'));
    expect(listed).toMatchObject([{ key, size: 15 }]);
    expect(Math.abs(Date.now() - listed[0]!.modifiedAt)).toBeLessThan(60_000);
    await storage.byteStore.remove([key, key]);
    expect(await storage.byteStore.stat(key)).toBeNull();
    expect(await collect(storage.byteStore.list('logos'))).toEqual([]);
  });

  it('lists objects in folders of any depth, and keeps no empty folder', async () => {
    const keys = ['renditions/b/p1/1.webp', 'renditions/b/p1/2.webp', 'renditions/b/p2/1.webp', 'renditions/x.webp'];
    for (const key of keys) await storage.store(key, Readable.from(['bytes']), 'image/webp', 1_000);
    const listed = async () => (await collect(storage.byteStore.list('renditions/'))).map(({ key }) => key).sort();
    expect(await listed()).toEqual(keys);
    await storage.byteStore.remove([keys[0]!, keys[2]!]);
    expect(await listed()).toEqual([keys[1], keys[3]]);
    if (kind === 'local') {
      expect(await readdir(join(store.folder, 'storage/objects/au1/renditions/b'))).toEqual(['p1']);
    }
    await storage.byteStore.remove(keys);
    expect(await listed()).toEqual([]);
  });

  it('stores into a folder that is removed again and again, because it is empty', async () => {
    let isOver = false;
    const remove = async () => {
      while (!isOver) await storage.byteStore.remove(['renditions/b/p3/none.webp']);
    };
    const removing = kind === 'local' ? remove() : null;
    // Only the local store has folders.
    for (let round = 0; round < (kind === 'local' ? 20 : 1); round++) {
      const key = `renditions/b/p3/${round}.webp`;
      await storage.store(key, Readable.from(['bytes']), 'image/webp', 1_000);
      expect(await read(key)).toBe('bytes');
      await storage.byteStore.remove([key]);
    }
    isOver = true;
    await removing;
  });

  it('copies into a folder that is removed again and again, because it is empty', async () => {
    const source = await uploaded('a picture');
    const [copies, rounds] = kind === 'local' ? [8, 15] : [2, 1];
    const copyAndRemove = async (copy: number) => {
      for (let round = 0; round < rounds; round++) {
        const key = `photos/b/${copy}-${round}.jpg`;
        expect(await storage.byteStore.copy(source, key, TYPE)).not.toBeNull();
        expect(await read(key)).toBe('a picture');
        await storage.byteStore.remove([key]);
      }
    };
    await Promise.all(Array.from({ length: copies }, (_, copy) => copyAndRemove(copy)));
    expect(await storage.byteStore.copy('uploads/none', 'photos/b/none.jpg', TYPE)).toBeNull();
  });

  it('keeps the regions apart', async () => {
    const key = await uploaded('of au1');
    expect(await store.storages.us1.byteStore.stat(key)).toBeNull();
    const url = storage.createDownloadUrl(key, TYPE);
    expect((await fetch(url.replace('/au1/', '/us1/'))).status).toBe(403);
  });

  describe('downloads', () => {
    it('carry the checked type, and headers that keep a browser from running them (UPL-31)', async () => {
      const key = await uploaded('a picture');
      const answer = await fetch(storage.createDownloadUrl(key, TYPE, 'Küche "1".png'));
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toBe(TYPE);
      expect(answer.headers.get('content-length')).toBe('9');
      expect(answer.headers.get('content-security-policy')).toBe('sandbox');
      expect(answer.headers.get('content-disposition')).toBe("inline; filename*=UTF-8''K%C3%BCche%20%221%22.png");
      expect(answer.headers.get('access-control-allow-origin')).toBeNull();
      expect(await answer.text()).toBe('a picture');
    });

    it('save what is neither a picture nor a PDF instead of showing it (UPL-31)', async () => {
      const key = await uploaded('<script>');
      const answer = await fetch(storage.createDownloadUrl(key, 'text/html'));
      expect(answer.headers.get('content-disposition')).toBe('attachment');
      const pdf = await fetch(storage.createDownloadUrl(key, 'application/pdf'));
      expect(pdf.headers.get('content-disposition')).toBe('inline');
    });

    it('are 403 when the URL has expired or was altered, 404 when there are no bytes (UPL-4, UPL-32)', async () => {
      const key = await uploaded('a picture');
      const url = storage.createDownloadUrl(key, TYPE, 'a.png');
      const wrong = [
        store.openWithClockBehind(900).au1.createDownloadUrl(key, TYPE),
        alterUrl(url, ({ searchParams }) => searchParams.set('type', 'text/html')),
        alterUrl(url, ({ searchParams }) => searchParams.set('name', 'a.html')),
        alterUrl(url, ({ searchParams }) => searchParams.set('expires', '9999999999')),
        alterUrl(url, ({ searchParams }) => searchParams.delete('signature')),
        alterUrl(url, ({ searchParams }) => searchParams.append('type', TYPE)),
        alterUrl(url, ({ searchParams }) => searchParams.set('more', '1')),
        alterUrl(url, (copy) => {
          copy.pathname = copy.pathname.replace(BUILDER, 'buil_b2');
        }),
      ];
      for (const each of wrong) expect((await fetch(each)).status, each).toBe(403);
      expect((await fetch(storage.createDownloadUrl('photos/buil_a1/none.png'))).status).toBe(404);
    });

    it('are in part where a range of bytes is asked for: 206 (UPL-32)', async () => {
      const key = await uploaded('a picture');
      const url = storage.createDownloadUrl(key, TYPE);
      for (const [range, part, where] of [
        ['bytes=0-0', 'a', '0-0'],
        ['bytes=2-', 'picture', '2-8'],
        ['bytes=-3', 'ure', '6-8'],
        ['bytes=-99', 'a picture', '0-8'],
        ['bytes=4-99', 'cture', '4-8'],
      ] as const) {
        const answer = await fetch(url, { headers: { Range: range } });
        expect([answer.status, answer.headers.get('content-range')], range).toEqual([206, `bytes ${where}/9`]);
        expect(answer.headers.get('content-length')).toBe(String(part.length));
        expect(answer.headers.get('content-security-policy')).toBe('sandbox');
        expect(await answer.text()).toBe(part);
      }
    });

    // UPL-32
    it('are whole when the header asks for several ranges, another unit or nothing, or has a condition', async () => {
      const key = await uploaded('a picture');
      const url = storage.createDownloadUrl(key, TYPE);
      const headers: Record<string, string>[] = [
        ...['bytes=0-1,3-4', 'lines=0-1', 'bytes=-', 'bytes=5-2', 'bytes=a-b', 'bytes'].map((Range) => ({ Range })),
        { Range: 'bytes=0-1', 'If-Range': '"v1"' },
        {},
      ];
      for (const each of headers) {
        const answer = await fetch(url, { headers: each });
        expect([answer.status, await answer.text()], JSON.stringify(each)).toEqual([200, 'a picture']);
        expect(answer.headers.get('accept-ranges')).toBe('bytes');
      }
    });

    it('are 416 when the file ends before the range (UPL-32)', async () => {
      const url = storage.createDownloadUrl(await uploaded('a picture'), TYPE);
      for (const range of ['bytes=9-', 'bytes=99-100', 'bytes=-0']) {
        const answer = await fetch(url, { headers: { Range: range } });
        expect([answer.status, answer.headers.get('content-range')], range).toEqual([416, 'bytes */9']);
        expect(await answer.json()).toMatchObject({ code: 'RANGE_NOT_SATISFIABLE' });
      }
    });

    it('are described to HEAD, which reads nothing (UPL-32)', async () => {
      const url = storage.createDownloadUrl(await uploaded('a picture'), TYPE);
      const reads = vi.spyOn(storage.byteStore, 'open');
      const answer = await fetch(url, { method: 'HEAD', headers: { Range: 'bytes=0-1' } });
      expect([answer.status, answer.headers.get('content-length')]).toEqual([200, '9']);
      expect(answer.headers.get('content-type')).toBe(TYPE);
      expect(reads).not.toHaveBeenCalled();
      reads.mockRestore();
      expect((await fetch(storage.createDownloadUrl('photos/buil_a1/none.png'), { method: 'HEAD' })).status).toBe(404);
      expect((await fetch(url.replace('type=', 'type=x'), { method: 'HEAD' })).status).toBe(403);
    });

    it('are not for a URL that was signed to upload, nor the other way round (UPL-4)', async () => {
      const key = await uploaded('a picture');
      const upload = new URL(await storage.createUploadUrl(key, TYPE, 9));
      expect((await fetch(upload)).status).toBe(403);
      expect((await put(storage.createDownloadUrl(key, TYPE), 'a picture')).status).toBe(403);
    });
  });
});

describe('the signed upload route', () => {
  let store: TestStore;
  beforeAll(async () => {
    store = await startStore();
  });
  afterAll(() => store.stop());

  it('answers a browser of any origin, and the download route none (ACC-19, UPL-8)', async () => {
    const url = await store.storages.au1.createUploadUrl(createUploadKey(BUILDER), TYPE, 5);
    const preflight = await fetch(url, {
      method: 'OPTIONS',
      headers: { Origin: 'https://app.example', 'Access-Control-Request-Method': 'PUT' },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
    expect(preflight.headers.get('access-control-allow-methods')).toBe('PUT');
    expect(preflight.headers.get('access-control-allow-headers')).toMatch(/content-type/i);
    expect((await put(url, 'bytes')).headers.get('access-control-allow-origin')).toBe('*');
    expect((await put(url, 'byte')).headers.get('access-control-allow-origin')).toBe('*');
  });

  it('is 403 for a region that is a word of the language', async () => {
    const url = store.storages.au1.createDownloadUrl('photos/buil_a1/a.png', TYPE);
    for (const region of ['constructor', '__proto__', 'toString', 'AU1', 'eu1', '%61u1x']) {
      expect((await fetch(url.replace('/au1/', `/${region}/`))).status, region).toBe(403);
    }
  });

  it('says that the type is wrong when it is no type at all, and nothing of it to who has no signature', async () => {
    const url = await store.storages.au1.createUploadUrl(createUploadKey(BUILDER), TYPE, 5);
    for (const type of ['~', 'NaN', 'http://127.0.0.1:5432/']) {
      const answer = await put(url, 'bytes', type);
      expect(answer.status).toBe(400);
      expect(await answer.json()).toEqual({ errors: [{ fieldName: 'Content-Type', message: `must be ${TYPE}` }] });
      expect((await put(`${url}0`, 'bytes', type)).status).toBe(403);
    }
  });

  it('takes no key that leads out of its folder', async () => {
    const { signer } = store.storages.au1;
    for (const key of ['../secret', 'uploads/../../secret', 'a/./b', '/etc/passwd', '.hidden', 'a//b', 'a\0b']) {
      expect(() => store.storages.au1.byteStore.toLocalPath(key)).toThrow();
      const url = signer.sign({ method: 'GET', region: 'au1', key, contentType: TYPE }, 900);
      expect([403, 404]).toContain((await fetch(url)).status);
      expect([403, 404]).toContain((await fetch(url.replace(key, encodeURIComponent(key)))).status);
    }
  });
});

describe('the settings of an S3-compatible store', () => {
  const settings = (more: Record<string, string>) => loadConfig({ STORAGE: 's3', S3_BUCKET: 'photos', ...more });

  it('need a bucket, and both halves of the credentials or neither', () => {
    expect(() => loadConfig({ STORAGE: 's3' })).toThrow('S3_BUCKET is required');
    expect(() => settings({ S3_ACCESS_KEY_ID: 'a' })).toThrow(
      'S3_SECRET_ACCESS_KEY is required with S3_ACCESS_KEY_ID.',
    );
    expect(() => loadConfig({ STORAGE: 'tape' })).toThrow('STORAGE must be local or s3');
    expect(loadConfig({}).s3).toBeNull();
    expect(settings({}).s3).toEqual({ bucket: 'photos', endpoint: null, awsRegion: 'us-east-1', credentials: null });
  });
});
