import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAX_ATTACHMENT_BYTES } from '../../schema/scalars.ts';
import { readCaptureDate } from '../../src/images/exif.ts';
import { inspectImage } from '../../src/images/inspect.ts';
import { BadImage } from '../../src/images/types.ts';
import { createHeicGrid } from '../support/heic-grid.ts';
import {
  createAnimation,
  createDatedPicture,
  createDecompressionBomb,
  createFragmentedHeic,
  createHeic,
  createPicture,
  moveExifBehindPixels,
  pngChunk,
} from '../support/images.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'images-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function inspect(bytes: Buffer, timeZone?: string) {
  const path = join(folder, 'file');
  await writeFile(path, bytes);
  return inspectImage(path, bytes.length, { timeZone });
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
    const size = { width: 8_000, height: 7_000 };
    const progressive = await sharp(await createPicture())
      .jpeg({ progressive: true })
      .toBuffer();
    // The frame header (SOF2) has the height and the width behind its length and precision.
    const frame = progressive.indexOf('ffc2', 0, 'hex');
    progressive.writeUInt16BE(size.height, frame + 5);
    progressive.writeUInt16BE(size.width, frame + 7);
    await expect(inspect(progressive)).rejects.toThrow('50000000 pixels');
    const pixels = sharp(Buffer.alloc(size.width * size.height), { raw: { ...size, channels: 1 } });
    const plain = await pixels.toColourspace('b-w').jpeg({ optimizeCoding: false }).toBuffer();
    expect(await inspect(plain)).toMatchObject({ width: 8_000 });
  });

  it.each(['jpeg', 'png', 'webp'] as const)(
    'is measured as it is shown when the camera was turned: %s (UPL-22)',
    async (format) => {
      const turned = sharp(await createPicture()).withMetadata({ orientation: 6 });
      expect(await inspect(await turned.toFormat(format).toBuffer())).toMatchObject({ width: 30, height: 40 });
    },
  );

  it('of PNG may have its Exif behind the pixels (UPL-22, PHO-7)', async () => {
    const exif = { IFD0: { Orientation: '6' }, IFD2: { DateTimeOriginal: '2025:03:04 05:06:07' } };
    const image = sharp(await createPicture()).withExif(exif);
    const bytes = await image.withMetadata({ orientation: 6 }).png().toBuffer();
    const facts = { width: 30, height: 40, takenAt: '2025-03-04T05:06:07.000Z' };
    expect(await inspect(bytes)).toMatchObject(facts);
    const moved = moveExifBehindPixels(bytes);
    expect((await sharp(moved).metadata()).exif).toBeUndefined();
    expect(await inspect(moved)).toMatchObject(facts);
    const long = pngChunk('teXt', Buffer.alloc(1_000_000, 'x'));
    expect(await inspect(moveExifBehindPixels(bytes, long))).toMatchObject(facts);
  });

  it('of PNG is accepted without the Exif that more chunks hide than are read (UPL-21)', async () => {
    const bytes = await createDatedPicture('2025:03:04 05:06:07', undefined, {}, 'png');
    const many = Buffer.alloc(12 * 100_000, pngChunk('teXt'));
    expect(await inspect(moveExifBehindPixels(bytes, many))).toMatchObject({ width: 40, takenAt: null });
    for (const length of [0, 3, 0x7fff_ffff, 0xffff_ffff]) {
      const moved = moveExifBehindPixels(bytes);
      moved.writeUInt32BE(length, moved.indexOf('eXIf') - 4);
      expect(await inspect(moved), `${length}`).toMatchObject({ width: 40, takenAt: null });
    }
    const moved = moveExifBehindPixels(bytes);
    const most = moved.length - moved.indexOf('eXIf') - 1;
    for (let left = 12; left <= most; left++) {
      // Each byte of the ends of the chunk, and some of its middle.
      if (left > 24 && left < most - 24 && left % 16 > 0) continue;
      expect(await inspect(truncate(moved, left))).toMatchObject({ width: 40 });
    }
  });

  it('may have other bytes between the blocks of a GIF (UPL-20)', async () => {
    const bytes = await createAnimation('gif');
    const trailer = bytes.length - 1;
    for (const extra of [[0], [7, 0, 99]]) {
      const longer = Buffer.concat([bytes.subarray(0, trailer), Buffer.from(extra), bytes.subarray(trailer)]);
      expect(await inspect(longer)).toMatchObject({ contentType: 'image/gif', width: 50 });
      await expect(inspect(longer.subarray(0, -1))).rejects.toThrow('truncated');
    }
  });
});

