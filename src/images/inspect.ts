import { open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Release } from '../shared/fair-semaphore.ts';
import { DECODE_SECONDS, decodeImage, TOO_SLOW } from './decode.ts';
import { acquireDecodeSlot, type DecodeShare } from './decode-slots.ts';
import { readCaptureDate } from './exif.ts';
import { type ImageHeader, MAX_PIXELS, readHeader, requirePixels } from './header.ts';
import { checkHeic } from './heic.ts';
import { BadImage, type ImageFacts, type ImageType, InterruptedDecode, parseImageType } from './types.ts';

/** Maximum bytes of an EXIF block. Cameras write some kilobytes, with a thumbnail up to 64 KiB. */
const MAX_EXIF_BYTES = 1024 * 1024;

interface InspectOptions {
  /** Throws when the detected type is not the declared one. Called before anything is decoded. */
  requireType?: (detected: ImageType) => void;
  /** Fair share that the decode is charged to. Without one, it begins at once. */
  share?: DecodeShare;
  /** Ends the wait for a slot. A decode that has begun has its own time limit. */
  signal?: AbortSignal;
}

type HeicType = 'image/heic' | 'image/heif';

export const isHeic = (type: ImageType): type is HeicType => type === 'image/heic' || type === 'image/heif';

/** Returns the accepted image type that the file's first bytes indicate; null for any other. */
export async function detectImageType(path: string): Promise<ImageType | null> {
  const { fileTypeFromFile } = await import('file-type');
  const detected = await fileTypeFromFile(path).catch((error: Error) => {
    // The file ends within its signature.
    if (error.name === 'EndOfStreamError') return undefined;
    throw error;
  });
  return detected ? parseImageType(detected.mime.replace(/-sequence$/, '')) : null;
}

/**
 * Checks that a file is a complete image of an accepted type, and returns its properties. The type is checked first, then the
 * dimensions, then all pixels. Throws `BadImage`.
 */
export async function inspectImage(path: string, size: number, options: InspectOptions = {}): Promise<ImageFacts> {
  const contentType = await detectImageType(path);
  if (!contentType) throw new BadImage('is not an image of an accepted type: JPEG, PNG, WebP, GIF, HEIC or HEIF');
  options.requireType?.(contentType);
  if (isHeic(contentType)) {
    const { width, height, exif } = await inspectHeic(path, size, options);
    return { contentType, size, width, height, takenAt: await dateIn(exif) };
  }
  const header = await readImageHeader(path, contentType);
  const release = countCheck(await slotFor(header, options));
  const decoded = decodeImage(path, header);
  const { width, height, orientation = 1, pageHeight = height, exif } = await decodeInTime(decoded, release);
  const turned = orientation >= 5;
  return {
    contentType,
    size,
    width: turned ? pageHeight : width,
    height: turned ? width : pageHeight,
    takenAt: await dateIn(exif),
  };
}

const slotFor = async (header: ImageHeader, { share, signal }: InspectOptions): Promise<Release> =>
  share ? acquireDecodeSlot(share, header, { signal }) : () => undefined;

let checks = 0;

/** Whether this process decodes an image to check it. */
export const isChecking = (): boolean => checks > 0;

function countCheck(release: Release): Release {
  checks++;
  return () => {
    checks--;
    release();
  };
}

/**
 * Rejects when the time limit of a decode expires, even if the decoder has not stopped yet. The slot stays taken until the decode ends.
 */
export async function decodeInTime<T>(work: Promise<T>, release: Release): Promise<T> {
  const ended = new AbortController();
  const decoded = work.finally(release);
  const late = sleep(DECODE_SECONDS * 1000, null, { signal: ended.signal, ref: false }).then(() => {
    throw new InterruptedDecode(TOO_SLOW);
  });
  late.catch(() => undefined);
  try {
    return await Promise.race([decoded, late]);
  } finally {
    ended.abort();
    decoded.catch(() => undefined);
  }
}

export async function readImageHeader(path: string, contentType: Exclude<ImageType, HeicType>): Promise<ImageHeader> {
  const file = await open(path, 'r');
  try {
    return await readHeader(file, contentType);
  } finally {
    await file.close();
  }
}

/** Returns the capture date of an EXIF block. JPEG puts the marker `Exif` before the TIFF structure. */
async function dateIn(exif: Buffer | null | undefined): Promise<string | null> {
  if (!exif || exif.length < 8 || exif.length > MAX_EXIF_BYTES) return null;
  return readCaptureDate(exif.subarray(0, 4).toString('latin1') === 'Exif' ? exif.subarray(6) : exif);
}

/** Cost of a HEIC check, which reads a few megabytes of boxes and decodes nothing. */
const HEIC_COST: ImageHeader = { width: 1, height: 1, frames: 1, needsFullImage: false, memory: 0 };

async function inspectHeic(path: string, size: number, options: InspectOptions) {
  const release = await slotFor(HEIC_COST, options);
  try {
    return await readHeic(path, size);
  } finally {
    release();
  }
}

async function readHeic(path: string, size: number) {
  const file = await open(path, 'r');
  try {
    const facts = await checkHeic(file, size);
    requirePixels(facts.width * facts.height, MAX_PIXELS);
    return facts;
  } catch (error) {
    // A number was read beyond the end of a box.
    throw error instanceof RangeError ? new BadImage('has no valid HEIF structure') : error;
  } finally {
    await file.close();
  }
}
