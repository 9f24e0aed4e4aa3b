import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { WorkerThread, WorkerThreadError } from '../shared/worker-thread.ts';
import { DECODE_SECONDS, TOO_SLOW } from './decode.ts';
import { MAX_PIXELS_IN_MEMORY } from './header.ts';
import { BadImage } from './types.ts';

export interface HeicTask {
  path: string;
  /** The longer side of the result is at least as long, unless that of the image is shorter. */
  side: number;
  maxPixels: number;
}

/** An upright image, reduced by an integer factor. */
export interface HeicPicture {
  width: number;
  height: number;
  /** Pixels of the image before it was reduced. */
  originalWidth: number;
  originalHeight: number;
  /** Grey or red, green and blue; with opacity, one more. */
  channels: 1 | 2 | 3 | 4;
  pixels: Uint8ClampedArray<ArrayBuffer>;
  /** Embedded ICC profile, or the name of one; null for sRGB. */
  profile: Uint8Array | 'p3' | null;
}

export type HeicResult = { picture: HeicPicture } | { problem: string };

/** Bytes of a page of WebAssembly memory. */
const PAGE_BYTES = 64 * 1024;
/** Maximum bytes of the decoder: an image of 48 megapixels and 8 bits, and a copy of it that is rotated, fit. */
export const HEIC_MEMORY = 320 * 1024 * 1024;

let thread: Promise<WorkerThread<HeicTask, HeicResult>> | undefined;
/** Images are decoded one at a time. */
let previous: Promise<unknown> = Promise.resolve();

/**
 * Decodes the primary image of a HEIC file in a worker thread. Throws `BadImage` for one that libheif cannot decode, or not within 30
 * seconds and its memory.
 */
export function decodeHeic(path: string, side: number): Promise<HeicPicture> {
  const decoded = previous.then(() => run({ path, side, maxPixels: MAX_PIXELS_IN_MEMORY }));
  previous = decoded.catch(() => undefined);
  return decoded;
}

async function run(task: HeicTask): Promise<HeicPicture> {
  thread ??= createThread();
  try {
    const result = await (await thread).run(task);
    if ('picture' in result) return result.picture;
    throw new BadImage('cannot be decoded', { cause: result.problem });
  } catch (error) {
    if (!(error instanceof WorkerThreadError)) throw error;
    throw new BadImage(error.reason === 'TIMEOUT' ? TOO_SLOW : 'cannot be decoded', { cause: error });
  }
}

/** The module is compiled once, so that each thread starts with optimized code. */
async function createThread(): Promise<WorkerThread<HeicTask, HeicResult>> {
  const wasm = createRequire(import.meta.url).resolve('libheif-js/libheif-wasm/libheif.wasm');
  const module = await WebAssembly.compile(await readFile(wasm));
  return new WorkerThread({
    file: new URL(`./heic-thread${extname(import.meta.url)}`, import.meta.url),
    workerData: { module, maxPages: HEIC_MEMORY / PAGE_BYTES },
    memoryMb: 128,
    timeoutMs: DECODE_SECONDS * 1000,
    idleMs: 10_000,
  });
}