describe('the capture date', () => {
  it('is the EXIF date with its offset', async () => {
    const bytes = await createDatedPicture('2025:03:04 05:06:07', '+10:00');
    expect(await inspect(bytes)).toMatchObject({ takenAt: '2025-03-03T19:06:07.000Z' });
  });

  it.each([
    ['2025:03:04 05:06:07', '2025-03-03T18:06:07.000Z'],
    ['2025:07:04 05:06:07', '2025-07-03T19:06:07.000Z'],
    ['2025:04:06 02:30:00', '2025-04-05T15:30:00.000Z'],
    ['2025:10:05 02:30:00', '2025-10-04T16:30:00.000Z'],
    ['0001:01:01 10:00:00', null],
    ['0001:01:01 12:00:00', '0001-01-01T01:55:08.000Z'],
    ['9999:12:30 23:59:59', '9999-12-30T12:59:59.000Z'],
    ['9999:12:31 23:59:59', '9999-12-31T12:59:59.000Z'],
  ])('without an offset is in the time zone of the builder: %s (PHO-7)', async (date, takenAt) => {
    expect(await inspect(await createDatedPicture(date), 'Australia/Sydney')).toMatchObject({ takenAt });
  });

  it.each([
    ['2015:02:01 14:42:59+01:00', '2015-02-01T13:42:59.000Z'],
    ['2015:02:01 14:42:59.25 -0130', '2015-02-01T16:12:59.250Z'],
    ['2015:02:01 14:42:59Z', '2015-02-01T14:42:59.000Z'],
  ])('has the offset in its text: %s (PHO-7)', async (date, takenAt) => {
    expect(await inspect(await createDatedPicture(date, '+10:00'), 'Australia/Sydney')).toMatchObject({ takenAt });
  });

  it.each(['+99:00', '-12:01', '+14:01', '+10:60', '+99:99'])('has no offset in %s (PHO-7)', async (offset) => {
    const takenAt = '2025-07-03T19:06:07.000Z';
    const [tag, text] = [['2025:07:04 05:06:07', offset], [`2025:07:04 05:06:07${offset}`]] as const;
    for (const [date, other] of [tag, text]) {
      expect(await inspect(await createDatedPicture(date, other), 'Australia/Sydney')).toMatchObject({ takenAt });
    }
  });

  it.each(['-12:00', '+12:45', '+14:00'])('has an offset from -12:00 to +14:00: %s (PHO-7)', async (offset) => {
    const takenAt = new Date(`2025-07-04T05:06:07${offset}`).toISOString();
    expect(await inspect(await createDatedPicture('2025:07:04 05:06:07', offset))).toMatchObject({ takenAt });
  });

  it('is a date or none in every time zone, at both ends of the years (PHO-7)', async () => {
    for (const [date, local] of [
      ['0000:01:01 00:00:00', null],
      ['0001:01:02 23:59:59', '0001-01-02T23:59:59Z'],
      ['9999:12:31 09:00:00', '9999-12-31T09:00:00Z'],
    ] as const) {
      const { exif } = await sharp(await createDatedPicture(date)).metadata();
      for (const timeZone of Intl.supportedValuesOf('timeZone')) {
        const takenAt = await readCaptureDate(exif, timeZone);
        if (local === null) expect(takenAt).toBeNull();
        else expect(Math.abs(Date.parse(takenAt!) - Date.parse(local)), timeZone).toBeLessThan(16 * 3_600_000);
      }
    }
  });

  it.each([
    ['9999:12:31 23:59:59', 'America/New_York'],
    ['0001:01:01 00:00:00', 'Australia/Sydney'],
  ])('is none outside of the years 1 to 9999 in UTC: %s in %s (PHO-7)', async (date, timeZone) => {
    expect(await inspect(await createDatedPicture(date), timeZone)).toMatchObject({ takenAt: null });
    const digitized = { DateTimeDigitized: '2025:03:04 05:06:07', OffsetTimeDigitized: '+00:00' };
    expect(await inspect(await createDatedPicture(date, undefined, digitized), timeZone)).toMatchObject({
      takenAt: '2025-03-04T05:06:07.000Z',
    });
  });

  it.each(['0000:00:00 00:00:00', '2025:02:31 00:00:00', '    :  :     :  :  '])(
    'is that of digitization when the other is none: %s (PHO-7)',
    async (date) => {
      const tags = {
        DateTimeDigitized: '2025:03:04 05:06:07',
        OffsetTimeDigitized: '+10:00',
        SubSecTimeDigitized: '5',
      };
      expect(await inspect(await createDatedPicture(date, '+01:00', tags))).toMatchObject({
        takenAt: '2025-03-03T19:06:07.500Z',
      });
    },
  );

  it.each(['jpeg', 'png', 'webp'] as const)('is read from a file of the type %s', async (format) => {
    const bytes = await createDatedPicture('2025:03:04 05:06:07', '+10:00', {}, format);
    expect(await inspect(bytes)).toMatchObject({ takenAt: '2025-03-03T19:06:07.000Z' });
  });

  it.each([
    ['0000:00:00 00:00:00'],
    ['2025:02:31 00:00:00'],
    ['yesterday'],
    ['2025:13:01 00:00:00'],
    ['9999:12:31 23:59:59', '-12:00'],
    ['0001:01:01 00:00:00', '+14:00'],
  ])('is null when it is none that can be kept: %s %s', async (...[date, offset]) => {
    expect(await inspect(await createDatedPicture(date, offset))).toMatchObject({ takenAt: null });
  });
});

