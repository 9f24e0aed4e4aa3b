import { open } from 'node:fs/promises';
import type { Metadata, Sharp, SharpOptions } from 'sharp';
import { DurationCounts } from '../shared/duration-counts.ts';
import { loadOnce } from '../shared/load-once.ts';
import { countPixels, type ImageHeader, MAX_PIXELS, readPngExif } from './header.ts';
import { BadImage, InterruptedDecode } from './types.ts';

/** Maximum seconds of a decode. */
export const DECODE_SECONDS = 30;

const DECODERS = ['VipsForeignLoadJpeg', 'VipsForeignLoadPng', 'VipsForeignLoadWebp', 'VipsForeignLoadNsgif'];

/** Loads sharp for the first image, so that other processes do not hold it in memory. */
export const loadSharp = loadOnce(async () => {
  const { default: sharp } = await import('sharp');
  sharp.cache(false);
  // One thread per image, so that the slots limit the decoding threads.
  sharp.concurrency(1);
  // Only these decoders are allowed, whatever the type of the file.
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({ operation: DECODERS });
  return sharp;
});

/** Maximum size of a small image, such as most phone photos: it decodes in about 200 ms. */
export const SMALL_PIXELS = 16_000_000;

/** Durations of decodes by the size of the image, for metrics. */
export const decodeCounts = new DurationCounts(10);

/** Decodes all pixels of all frames and returns the metadata. Throws `BadImage`; after 30 seconds sharp is to stop. */
export const decodeImage = (path: string, header: ImageHeader): Promise<Metadata> =>
  decodeCounts.measure(countPixels(header) <= SMALL_PIXELS ? 'small' : 'large', () => decode(path, header));

/** Options with which files are opened; of an animation, the first frame. */
export const DECODE_OPTIONS: SharpOptions = { failOn: 'truncated', sequentialRead: true, limitInputPixels: MAX_PIXELS };

async function decode(path: string, header: ImageHeader): Promise<Metadata> {
  const options: SharpOptions = { ...DECODE_OPTIONS, pages: -1 };
  const sharp = await loadSharp();
  try {
    const metadata = await readMetadata(sharp(path, options), path);
    const { width, height, pageHeight = height, pages = 1, format } = metadata;
    // The limits were checked for the header's size, so the decoder's must not be larger.
    if (width * pageHeight * pages > countPixels(header)) throw new BadImage('cannot be decoded');
    const image = sharp(path, options);
    // Without it the decoder leaves out what the small result does not need. WebP decodes everything all the same, and holds
    // half as much memory.
    if (format !== 'webp' || pages > 1) image.extract({ left: 0, top: 0, width, height: pageHeight });
    await image.resize(1, 1, { fit: 'fill' }).timeout({ seconds: DECODE_SECONDS }).raw().toBuffer();
    return metadata;
  } catch (error) {
    throw toBadImage(error);
  }
}

/** Returns the metadata of the image in the file, wherever its EXIF block stands. */
export async function readMetadata(image: Sharp, path: string): Promise<Metadata> {
  const metadata = await image.metadata();
  if (metadata.format !== 'png' || metadata.exif) return metadata;
  await using file = await open(path, 'r');
  const exif = await readPngExif(file);
  if (!exif) return metadata;
  // Loaded for these images only, so that the process that renders does not hold the schema in memory.
  const { readOrientation } = await import('./exif.ts');
  return { ...metadata, exif, orientation: await readOrientation(exif) };
}

/** Returns the error of a decoder as one for the client. */
export function toBadImage(error: unknown): BadImage {
  if (error instanceof BadImage) return error;
  const { message } = error as Error;
  if (/timeout/i.test(message)) return new InterruptedDecode(TOO_SLOW, { cause: error });
  if (/out of memory|allocat|open files|no space/i.test(message)) {
    return new InterruptedDecode('cannot be decoded', { cause: error });
  }
  return new BadImage(toReason(message), { cause: error });
}

/** Returns a message for the client; sharp's messages mention libraries. */
function toReason(message: string): string {
  if (/premature|unexpected end|truncated|read error|end of GIF|unable to parse/i.test(message)) return 'is truncated';
  if (/pixel limit/i.test(message)) return `has more than ${MAX_PIXELS} pixels`;
  return 'cannot be decoded';
}

export const TOO_SLOW = 'takes too long to decode';
