import { extname } from 'node:path';
import { WorkerError, WorkerThread } from '../shared/worker-thread.ts';
import { TOO_SLOW } from './decode.ts';
import { MAX_PIXELS, MAX_PIXELS_IN_MEMORY } from './header.ts';
import { BadImage, InterruptedDecode } from './types.ts';

export interface HeicTask {
  path: string;
  maxPixels: number;
  /** Pixels that the longer side of the decoded image has at least, unless it is shorter in the file; null to decode nothing. */
  side: number | null;
}

/** The primary image of a file as it is shown, after rotation and crop. */
export interface HeicFacts {
  width: number;
  height: number;
  /** Its EXIF block, which starts with the offset of the TIFF structure. */
  exif: Uint8Array | null;
}

/** A decoded image, reduced by an integer factor. */
export interface HeicPixels {
  /** Red, green and blue, and opacity if there is a fourth channel. */
  data: Uint8Array<ArrayBuffer>;
  raw: { width: number; height: number; channels: 3 | 4 };
  /** ICC profile of the colours. */
  profile: Uint8Array | null;
  /** Whether the file says, without a profile, that the colours have the primaries of Display P3. */
  isDisplayP3: boolean;
}

export interface HeicPicture extends HeicFacts {
  /** Null where nothing was to be decoded. */
  pixels: HeicPixels | null;
}

export type HeicResult = { picture: HeicPicture } | { problem: string };

/** Bounds of the decoder: bytes of WebAssembly memory, beyond which an image cannot be decoded, and milliseconds of an image. */
export interface HeicLimits {
  memory: number;
  timeoutMs: number;
}

const MIB = 1024 * 1024;
/** An image of 48 megapixels in tiles, with a copy of it that is rotated, fits. */
export const HEIC_MEMORY = 320 * MIB;
/** A file of the maximum size fits, which is held in memory to be opened. */
const OPEN_MEMORY = 96 * MIB;
/** Twice what 48 megapixels took on a busy machine. */
export const HEIC_MS = 15_000;

/**
 * Opens a HEIC file with libheif, which checks its structure and that it has all bytes of its images, and decodes nothing. Throws
 * `BadImage`, and `InterruptedDecode` when the thread ends or takes too long.
 */
export const openHeic = (path: string): Promise<HeicFacts> =>
  runHeicThread({ path, maxPixels: MAX_PIXELS, side: null }, { memory: OPEN_MEMORY, timeoutMs: HEIC_MS });

/** Decodes the primary image of a HEIC file. Throws like `openHeic`. */
export async function decodeHeic(
  path: string,
  side: number,
  limits: HeicLimits,
): Promise<HeicFacts & { pixels: HeicPixels }> {
  const picture = await runHeicThread({ path, maxPixels: MAX_PIXELS_IN_MEMORY, side }, limits);
  return { ...picture, pixels: picture.pixels! };
}

/** Each file has a thread of its own, whose memory nothing of another image has been in, and which is returned at the end. */
async function runHeicThread(task: HeicTask, { memory, timeoutMs }: HeicLimits): Promise<HeicPicture> {
  const thread = new WorkerThread<HeicTask, HeicResult>({
    file: new URL(`./heic-thread${extname(import.meta.url)}`, import.meta.url),
    workerData: memory,
    memoryMb: 128,
    timeoutMs,
    idleMs: timeoutMs,
  });
  try {
    const result = await thread.run(task);
    if ('picture' in result) return result.picture;
    throw new BadImage(result.problem);
  } catch (error) {
    if (!(error instanceof WorkerError)) throw error;
    throw new InterruptedDecode(error.reason === 'TIMEOUT' ? TOO_SLOW : 'cannot be decoded', { cause: error });
  } finally {
    await thread.close();
  }
}
