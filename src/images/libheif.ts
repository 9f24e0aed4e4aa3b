import { createRequire } from 'node:module';
import { workerData } from 'node:worker_threads';
import { collectGarbage } from '../shared/collect-garbage.ts';
import { instantiateFrom } from './emscripten.ts';
import type { HeicThreadData } from './heic-decoder.ts';

/* libheif in the thread that decodes HEIC files, and the bound of the thread's memory. */

const { module, maxPages } = workerData as HeicThreadData;

/** The exports of libheif's C API, by name, and its memory. */
type LibHeif = Record<`_${string}`, (...parameters: number[]) => number> & {
  HEAPU8: Uint8Array<ArrayBuffer>;
  HEAPU32: Uint32Array;
};

/** The decoders in use; their memories together have the bound. */
export const decoders = new Set<{ HEAPU8: Uint8Array }>();

/** Whether the memories may have so many more pages. */
export const mayGrow = (pages: number): boolean =>
  [...decoders].reduce((sum, { HEAPU8 }) => sum + HEAPU8.length / 65_536, pages) <= maxPages;

/** Set when the machine has no memory for what the decoders may use. */
export let memoryFailure: unknown = null;

// The decoder then reports that an allocation failed.
const grow = WebAssembly.Memory.prototype.grow;
WebAssembly.Memory.prototype.grow = function limitedGrow(this: WebAssembly.Memory, pages: number): number {
  if (!mayGrow(pages)) throw new RangeError('The memory of the decoders is used up.');
  try {
    return grow.call(this, pages);
  } catch (error) {
    memoryFailure = error;
    throw error;
  }
};

const instantiate = createRequire(import.meta.url)('libheif-js/libheif-wasm/libheif.js') as (
  options: object,
) => LibHeif;

/** The instance of libheif for the image of this task. */
export let heif: LibHeif;
/** Where libheif writes an error, and where it writes a pointer or a number. */
export let error: number;
export let out: number;

/**
 * Begins an image with new memory. A file whose data end early leaves planes as they are allocated, which would show parts of another
 * customer's image.
 */
export function beginImage(): void {
  heif = instantiate(instantiateFrom(module));
  decoders.add(heif);
  error = heif._malloc!(16);
  out = heif._malloc!(16);
}

/** Returns the memory of the image to the system. */
export function endImage(): void {
  decoders.clear();
  heif = undefined as never;
  // Nothing else makes V8 collect the garbage of an idle thread.
  collectGarbage('major');
}

/** Values of `heif_colorspace`, `heif_chroma` and `heif_channel`. */
export const UNDEFINED = 99;
export const CHROMA = { 420: 1, 444: 3 };
export const CHANNELS = { ycbcr: [0, 1, 2], rgb: [3, 4, 5], monochrome: [0] };
/** Matrix coefficients of which red, green and blue are stored as they are, or in a way that is not computed here. */
export const OTHER_MATRICES = [0, 8, 10, 11, 12, 13, 14];

/** A file that libheif cannot decode. */
export class DecodeError extends Error {}

export const readNumber = (address: number) => heif.HEAPU32[address >> 2]!;

/** Calls a function of libheif that returns an error, and throws it. */
export function callHeif(name: `_heif_${string}`, ...parameters: number[]): void {
  heif[name]!(error, ...parameters);
  if (readNumber(error) !== 0) throw new DecodeError(`${name} returns ${readNumber(error)}.${readNumber(error + 4)}`);
}

export interface Colour {
  matrix: number;
  primaries: number;
  isFullRange: boolean;
}

/** Returns the colour description of a decoded image (`heif_color_profile_nclx`), by default that of JFIF. */
export function readColour(image: number): Colour {
  heif._heif_image_get_nclx_color_profile!(error, image, out);
  if (readNumber(error) !== 0) return { matrix: 6, primaries: 1, isFullRange: true };
  const profile = readNumber(out);
  const colour = {
    primaries: readNumber(profile + 4),
    matrix: readNumber(profile + 12),
    isFullRange: heif.HEAPU8[profile + 16] === 1,
  };
  heif._heif_nclx_color_profile_free!(profile);
  return colour;
}

/** Returns the address of so many bytes. */
export function allocate(bytes: number): number {
  const address = heif._malloc!(bytes);
  if (address === 0) throw new DecodeError('The memory of the decoders is used up.');
  return address;
}
