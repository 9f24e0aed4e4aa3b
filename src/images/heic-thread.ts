import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';
import type { HeicPicture, HeicResult, HeicTask, HeicThreadData } from './heic-decoder.ts';
import { interleave, type Plane, shrink, type YcbcrColour } from './planes.ts';
import { writePng } from './png.ts';

/* The thread that decodes HEIC files with libheif, in WebAssembly whose memory is bounded. */

const { module, maxPages, displayP3 } = workerData as HeicThreadData;

/** The exports of libheif's C API, by name, and its memory. */
type LibHeif = Record<`_${string}`, (...parameters: number[]) => number> & { HEAPU8: Uint8Array; HEAPU32: Uint32Array };

/** Set when the machine has no memory for what the decoder may use. */
let memoryFailure: unknown = null;

// libheif then reports that an allocation failed.
const grow = WebAssembly.Memory.prototype.grow;
WebAssembly.Memory.prototype.grow = function limitedGrow(this: WebAssembly.Memory, pages: number): number {
  if (this.buffer.byteLength / 65_536 + pages > maxPages) throw new RangeError('The memory of the decoder is used up.');
  try {
    return grow.call(this, pages);
  } catch (error) {
    memoryFailure = error;
    throw error;
  }
};

const heif = createRequire(import.meta.url)('libheif-js/libheif-wasm/libheif.js')({
  instantiateWasm(imports: WebAssembly.Imports, receive: (instance: WebAssembly.Instance) => void) {
    const instance = new WebAssembly.Instance(module, imports);
    receive(instance);
    return instance.exports;
  },
}) as LibHeif;

/** Values of `heif_colorspace`, `heif_chroma`, `heif_channel` and `heif_color_primaries`. */
const UNDEFINED = 99;
const COLORSPACE = { ycbcr: 0, rgb: 1, monochrome: 2 };
const CHROMA_444 = 3;
const CHANNELS = { ycbcr: [0, 1, 2], rgb: [3, 4, 5], monochrome: [0] };
const ALPHA = 6;
const DISPLAY_P3 = 12;
/** Matrix coefficients of which red, green and blue are stored as they are, or in a way that is not computed here. */
const OTHER_MATRICES = [0, 8, 10, 11, 12, 13, 14];
/** Weights of red and blue in luma by matrix coefficients (ITU-T H.273); those of ITU-R BT.601 by default. */
const WEIGHTS: Record<number, readonly [red: number, blue: number]> = {
  1: [0.2126, 0.0722],
  4: [0.3, 0.11],
  7: [0.212, 0.087],
  9: [0.2627, 0.0593],
};
const BT_601: readonly [number, number] = [0.299, 0.114];

/** A file that libheif cannot decode. */
class DecodeError extends Error {}

/** Where libheif writes an error, a pointer or a number. */
const error = heif._malloc!(16);
const out = heif._malloc!(16);
const readNumber = (address: number) => heif.HEAPU32[address >> 2]!;

/** Calls a function that returns an error, and throws it. */
function call(name: `_heif_${string}`, ...parameters: number[]): void {
  heif[name]!(error, ...parameters);
  if (readNumber(error) !== 0) throw new DecodeError(`${name} returns ${readNumber(error)}.${readNumber(error + 4)}`);
}

function decodeFile({ path, side, maxPixels }: HeicTask): HeicPicture {
  const bytes = readFileSync(path);
  const address = heif._malloc!(bytes.length);
  heif.HEAPU8.set(bytes, address);
  const context = heif._heif_context_alloc!();
  let handle = 0;
  let image = 0;
  try {
    call('_heif_context_read_from_memory_without_copy', context, address, bytes.length, 0);
    call('_heif_context_get_primary_image_handle', context, out);
    handle = readNumber(out);
    const pixels = heif._heif_image_handle_get_width!(handle) * heif._heif_image_handle_get_height!(handle);
    if (pixels > maxPixels) throw new DecodeError(`more than ${maxPixels} pixels`);
    image = decodeHandle(handle, UNDEFINED, UNDEFINED);
    const colour = colourOf(image);
    if (heif._heif_image_get_colorspace!(image) === COLORSPACE.ycbcr && OTHER_MATRICES.includes(colour.matrix)) {
      heif._heif_image_release!(image);
      image = 0;
      image = decodeHandle(handle, COLORSPACE.rgb, CHROMA_444);
    }
    return toPicture(image, colour, handle, side);
  } finally {
    if (image) heif._heif_image_release!(image);
    if (handle) heif._heif_image_handle_release!(handle);
    heif._heif_context_free!(context);
    heif._free!(address);
  }
}

