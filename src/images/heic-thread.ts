import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import { loadLibHeif } from '../node-internals/libheif.ts';
import type { HeicPicture, HeicResult, HeicTask } from './heic.ts';
import { BadImage, NOT_ACCEPTED } from './types.ts';

/* The thread that opens one HEIC file with libheif and decodes its primary image, in WebAssembly whose memory is bounded. */

/** Values of `heif_colorspace`, `heif_chroma`, `heif_channel`, `heif_suberror_code`, `heif_item_type` and `heif_color_primaries`. */
const RGB = 1;
const INTERLEAVED = { 3: 10, 4: 11 };
const INTERLEAVED_CHANNEL = 10;
const END_OF_DATA = 100;
const LIMIT_EXCEEDED = 1000;
const [AV1, GRID, OVERLAY, IDENTITY] = ['av01', 'grid', 'iovl', 'iden'].map((type) => Buffer.from(type).readUInt32BE());
const DISPLAY_P3 = 12;
/** Maximum bytes of an EXIF block. Cameras write some kilobytes, with a thumbnail up to 64 KiB. */
const MAX_EXIF_BYTES = 1024 * 1024;

const INVALID = 'has no valid HEIF structure';
const TRUNCATED = 'is truncated';
const PROBLEMS: Record<number, string> = {
  [END_OF_DATA]: TRUNCATED,
  [LIMIT_EXCEEDED]: `${INVALID}, or too many pixels or items`,
};
const heif = loadLibHeif(workerData as number);
/** Where libheif writes an error, and where it writes pointers or numbers. */
const error = heif._malloc!(16);
const out = heif._malloc!(16);

const readNumber = (address: number) => heif.HEAPU32[address >> 2]!;
const copyBytes = (address: number, length: number) => heif.HEAPU8.slice(address, address + length);

function allocate(bytes: number): number {
  const address = heif._malloc!(bytes);
  if (address === 0) throw new BadImage('needs too much memory to decode');
  return address;
}

/** Calls a function of libheif that opens a file, and throws `BadImage` for its error. */
function callHeif(name: `_heif_${string}`, ...parameters: number[]): void {
  heif[name]!(error, ...parameters);
  if (readNumber(error) !== 0) throw new BadImage(PROBLEMS[readNumber(error + 4)] ?? INVALID);
}

/** Opens the file and returns the handles of the context and the primary image. */
function open(path: string): { context: number; handle: number } {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const address = allocate(size);
    readSync(file, heif.HEAPU8, address, size, 0);
    const context = heif._heif_context_alloc!();
    callHeif('_heif_context_read_from_memory_without_copy', context, address, size, 0);
    callHeif('_heif_context_get_primary_image_handle', context, out);
    return { context, handle: readNumber(out) };
  } finally {
    closeSync(file);
  }
}

/** Throws `BadImage` for a file that ends before the bytes of one of its items, for AVIF, and for grids of grids. */
function checkItems(context: number): void {
  const count = heif._heif_context_get_number_of_items!(context);
  const ids = allocate(4 * count);
  heif._heif_context_get_list_of_item_IDs!(context, ids, count);
  for (let index = 0; index < count; index++) {
    const id = readNumber(ids + 4 * index);
    const type = heif._heif_item_get_item_type!(context, id);
    if (type === AV1) throw new BadImage(NOT_ACCEPTED);
    if ((type === GRID || type === OVERLAY) && refersToDerived(context, id)) throw new BadImage(INVALID);
    // Reads the bytes and returns their number alone.
    heif._heif_item_get_item_data!(error, context, id, out, 0, out + 8);
    if (readNumber(error) !== 0 && readNumber(error + 4) === END_OF_DATA) throw new BadImage(TRUNCATED);
  }
}

/** Whether the image is composed of other derived images. libheif would decode one as often as it occurs: 16 levels of two take seconds. */
function refersToDerived(context: number, id: number): boolean {
  for (let index = 0; ; index++) {
    const count = heif._heif_context_get_item_references!(context, id, index, out, out + 4);
    if (count === 0) return false;
    const ids = readNumber(out + 4);
    for (let item = 0; item < count; item++) {
      const type = heif._heif_item_get_item_type!(context, readNumber(ids + 4 * item));
      if (type === GRID || type === OVERLAY || type === IDENTITY) return true;
    }
    heif._heif_release_item_references!(context, out + 4);
  }
}

