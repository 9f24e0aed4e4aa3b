import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { compileFunction } from 'node:vm';
import { instantiateFrom } from './emscripten.ts';
import type { Plane } from './planes.ts';

/* Decodes the tiles of a picture with hevc.js, in less time than libheif takes (docs/decisions/0054-two-heic-decoders.md). */

/** hevc.js: its code, and the path of the CommonJS file that instantiates it. */
export interface TileModule {
  module: WebAssembly.Module;
  glue: string;
}

/** An instance of hevc.js: the exports of its C API, and its memory. */
export type TileDecoder = Record<
  `_hevc_decoder_${string}` | '_malloc' | '_free',
  (...parameters: number[]) => number
> & {
  HEAPU8: Uint8Array;
  HEAPU16: Uint16Array;
};

/** What all tiles of a picture have in common. Chroma has half of the width and height. */
interface TileFormat {
  width: number;
  height: number;
  /** Bits of a sample. */
  bits: number;
  /** Parameter sets, as a byte stream (ITU-T H.265, annex B). */
  parameterSets: Uint8Array;
}

const START_CODE = Buffer.from([0, 0, 0, 1]);
/**
 * Bytes of the structure `HEVCFrame`: pointers to luma and both chroma, width, height, strides of luma and chroma, width and height of
 * chroma, bits and order. Samples have 16 bits; strides are in samples.
 */
const FRAME_BYTES = 44;

/** Instantiates hevc.js. Each picture has its own instance, so that nothing of it is left to the next. */
export async function createTileDecoder({ module, glue }: TileModule): Promise<TileDecoder> {
  const commonJs = { exports: {} as (options: object) => Promise<TileDecoder> };
  // `require` would read the file as ESM, which is the type of its package.
  const run = compileFunction(readFileSync(glue, 'utf8'), ['module', 'exports', 'require', '__filename', '__dirname']);
  run(commonJs, commonJs.exports, createRequire(glue), glue, dirname(glue));
  return commonJs.exports({
    print: () => undefined,
    printErr: () => undefined,
    ...instantiateFrom(module),
  });
}

/**
 * Decodes a tile and copies it into the planes of luma and chroma, which may end within it. Returns false for a tile that hevc.js cannot
 * decode or that has another format; the decoder is not used again then.
 *
 * @param data NAL units, each after its length in four bytes. The lengths are overwritten.
 * @param left column of the tile in the picture, in pixels.
 * @param top line of the tile in the picture, in pixels.
 */
export function decodeTile(
  hevc: TileDecoder,
  format: TileFormat,
  data: Uint8Array,
  planes: Plane[],
  { left, top }: { left: number; top: number },
): boolean {
  try {
    if (!replaceLengths(data)) return false;
    const { parameterSets } = format;
    const size = parameterSets.length + data.length;
    const address = hevc._malloc(size);
    const frame = hevc._malloc(FRAME_BYTES);
    // Each tile has its own decoder, so that it refers to no other.
    const decoder = hevc._hevc_decoder_create!();
    if (address === 0 || frame === 0 || decoder === 0) return false;
    hevc.HEAPU8.set(parameterSets, address);
    hevc.HEAPU8.set(data, address + parameterSets.length);
    // `hevc_decoder_decode` would report damaged data as a success.
    if (hevc._hevc_decoder_feed!(decoder, address, size) !== 0 || hevc._hevc_decoder_flush!(decoder) !== 0)
      return false;
    if (hevc._hevc_decoder_get_drained_frame!(decoder, 0, frame) !== 0) return false;
    const fields = [...new Uint32Array(hevc.HEAPU8.buffer, frame, 10)];
    const [width, height, chromaWidth, chromaHeight, bits] = [3, 4, 7, 8, 9].map((field) => fields[field]!);
    if (width !== format.width || height !== format.height || bits !== format.bits) return false;
    if (chromaWidth !== width / 2 || chromaHeight !== height / 2) return false;
    for (const [channel, { samples, stride, subsampling }] of planes.entries()) {
      const source = fields[channel]! / Uint16Array.BYTES_PER_ELEMENT;
      const sourceStride = fields[channel === 0 ? 5 : 6]!;
      const [x, y] = [left / subsampling.x, top / subsampling.y];
      const columns = Math.min(width / subsampling.x, stride - x);
      const lines = Math.min(height / subsampling.y, samples.length / stride - y);
      for (let line = 0; line < lines; line++) {
        const from = source + line * sourceStride;
        samples.set(hevc.HEAPU16.subarray(from, from + columns), (y + line) * stride + x);
      }
    }
    hevc._hevc_decoder_destroy!(decoder);
    hevc._free(frame);
    hevc._free(address);
    return true;
  } catch {
    // WebAssembly trapped, as it does when a C++ exception is not caught.
    return false;
  }
}

/** Replaces the lengths of NAL units by start codes. Returns false when the units do not fill the data. */
function replaceLengths(data: Uint8Array): boolean {
  const view = new DataView(data.buffer, data.byteOffset, data.length);
  let at = 0;
  while (at + START_CODE.length < data.length) {
    const length = view.getUint32(at);
    data.set(START_CODE, at);
    at += START_CODE.length + length;
  }
  return at === data.length;
}

/**
 * Returns the parameter sets of an HEVC configuration (ISO/IEC 14496-15) as a byte stream; null when tiles have lengths of other than four
 * bytes. Throws `RangeError` for a configuration that is truncated.
 */
export function parseParameterSets(configuration: Uint8Array): Uint8Array | null {
  const view = new DataView(configuration.buffer, configuration.byteOffset, configuration.length);
  if ((view.getUint8(21) & 3) !== 3) return null;
  const units: Uint8Array[] = [];
  let at = 23;
  for (let arrays = view.getUint8(22); arrays > 0; arrays--) {
    const count = view.getUint16(at + 1);
    at += 3;
    for (let left = count; left > 0; left--) {
      const end = at + 2 + view.getUint16(at);
      units.push(START_CODE, configuration.subarray(at + 2, end));
      at = end;
    }
  }
  return Buffer.concat(units);
}