function decodeHandle(handle: number, colorspace: number, chroma: number): number {
  call('_heif_decode_image', handle, out, colorspace, chroma, 0);
  return readNumber(out);
}

interface Colour {
  matrix: number;
  primaries: number;
  isFullRange: boolean;
}

/** Returns the colour description of a decoded image (`heif_color_profile_nclx`), by default that of JFIF. */
function colourOf(image: number): Colour {
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

/** Returns the embedded ICC profile; null for none. */
function profileOf(handle: number): Uint8Array | null {
  const size = heif._heif_image_handle_get_raw_color_profile_size!(handle);
  if (size === 0) return null;
  const address = heif._malloc!(size);
  call('_heif_image_handle_get_raw_color_profile', handle, address);
  const profile = heif.HEAPU8.slice(address, address + size);
  heif._free!(address);
  return profile;
}

function planeOf(image: number, channel: number, width: number, height: number): Plane {
  const address = heif._heif_image_get_plane_readonly!(image, channel, out);
  const bytesPerLine = readNumber(out);
  const bits = heif._heif_image_get_bits_per_pixel_range!(image, channel);
  const [planeWidth, planeHeight] = [
    heif._heif_image_get_width!(image, channel),
    heif._heif_image_get_height!(image, channel),
  ];
  const bytes = heif.HEAPU8.subarray(address, address + bytesPerLine * planeHeight);
  const wide = bits > 8;
  return {
    samples: wide ? new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2) : bytes,
    stride: wide ? bytesPerLine / 2 : bytesPerLine,
    subsampling: { x: Math.ceil(width / planeWidth), y: Math.ceil(height / planeHeight) },
    shift: Math.max(0, bits - 8),
  };
}

/** Converts the planes to RGB, with each side divided by an integer so that the longer one is still at least `side`. */
function toPicture(
  image: number,
  { matrix, primaries, isFullRange }: Colour,
  handle: number,
  side: number,
): HeicPicture {
  const colorspace = heif._heif_image_get_colorspace!(image);
  const isRgb = colorspace === COLORSPACE.rgb;
  const channels = isRgb ? CHANNELS.rgb : colorspace === COLORSPACE.monochrome ? CHANNELS.monochrome : CHANNELS.ycbcr;
  const width = heif._heif_image_get_width!(image, channels[0]!);
  const height = heif._heif_image_get_height!(image, channels[0]!);
  const factor = Math.max(1, Math.floor(Math.max(width, height) / side));
  const size = { width: Math.max(1, Math.floor(width / factor)), height: Math.max(1, Math.floor(height / factor)) };
  const hasAlpha = heif._heif_image_has_channel!(image, ALPHA) === 1;
  const planes = (hasAlpha ? [...channels, ALPHA] : channels).map((channel) =>
    shrink(planeOf(image, channel, width, height), size, factor),
  );
  const weights = WEIGHTS[matrix] ?? BT_601;
  const colour: YcbcrColour | null = channels === CHANNELS.ycbcr ? { weights, isFullRange } : null;
  const profile = profileOf(handle) ?? (primaries === DISPLAY_P3 ? displayP3 : null);
  return {
    width,
    height,
    png: writePng({ ...size, channels: planes.length, pixels: interleave(planes, colour) }, profile),
  };
}

parentPort!.on('message', (task: HeicTask) => {
  let result: HeicResult;
  try {
    result = { picture: decodeFile(task) };
  } catch (error) {
    // After any other error the state of libheif is undefined: the thread ends.
    if (memoryFailure !== null || !(error instanceof DecodeError)) throw error;
    result = { problem: error.message };
  }
  parentPort!.postMessage(result, 'picture' in result ? [result.picture.png.buffer] : []);
});
