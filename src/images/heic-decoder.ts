import { readFile } from 'node:fs/promises';
import { createRequire, findPackageJSON } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { loadOnce } from '../shared/load-once.ts';
import { WorkerThread, WorkerThreadError } from '../shared/worker-thread.ts';
import { loadDecoder, TOO_SLOW } from './decode.ts';
import { MAX_PIXELS_IN_MEMORY } from './header.ts';
import type { TileModule } from './heic-tiles.ts';
import { BadImage, InterruptedDecode } from './types.ts';

export interface HeicTask {
  path: string;
  /** The longer side of the result is at least as long, unless that of the image is shorter. */
  side: number;
  maxPixels: number;
}

/** A decoded image. */
export interface HeicPicture {
  width: number;
  height: number;
  /** EXIF orientation that displays it upright. */
  orientation: number;
  /** The image reduced by an integer factor, with its colour profile. */
  png: Uint8Array<ArrayBuffer>;
}

export type HeicResult = { picture: HeicPicture } | { problem: string };

export interface HeicThreadData {
  module: WebAssembly.Module;
  tileModule: TileModule;
  maxPages: number;
  /** ICC profile of images whose file says only that they have the primaries of Display P3. */
  displayP3: Uint8Array;
}

/** Bytes of a page of WebAssembly memory. */
const PAGE_BYTES = 64 * 1024;
/** Maximum bytes of the decoders: an image of 48 megapixels and 8 bits, and a copy of it that is rotated, fit. */
export const HEIC_MEMORY = 320 * 1024 * 1024;

/** Bounds of the decoders: bytes of WebAssembly memory, beyond which an image cannot be decoded, and milliseconds of an image. */
export interface HeicLimits {
  memory: number;
  timeoutMs: number;
}

/** Decodes HEIC files, one at a time, in a worker thread that starts with the first. */
export class HeicDecoder {
  readonly #loadThread: () => Promise<WorkerThread<HeicTask, HeicResult>>;
  #previous: Promise<unknown> = Promise.resolve();

  constructor(limits: HeicLimits) {
    this.#loadThread = loadOnce(() => createHeicThread(limits));
  }

  /**
   * Decodes the primary image of a file. Throws `BadImage` for one that libheif cannot decode within its memory, and `InterruptedDecode`
   * when the thread ends or takes too long.
   */
  decode(path: string, side: number): Promise<HeicPicture> {
    const decoded = this.#previous.then(() => this.#run({ path, side, maxPixels: MAX_PIXELS_IN_MEMORY }));
    this.#previous = decoded.catch(() => undefined);
    return decoded;
  }

  async #run(task: HeicTask): Promise<HeicPicture> {
    const thread = await this.#loadThread();
    try {
      const result = await thread.run(task);
      if ('picture' in result) return result.picture;
      throw new BadImage('cannot be decoded', { cause: result.problem });
    } catch (error) {
      if (!(error instanceof WorkerThreadError)) throw error;
      throw new InterruptedDecode(error.reason === 'TIMEOUT' ? TOO_SLOW : 'cannot be decoded', { cause: error });
    }
  }
}

/** Creates the thread that decodes. The modules are compiled here, so that each start of the thread has optimized code. */
export async function createHeicThread(limits: HeicLimits): Promise<WorkerThread<HeicTask, HeicResult>> {
  const wasm = createRequire(import.meta.url).resolve('libheif-js/libheif-wasm/libheif.wasm');
  const module = await WebAssembly.compile(await readFile(wasm));
  // The package exports only code for browsers.
  const folder = join(dirname(findPackageJSON('@hevcjs/core', import.meta.url)!), 'dist/wasm');
  const tileModule = {
    module: await WebAssembly.compile(await readFile(join(folder, 'hevc-decode.wasm'))),
    glue: join(folder, 'hevc-decode.js'),
  };
  const displayP3 = await readDisplayP3();
  return new WorkerThread({
    file: new URL(`./heic-thread${extname(import.meta.url)}`, import.meta.url),
    workerData: { module, tileModule, maxPages: limits.memory / PAGE_BYTES, displayP3 } satisfies HeicThreadData,
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