const SAMPLES = 'test/samples/images';

describe('HEIC', () => {
  it('is opened and not decoded (UPL-22)', async () => {
    const bytes = createHeic();
    expect(await inspect(bytes)).toMatchObject({ contentType: 'image/heic', width: 640, height: 480 });
    expect(await inspect(Buffer.concat([bytes, Buffer.from('film')]))).toMatchObject({ width: 640 });
  });

  it('is opened within the bound of memory when it is as large as an upload may be (UPL-14)', async () => {
    const bytes = createHeic({ bytes: MAX_ATTACHMENT_BYTES - 1000 });
    expect(await inspect(bytes)).toMatchObject({ width: 640, height: 480 });
    await expect(inspect(truncate(bytes, 1))).rejects.toThrow('truncated');
  });

  it('is taken from a real encoder, with its capture date', async () => {
    const bytes = await readFile('test/fixtures/heic/camera.heic');
    expect(await inspect(bytes)).toMatchObject({
      contentType: 'image/heic',
      width: 800,
      height: 600,
      takenAt: '2025-03-04T05:06:07.000Z',
    });
    for (const left of [1, 500, bytes.length - 600])
      await expect(inspect(truncate(bytes, left))).rejects.toThrow('truncated');
  });

  it.each([
    ['cropped', 'clap', 320, 480, null],
    ['turned', 'irot90', 480, 640, null],
    ['with Exif in two extents', 'ex-split', 640, 480, '2026-06-01T00:00:00.000Z'],
  ])('%s has the size of the image as it is shown, and its date (UPL-22)', async (_, name, width, height, takenAt) => {
    expect(await inspect(await readFile(`${SAMPLES}/${name}.heic`))).toMatchObject({ width, height, takenAt });
  });

  it('of several pictures has the size of the primary one (UPL-22)', async () => {
    const tile = await readFile('test/fixtures/heic/tile.heic');
    const options = { columns: 2, rows: 2, width: 700, height: 900, depth: true, turns: 3 };
    expect(await inspect(createHeicGrid(tile, options))).toMatchObject({ width: 900, height: 700 });
  });

  it.each(['mif1', 'heic'])('is no AVIF of the brand %s (UPL-18)', async (brand) => {
    const bytes = await sharp(await createPicture())
      .avif()
      .toBuffer();
    bytes.write(brand, 8, 'latin1');
    await expect(inspect(bytes)).rejects.toThrow('accepted type');
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

  it('is refused within the bound of memory when it declares too many extents', async () => {
    const bytes = createHeic();
    const pieces = bytes.indexOf('iloc') + 4 + 4 + 2 + 2 + 2 + 2;
    bytes.writeUInt16BE(65_535, pieces);
    await expect(inspect(bytes)).rejects.toThrow(/structure|truncated/);
    const [before, many] = [process.memoryUsage().rss, createFragmentedHeic(60 * 65_535)];
    await expect(inspect(many)).rejects.toThrow(/structure|items/);
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
  });

  it('never makes the check fail otherwise, whatever byte is wrong', async () => {
    const bytes = createHeic({ bytes: 20 });
    for (let at = 0; at < bytes.length - 28; at += 29) {
      const wrong = Buffer.from(bytes);
      wrong[at] = at % 2 ? 255 : 0;
      await inspect(wrong).catch((error) => expect(error, `${at}`).toBeInstanceOf(BadImage));
    }
  });
});
