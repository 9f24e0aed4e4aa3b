import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { PACKAGE_ROOT } from '../../src/shared/version.ts';

type Format = 'jpeg' | 'png' | 'webp' | 'gif';

const sourceRoot = PACKAGE_ROOT;

let pictureCount = 0;

/** Returns a small picture with unique bytes. */
export async function createPicture(format: Format = 'jpeg', options: { width?: number; height?: number } = {}) {
  const { width = 40, height = 30 } = options;
  pictureCount++;
  const background = { r: pictureCount % 256, g: (pictureCount >> 8) % 256, b: 77 };
  return sharp({
    create: { width, height, channels: 3, background, noise: { type: 'gaussian', mean: 128, sigma: 30 } },
  })
    .toFormat(format)
    .toBuffer();
}

/**
 * Returns a picture with the EXIF capture date, `2025:03:04 05:06:07` for example, with or without its offset.
 *
 * @param tags further ones of EXIF.
 */
export async function createDatedPicture(
  date: string,
  offset?: string,
  tags: Record<string, string> = {},
  format: Format = 'jpeg',
): Promise<Buffer> {
  const exif = { IFD2: { DateTimeOriginal: date, ...(offset && { OffsetTimeOriginal: offset }), ...tags } };
  return sharp(await createPicture())
    .withExif(exif)
    .toFormat(format)
    .toBuffer();
}

/** Returns an animation whose frames have one colour each. */
export async function createAnimation(format: 'gif' | 'webp', frames = 3): Promise<Buffer> {
  const pages = await Promise.all(
    Array.from({ length: frames }, (_, index) =>
      sharp({ create: { width: 50, height: 40, channels: 4, background: { r: 80 * index, g: 20, b: 20 } } })
        .png()
        .toBuffer(),
    ),
  );
  return sharp(pages, { join: { animated: true } })
    .toFormat(format)
    .toBuffer();
}

/** Returns a PNG of that size with equal pixels: kilobytes that decompress to gigabytes. */
export function createDecompressionBomb(width: number, height: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([1, 0, 0, 0, 0], 8);
  const row = Buffer.alloc(Math.ceil(width / 8) + 1);
  const data = deflateSync(Buffer.concat(Array.from({ length: Math.min(height, 200) }, () => row)));
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  return Buffer.concat([signature, pngChunk('IHDR', header), pngChunk('IDAT', data), pngChunk('IEND')]);
}

/** Returns a chunk of a PNG with its length and checksum. */
export function pngChunk(type: string, body: Buffer = Buffer.alloc(0)): Buffer {
  const named = Buffer.concat([Buffer.from(type), body]);
  return Buffer.concat([Buffer.from(u32(body.length)), named, Buffer.from(u32(crc(named)))]);
}

/** Returns the PNG with its `eXIf` chunk, and others before that one, behind the pixels. */
export function moveExifBehindPixels(png: Buffer, others: Buffer = Buffer.alloc(0)): Buffer {
  const start = png.indexOf('eXIf') - 4;
  const end = start + 12 + png.readUInt32BE(start);
  const trailer = png.length - 12;
  const parts = [png.subarray(0, start), png.subarray(end, trailer), others, png.subarray(start, end)];
  return Buffer.concat([...parts, png.subarray(trailer)]);
}

function crc(bytes: Buffer): number {
  let value = -1;
  for (const byte of bytes) {
    value ^= byte;
    for (let bit = 0; bit < 8; bit++) value = (value >>> 1) ^ (value & 1 ? 0xedb88320 : 0);
  }
  return (value ^ -1) >>> 0;
}

export function box(type: string, ...content: (Buffer | number[])[]): Buffer {
  const body = Buffer.concat(content.map((part) => Buffer.from(part)));
  const head = Buffer.alloc(8);
  head.writeUInt32BE(body.length + 8);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, body]);
}

export const u16 = (value: number) => [value >> 8, value & 255];
export const u32 = (value: number) => [...u16(value >>> 16), ...u16(value & 65535)];

/** Returns a HEIC file whose picture has that many extents without bytes. */
export function createFragmentedHeic(pieces: number): Buffer {
  const most = 65_535;
  const items = Array.from({ length: Math.ceil(pieces / most) }, (_, index) => {
    const count = Math.min(most, pieces - index * most);
    return Buffer.concat([Buffer.from([...u16(index + 1), ...u16(0), ...u16(count)]), Buffer.alloc(count)]);
  });
  return Buffer.concat([
    box('ftyp', Buffer.from('heic\0\0\0\0mif1heic')),
    box(
      'meta',
      u32(0),
      box('pitm', u32(0), u16(1)),
      box('iloc', [...u32(0), ...u16(0x0100), ...u16(items.length)], ...items),
      box('idat', [1]),
      box('iprp', box('ipco', box('ispe', u32(0), u32(640), u32(480)))),
    ),
  ]);
}

/** The configuration of the decoder (an `hvcC` box) of a fixture. */
const CONFIGURATION = (() => {
  const file = readFileSync(join(sourceRoot, 'test', 'fixtures', 'heic', 'plain.heic'));
  const at = file.indexOf('hvcC') - 4;
  return file.subarray(at, at + file.readUInt32BE(at));
})();

/** Returns a HEIC file that libheif opens, and whose picture it cannot decode because its bytes are all the same. */
export function createHeic({ width = 640, height = 480, bytes = 500 } = {}): Buffer {
  const start = box('ftyp', Buffer.from('heic\0\0\0\0mif1heic'));
  const described = (offset: number) =>
    box(
      'meta',
      u32(0),
      box('hdlr', u32(0), u32(0), Buffer.from('pict'), Buffer.alloc(13)),
      box('pitm', u32(0), u16(1)),
      box('iinf', u32(0), u16(1), box('infe', u32(0x02000000), u16(1), u16(0), Buffer.from('hvc1\0'))),
      box('iloc', [u32(0), u16(0x4400), u16(1), u16(1), u16(0), u16(1), u32(offset), u32(bytes)].flat()),
      box(
        'iprp',
        box('ipco', CONFIGURATION, box('ispe', u32(0), u32(width), u32(height))),
        box('ipma', u32(0), u32(1), [...u16(1), 2, 129, 2]),
      ),
    );
  const offset = start.length + described(0).length + 8;
  return Buffer.concat([start, described(offset), box('mdat', Buffer.alloc(bytes, 7))]);
}
