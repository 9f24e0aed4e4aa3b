import { open, readFile } from 'node:fs/promises';
import type { Metadata, SharpOptions } from 'sharp';
import { captureDate } from './exif.ts';
import { requireWholeGif } from './gif.ts';
import { checkHeic } from './heic.ts';
import { Turns } from './turns.ts';
import { BadImage, type ImageFacts, type ImageType, imageTypeOf } from './types.ts';

/** Most pixels of an image that is decoded line by line: the largest that telephones make. */
const MAX_PIXELS = 200_000_000;
/** Most pixels, of all frames, where the decoder holds the whole picture in memory. */
const MAX_PIXELS_IN_MEMORY = 50_000_000;
const MAX_FRAMES = 1_000;
const DECODE_SECONDS = 30;

const DECODERS = ['VipsForeignLoadJpeg', 'VipsForeignLoadPng', 'VipsForeignLoadWebp', 'VipsForeignLoadNsgif'];

let decoder: Promise<typeof import('sharp').default> | undefined;

/** Loaded for the first image: a process that decodes none has no use for it in memory. */
function loadDecoder() {
  decoder ??= import('sharp').then(({ default: sharp }) => {
    sharp.cache(false);
    // Whatever a file pretends to be, only these decoders ever see it.
    sharp.block({ operation: ['VipsForeignLoad'] });
    sharp.unblock({ operation: DECODERS });
    return sharp;
  });
  return decoder;
}

/** At most two decodes at a time in a process, whoever asks. Part 8 of the decisions. */
const decodes = new Turns(2);

/** The accepted image type that the first bytes of a file tell; null for anything else. */
export async function detectImageType(path: string): Promise<ImageType | null> {
  const { fileTypeFromFile } = await import('file-type');
  const detected = await fileTypeFromFile(path).catch((error: Error) => {
    // A file that ends in the middle of what tells its type.
    if (error.name === 'EndOfStreamError') return undefined;
    throw error;
  });
  return detected ? imageTypeOf(detected.mime.replace(/-sequence$/, '')) : null;
}

/**
 * Checks that a file is a whole image of an accepted type, by its bytes. Throws `BadImage`. The signal ends the wait for a
 * turn; a decode that has begun is bounded by itself.
 */
export async function inspectImage(path: string, size: number, signal?: AbortSignal): Promise<ImageFacts> {
  const contentType = await detectImageType(path);
  if (!contentType) throw new BadImage('is not an image of an accepted type: JPEG, PNG, WebP, GIF, HEIC or HEIF');
  if (contentType === 'image/heic' || contentType === 'image/heif') {
    const { width, height, exif } = await inspectHeic(path, size);
    return { contentType, size, width, height, takenAt: await dateIn(exif) };
  }
  return decodes.take(async () => {
    if (contentType === 'image/gif') requireWholeGif(await readFile(path));
    const metadata = await decode(path);
    const { width, height, orientation = 1, pageHeight = height, exif } = metadata;
    const turned = orientation >= 5;
    return {
      contentType,
      size,
      width: turned ? pageHeight : width,
      height: turned ? width : pageHeight,
      takenAt: await dateIn(exif),
    };
  }, signal);
}

/** JPEG marks the block in front of its TIFF structure, which is what is read. */
async function dateIn(exif: Buffer | null | undefined): Promise<string | null> {
  if (!exif || exif.length < 8) return null;
  return captureDate(exif.subarray(0, 4).toString('latin1') === 'Exif' ? exif.subarray(6) : exif);
}

async function inspectHeic(path: string, size: number) {
  const file = await open(path, 'r');
  try {
    const facts = await checkHeic(file, size);
    requirePixels(facts.width * facts.height, MAX_PIXELS);
    return facts;
  } catch (error) {
    // A number read past the end of what the box holds.
    throw error instanceof RangeError ? new BadImage('has no valid HEIF structure') : error;
  } finally {
    await file.close();
  }
}

/** Decodes every pixel of every frame, and keeps none of them. */
async function decode(path: string): Promise<Metadata> {
  const options: SharpOptions = {
    failOn: 'truncated',
    sequentialRead: true,
    pages: -1,
    limitInputPixels: MAX_PIXELS,
  };
  const sharp = await loadDecoder();
  try {
    const metadata = await sharp(path, options).metadata();
    const { width, height, pageHeight = height, pages = 1, format, isProgressive } = metadata;
    if (pages > MAX_FRAMES) throw new BadImage(`has more than ${MAX_FRAMES} frames`);
    const wholeInMemory = isProgressive || format === 'webp' || format === 'gif';
    requirePixels(width * pageHeight * pages, wholeInMemory ? MAX_PIXELS_IN_MEMORY : MAX_PIXELS);
    await sharp(path, options)
      // Without it the decoder would be told to leave out what the small result does not need.
      .extract({ left: 0, top: 0, width, height: pageHeight })
      .resize(1, 1, { fit: 'fill' })
      .timeout({ seconds: DECODE_SECONDS })
      .raw()
      .toBuffer();
    return metadata;
  } catch (error) {
    throw error instanceof BadImage ? error : new BadImage(reasonOf(error as Error));
  }
}

function requirePixels(pixels: number, limit: number): void {
  if (pixels > limit) throw new BadImage(`has more than ${limit} pixels`);
}

/** sharp's own messages speak of libraries. */
function reasonOf({ message }: Error): string {
  if (/premature|unexpected end|truncated|read error|end of GIF|unable to parse/i.test(message)) return 'is truncated';
  if (/pixel limit/i.test(message)) return `has more than ${MAX_PIXELS} pixels`;
  if (/timeout/i.test(message)) return 'takes too long to decode';
  return 'cannot be decoded';
}
