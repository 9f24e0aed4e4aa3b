import type { Metadata, SharpOptions } from 'sharp';
import { type ImageHeader, MAX_PIXELS, pixelsOf } from './header.ts';
import { BadImage } from './types.ts';

/** Seconds that an image may take to decode. */
export const DECODE_SECONDS = 30;

const DECODERS = ['VipsForeignLoadJpeg', 'VipsForeignLoadPng', 'VipsForeignLoadWebp', 'VipsForeignLoadNsgif'];

let decoder: Promise<typeof import('sharp').default> | undefined;

/** Loaded for the first image: a process that decodes none has no use for it in memory. */
function loadDecoder() {
  decoder ??= import('sharp').then(({ default: sharp }) => {
    sharp.cache(false);
    // An image takes one thread, so that the slots bound how many threads decode.
    sharp.concurrency(1);
    // Whatever a file pretends to be, only these decoders ever see it.
    sharp.block({ operation: ['VipsForeignLoad'] });
    sharp.unblock({ operation: DECODERS });
    return sharp;
  });
  return decoder;
}

/** Decodes every pixel of every frame, and keeps none of them. Throws `BadImage`, at the latest after 30 seconds. */
export async function decodeImage(path: string, header: ImageHeader, seconds = DECODE_SECONDS): Promise<Metadata> {
  const options: SharpOptions = {
    failOn: 'truncated',
    sequentialRead: true,
    pages: -1,
    limitInputPixels: MAX_PIXELS,
  };
  const sharp = await loadDecoder();
  try {
    const metadata = await sharp(path, options).metadata();
    const { width, height, pageHeight = height, pages = 1, format } = metadata;
    // The slot was chosen by the header; a file that says something else to the decoder would pass the bounds.
    if (width * pageHeight * pages > pixelsOf(header)) throw new BadImage('cannot be decoded');
    const image = sharp(path, options);
    // Without it the decoder leaves out what the small result does not need. WebP decodes everything all the same, and holds
    // half as much memory.
    if (format !== 'webp' || pages > 1) image.extract({ left: 0, top: 0, width, height: pageHeight });
    await image.resize(1, 1, { fit: 'fill' }).timeout({ seconds }).raw().toBuffer();
    return metadata;
  } catch (error) {
    throw error instanceof BadImage ? error : new BadImage(reasonOf(error as Error));
  }
}

/** sharp's own messages speak of libraries. */
function reasonOf({ message }: Error): string {
  if (/premature|unexpected end|truncated|read error|end of GIF|unable to parse/i.test(message)) return 'is truncated';
  if (/pixel limit/i.test(message)) return `has more than ${MAX_PIXELS} pixels`;
  if (/timeout/i.test(message)) return TOO_SLOW;
  return 'cannot be decoded';
}

export const TOO_SLOW = 'takes too long to decode';
