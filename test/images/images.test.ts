import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inspectImage } from '../../src/images/inspect.ts';
import {
  createAnimation,
  createDatedPicture,
  createDecompressionBomb,
  createFragmentedHeic,
  createHeic,
  createPicture,
} from '../support/images.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'images-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function inspect(bytes: Buffer) {
  const path = join(folder, 'file');
  await writeFile(path, bytes);
  return inspectImage(path, bytes.length);
}

const truncate = (bytes: Buffer, left: number) => bytes.subarray(0, bytes.length - left);

describe('an image', () => {
  it.each(['jpeg', 'png', 'webp', 'gif'] as const)('is recognized by its bytes: %s (UPL-18)', async (format) => {
    expect(await inspect(await createPicture(format))).toMatchObject({
      contentType: `image/${format}`,
      width: 40,
      height: 30,
      takenAt: null,
    });
  });

  // UPL-20
  it.each(['jpeg', 'png', 'webp', 'gif'] as const)('is refused when its end is missing: %s', async (format) => {
    const bytes = await createPicture(format);
    for (const left of [1, 2, 8, Math.floor(bytes.length / 2), bytes.length - 60]) {
      // A decoder may accept an image without its end marker once it has every pixel.
      const harmless = (format === 'jpeg' && left <= 2) || (format === 'png' && left <= 12);
      if (harmless) continue;
      await expect(inspect(truncate(bytes, left)), `${left}`).rejects.toThrow(/truncated|decoded/);
    }
  });

  it('may have data after its end, as a motion photo has (UPL-20)', async () => {
    for (const format of ['jpeg', 'png', 'webp', 'gif'] as const) {
      const bytes = Buffer.concat([await createPicture(format), createHeic()]);
      expect(await inspect(bytes)).toMatchObject({ contentType: `image/${format}`, width: 40, size: bytes.length });
    }
  });

  it.each(['gif', 'webp'] as const)('is decoded in all of its frames: %s (UPL-20)', async (format) => {
    const bytes = await createAnimation(format);
    expect(await inspect(bytes)).toMatchObject({ width: 50, height: 40 });
    for (const part of [0.3, 0.5, 0.7, 0.9, 0.99]) {
      await expect(inspect(bytes.subarray(0, Math.floor(bytes.length * part)))).rejects.toThrow(/truncated|decoded/);
    }
  });

  it.each([
    ['an empty file', Buffer.alloc(0)],
    ['text', Buffer.from('just text, and no picture at all')],
    ['SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')],
    ['HTML', Buffer.from('<!doctype html><script>alert(1)</script>')],
    ['PDF', Buffer.from('%PDF-1.7\n1 0 obj\n')],
  ])('is not %s (UPL-18)', async (_name, bytes) => {
    await expect(inspect(bytes)).rejects.toThrow('not an image of an accepted type');
  });

  it('is not TIFF, nor AVIF (UPL-18)', async () => {
    const bytes = await createPicture('png');
    await expect(inspect(await sharp(bytes).tiff().toBuffer())).rejects.toThrow('accepted type');
    await expect(inspect(await sharp(bytes).avif().toBuffer())).rejects.toThrow('accepted type');
  });

  it('is rejected when it has more pixels than are decoded (UPL-21)', async () => {
    const before = process.memoryUsage().rss;
    await expect(inspect(createDecompressionBomb(60_000, 60_000))).rejects.toThrow('pixels');
    await expect(inspect(createDecompressionBomb(14_200, 14_200))).rejects.toThrow('pixels');
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024);
  });

  it('is rejected at a lower limit when its decoder keeps the whole image in memory (UPL-21)', async () => {
    const create = { width: 8_000, height: 7_000, channels: 3 as const, background: 'red' };
    const progressive = await sharp({ create }).jpeg({ progressive: true }).toBuffer();
    await expect(inspect(progressive)).rejects.toThrow('50000000 pixels');
    const plain = await sharp({ create }).jpeg().toBuffer();
    expect(await inspect(plain)).toMatchObject({ width: 8_000 });
  });

  it('is measured as it is shown when the camera was turned', async () => {
    const turned = await sharp(await createPicture())
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer();
    expect(await inspect(turned)).toMatchObject({ width: 30, height: 40 });
  });
});

