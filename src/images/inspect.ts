import { open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Release } from '../limits/fair-semaphore.ts';
import { DECODE_SECONDS, decodeImage, TOO_SLOW } from './decode.ts';
import { acquireDecodeSlot, type DecodeShare } from './decode-slots.ts';
import { readCaptureDate } from './exif.ts';
import { type ImageHeader, readHeader, type SharpType } from './header.ts';
import { openHeic } from './heic.ts';
import {
  BadImage,
  type ImageFacts,
  type ImageType,
  InterruptedDecode,
  isHeic,
  NOT_ACCEPTED,
  parseImageType,
} from './types.ts';

interface InspectOptions {
  /** Throws when the detected type is not the declared one. Called before anything is decoded. */
  requireType?: (detected: ImageType) => void;
  /** Time zone of the camera, where its date has no offset. Default UTC. */
  timeZone?: string;
  /** Fair share that the decode is charged to. Without one, it begins at once. */
  share?: DecodeShare;
  /** Ends the wait for a slot. A decode that has begun has its own time limit. */
  signal?: AbortSignal;
}

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
 * dimensions, then all pixels, except those of HEIC. Throws `BadImage`.
 */
export async function inspectImage(path: string, size: number, options: InspectOptions = {}): Promise<ImageFacts> {
  const contentType = await detectImageType(path);
  if (!contentType) throw new BadImage(NOT_ACCEPTED);
  options.requireType?.(contentType);
  const { timeZone = 'UTC' } = options;
  if (isHeic(contentType)) {
    const release = await slotFor(HEIC_COST, options);
    const { width, height, exif } = await openHeic(path).finally(release);
    return { contentType, size, width, height, takenAt: await readCaptureDate(exif, timeZone) };
  }
  const header = await readImageHeader(path, contentType);
  const release = await slotFor(header, options);
  const decoded = decodeImage(path, header);
  const { width, height, orientation = 1, pageHeight = height, exif } = await decodeInTime(decoded, release);
  const isTurned = orientation >= 5;
  return {
    contentType,
    size,
    width: isTurned ? pageHeight : width,
    height: isTurned ? width : pageHeight,
    takenAt: await readCaptureDate(exif, timeZone),
  };
}

/** Cost of a HEIC check, which decodes nothing: one pixel. */
const HEIC_COST: ImageHeader = { width: 1, height: 1, frames: 1, needsFullImage: false, memory: 0 };

const slotFor = async (header: ImageHeader, { share, signal }: InspectOptions): Promise<Release> =>
  share ? acquireDecodeSlot(share, header, { signal }) : () => undefined;

/**
 * Rejects when the time limit of a decode expires, even if the decoder has not stopped yet. The slot stays taken until the decode ends.
 */
async function decodeInTime<T>(work: Promise<T>, release: Release): Promise<T> {
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

export async function readImageHeader(path: string, contentType: SharpType): Promise<ImageHeader> {
  const file = await open(path, 'r');
  try {
    return await readHeader(file, contentType);
  } finally {
    await file.close();
  }
}