/** Returns the EXIF block of the image; null without one that can be read. */
function readExif(handle: number): Uint8Array | null {
  const type = allocate(8);
  heif.HEAPU8.set(Buffer.from('Exif\0'), type);
  if (heif._heif_image_handle_get_list_of_metadata_block_IDs!(handle, type, out, 1) === 0) return null;
  const id = readNumber(out);
  const size = heif._heif_image_handle_get_metadata_size!(handle, id);
  if (size > MAX_EXIF_BYTES) return null;
  const address = allocate(size);
  heif._heif_image_handle_get_metadata!(error, handle, id, address);
  return readNumber(error) === 0 ? copyBytes(address, size) : null;
}

/** Decodes the image and reduces it so that its longer side still has at least `side` pixels. */
function decode(handle: number, side: number): HeicPicture {
  const channels = heif._heif_image_handle_has_alpha_channel!(handle) === 1 ? 4 : 3;
  heif._heif_decode_image!(error, handle, out, RGB, INTERLEAVED[channels], 0);
  if (readNumber(error) !== 0) throw new BadImage('cannot be decoded');
  const image = readNumber(out);
  const width = heif._heif_image_get_width!(image, INTERLEAVED_CHANNEL);
  const height = heif._heif_image_get_height!(image, INTERLEAVED_CHANNEL);
  const address = heif._heif_image_get_plane_readonly!(image, INTERLEAVED_CHANNEL, out);
  const stride = readNumber(out);
  const profile = readProfile(handle);
  const isDisplayP3 = readPrimaries(handle) === DISPLAY_P3;
  const factor = Math.max(1, Math.floor(Math.max(width, height) / side));
  const raw = {
    width: Math.max(1, Math.floor(width / factor)),
    height: Math.max(1, Math.floor(height / factor)),
    channels,
  } as const;
  const data = reduce(heif.HEAPU8.subarray(address), { stride, factor, ...raw });
  return { width, height, exif: null, pixels: { data, raw, profile, isDisplayP3 } };
}

/** Returns the embedded ICC profile; null for none. */
function readProfile(handle: number): Uint8Array | null {
  const size = heif._heif_image_handle_get_raw_color_profile_size!(handle);
  if (size === 0) return null;
  const address = allocate(size);
  heif._heif_image_handle_get_raw_color_profile!(error, handle, address);
  return copyBytes(address, size);
}

/** Returns the primaries (`heif_color_primaries`) that the file names; null for none. */
function readPrimaries(handle: number): number | null {
  heif._heif_image_handle_get_nclx_color_profile!(error, handle, out);
  return readNumber(error) === 0 ? readNumber(readNumber(out) + 4) : null;
}

interface Reduction {
  /** Bytes of a line of the image. */
  stride: number;
  channels: number;
  /** Pixels of a square that becomes one pixel, in a row. */
  factor: number;
  /** Of the result. */
  width: number;
  height: number;
}

/** Returns the image with each square of pixels averaged. */
function reduce(pixels: Uint8Array, { stride, channels, factor, width, height }: Reduction): Uint8Array<ArrayBuffer> {
  const reduced = new Uint8Array(width * height * channels);
  const sums = new Uint32Array(width * channels);
  const step = (factor - 1) * channels;
  const weight = 1 / (factor * factor);
  for (let y = 0; y < height; y++) {
    sums.fill(0);
    for (let row = 0; row < factor; row++) {
      let from = (y * factor + row) * stride;
      for (let at = 0; at < sums.length; at += channels, from += step) {
        for (let channel = 0; channel < channels; channel++, from++) {
          let sum = 0;
          for (let column = 0; column < factor; column++) sum += pixels[from + column * channels]!;
          sums[at + channel]! += sum;
        }
      }
    }
    for (let at = 0, to = y * sums.length; at < sums.length; at++) reduced[to + at] = sums[at]! * weight + 0.5;
  }
  return reduced;
}

function readPicture({ path, maxPixels, side }: HeicTask): HeicPicture {
  const { context, handle } = open(path);
  const width = heif._heif_image_handle_get_width!(handle);
  const height = heif._heif_image_handle_get_height!(handle);
  if (width * height > maxPixels) throw new BadImage(`has more than ${maxPixels} pixels`);
  checkItems(context);
  if (side !== null) return decode(handle, side);
  return { width, height, exif: readExif(handle), pixels: null };
}

parentPort!.once('message', (task: HeicTask) => {
  let result: HeicResult;
  try {
    result = { picture: readPicture(task) };
  } catch (problem) {
    if (!(problem instanceof BadImage)) throw problem;
    result = { problem: problem.message };
  }
  parentPort!.postMessage(result);
});
