import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { WorkerThread, WorkerThreadError } from '../shared/worker-thread.ts';
import { DECODE_SECONDS, loadDecoder, TOO_SLOW } from './decode.ts';
import { MAX_PIXELS_IN_MEMORY } from './header.ts';
import { BadImage } from './types.ts';

export interface HeicTask {
  path: string;
  /** The longer side of the result is at least as long, unless that of the image is shorter. */
  side: number;
  maxPixels: number;
}

/** An upright image. */
export interface HeicPicture {
  width: number;
  height: number;
  /** The image reduced by an integer factor, with its colour profile. */
  png: Uint8Array<ArrayBuffer>;
}

export type HeicResult = { picture: HeicPicture } | { problem: string };

export interface HeicThreadData {
  module: WebAssembly.Module;
  maxPages: number;
  /** ICC profile of images whose file says only that they have the primaries of Display P3. */
  displayP3: Uint8Array;
}

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
  thread ??= createHeicThread({ memory: HEIC_MEMORY, timeoutMs: DECODE_SECONDS * 1000 });
  try {
    const result = await (await thread).run(task);
    if ('picture' in result) return result.picture;
    throw new BadImage('cannot be decoded', { cause: result.problem });
  } catch (error) {
    if (!(error instanceof WorkerThreadError)) throw error;
    throw new BadImage(error.reason === 'TIMEOUT' ? TOO_SLOW : 'cannot be decoded', { cause: error });
  }
}

/**
 * Creates the thread that decodes. The module is compiled here, so that each start of the thread has optimized code.
 *
 * @param limits bytes of WebAssembly memory, beyond which an image cannot be decoded, and milliseconds of a task, beyond which the thread ends.
 */
export async function createHeicThread(limits: {
  memory: number;
  timeoutMs: number;
}): Promise<WorkerThread<HeicTask, HeicResult>> {
  const wasm = createRequire(import.meta.url).resolve('libheif-js/libheif-wasm/libheif.wasm');
  const module = await WebAssembly.compile(await readFile(wasm));
  const displayP3 = await readDisplayP3();
  return new WorkerThread({
    file: new URL(`./heic-thread${extname(import.meta.url)}`, import.meta.url),
    workerData: { module, maxPages: limits.memory / PAGE_BYTES, displayP3 } satisfies HeicThreadData,
    memoryMb: 128,
    timeoutMs: limits.timeoutMs,
    idleMs: 10_000,
  });
}

/** Returns the profile that sharp has built in. */
async function readDisplayP3(): Promise<Uint8Array> {
  const sharp = await loadDecoder();
  const image = sharp({ create: { width: 1, height: 1, channels: 3, background: 'black' } });
  return (await sharp(await image.withIccProfile('p3').png().toBuffer()).metadata()).icc!;
}