describe('the capture date', () => {
  it('is the EXIF date with its offset', async () => {
    const bytes = await createDatedPicture('2025:03:04 05:06:07', '+10:00');
    expect(await inspect(bytes)).toMatchObject({ takenAt: '2025-03-03T19:06:07.000Z' });
  });

  it('is taken for UTC without an offset (PHO-7)', async () => {
    expect(await inspect(await createDatedPicture('2025:03:04 05:06:07'))).toMatchObject({
      takenAt: '2025-03-04T05:06:07.000Z',
    });
  });

  it.each([
    ['0000:00:00 00:00:00'],
    ['2025:02:31 00:00:00'],
    ['yesterday'],
    ['2025:13:01 00:00:00'],
    ['2025:03:04 05:06:07', '+99:99'],
    ['9999:12:31 23:59:59', '-12:00'],
    ['0001:01:01 00:00:00', '+14:00'],
  ])('is null when it is none that can be kept: %s %s', async (...[date, offset]) => {
    expect(await inspect(await createDatedPicture(date, offset))).toMatchObject({ takenAt: null });
  });
});

describe('HEIC', () => {
  it('is checked by its boxes (UPL-22)', async () => {
    const bytes = createHeic();
    expect(await inspect(bytes)).toMatchObject({ contentType: 'image/heic', width: 640, height: 480 });
    expect(await inspect(Buffer.concat([bytes, Buffer.from('film')]))).toMatchObject({ width: 640 });
  });

  it('is taken from a real encoder, with its capture date', async () => {
    const bytes = await readFile(join(import.meta.dirname, '../fixtures/heic', 'camera.heic'));
    expect(await inspect(bytes)).toMatchObject({
      contentType: 'image/heic',
      width: 800,
      height: 600,
      takenAt: '2025-03-04T05:06:07.000Z',
    });
    for (const left of [1, 500, bytes.length - 600])
      await expect(inspect(truncate(bytes, left))).rejects.toThrow('truncated');
  });

  it('is refused when bytes are missing (UPL-22)', async () => {
    const bytes = createHeic();
    for (const left of [1, 100, 500, 508, 520, 600, bytes.length - 30]) {
      await expect(inspect(truncate(bytes, left)), `${left}`).rejects.toThrow(/truncated|structure|accepted/);
    }
  });

  it('is refused without dimensions, or with too many pixels (UPL-22)', async () => {
    await expect(inspect(createHeic({ width: 0 }))).rejects.toThrow('structure');
    await expect(inspect(createHeic({ width: 60_000, height: 60_000 }))).rejects.toThrow('pixels');
  });

  it('is rejected before its extents are read when it declares too many', async () => {
    const bytes = createHeic();
    const pieces = bytes.indexOf('iloc') + 4 + 4 + 2 + 2 + 2 + 2;
    bytes.writeUInt16BE(65_535, pieces);
    await expect(inspect(bytes)).rejects.toThrow('structure');
    const [before, many] = [process.memoryUsage().rss, createFragmentedHeic(60 * 65_535)];
    await expect(inspect(many)).rejects.toThrow('structure');
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
  });

  it('never makes the check fail otherwise, whatever byte is wrong', async () => {
    const bytes = createHeic({ bytes: 20 });
    for (let at = 0; at < bytes.length - 28; at++) {
      for (const value of [0, 1, 255]) {
        const wrong = Buffer.from(bytes);
        wrong[at] = value;
        await inspect(wrong).catch((error) => expect(error.name, `${at} ${value}`).toBe('BadImage'));
      }
    }
  });
});
