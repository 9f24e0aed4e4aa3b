import { workerData } from 'node:worker_threads';
import { findSharedConfiguration } from './heic.ts';
import type { HeicThreadData } from './heic-decoder.ts';
import { createTileDecoder, decodeTile, parseParameterSets, type TileDecoder } from './heic-tiles.ts';
import {
  allocate,
  CHANNELS,
  CHROMA,
  type Colour,
  callHeif,
  DecodeError,
  decoders,
  heif,
  mayGrow,
  OTHER_MATRICES,
  out,
  readColour,
  readNumber,
  UNDEFINED,
} from './libheif.ts';
import type { Plane } from './planes.ts';

const { tileModule } = workerData as HeicThreadData;

/** Values of `heif_item_type` and `heif_item_property_type`. */
const ITEM = { grid: 0x67726964, hvc1: 0x68766331 };
const ROTATION = 0x69726f74;
/** EXIF orientation by quarter turns anticlockwise. */
const ORIENTATIONS = [1, 8, 3, 6];
/** Pages with which the memory of hevc.js starts. */
const TILE_DECODER_PAGES = 321;

/** Bytes of a `heif_image_tiling`. */
const TILING_BYTES = 72;

/** Planes of luma and chroma, before the turn of the orientation. */
interface DecodedGrid {
  width: number;
  height: number;
  /** EXIF orientation. */
  orientation: number;
  planes: Plane[];
  colour: Colour;
}

interface GridFile {
  context: number;
  handle: number;
  file: Uint8Array;
  pixels: number;
}

/**
 * Decodes a picture of HEVC tiles with hevc.js; returns null for one that is left to libheif, because it is something else or damaged.
 * The first tile, decoded by libheif, gives the format and the colours.
 */
export async function decodeGrid<Result>(
  { context, handle, file, pixels }: GridFile,
  use: (grid: DecodedGrid) => Result,
): Promise<Result | null> {
  const orientation = readOrientation(context, heif._heif_image_handle_get_item_id!(handle), ITEM.grid);
  if (orientation === null || heif._heif_image_handle_has_alpha_channel!(handle) === 1) return null;
  let image = 0;
  let address = 0;
  let hevc: TileDecoder | null = null;
  try {
    const { columns, rows, tileWidth, tileHeight, width, height } = readTiling(handle);
    if (
      width * height !== pixels ||
      Math.ceil(width / tileWidth) !== columns ||
      Math.ceil(height / tileHeight) !== rows
    )
      return null;
    const tiles = Array.from({ length: columns * rows }, (_, index) => {
      callHeif(
        '_heif_image_handle_get_grid_image_tile_id',
        handle,
        0,
        index % columns,
        Math.floor(index / columns),
        out,
      );
      return readNumber(out);
    });
    if (tiles.some((tile) => readOrientation(context, tile, ITEM.hvc1) !== 1)) return null;
    const parameterSets = readParameterSets(file, tiles);
    if (!parameterSets) return null;
    callHeif('_heif_image_handle_decode_image_tile', handle, out, UNDEFINED, UNDEFINED, 0, 0, 0);
    image = readNumber(out);
    const colour = readColour(image);
    const bits = heif._heif_image_get_bits_per_pixel_range!(image, CHANNELS.ycbcr[0]!);
    if (heif._heif_image_get_chroma_format!(image) !== CHROMA[420] || OTHER_MATRICES.includes(colour.matrix))
      return null;
    const format = { width: tileWidth, height: tileHeight, bits, parameterSets };
    const stored = { width, height, bits };
    const samples = width * height + 2 * Math.ceil(width / 2) * Math.ceil(height / 2);
    address = allocate(samples * (bits > 8 ? 2 : 1));
    if (!mayGrow(TILE_DECODER_PAGES)) return null;
    hevc = await createTileDecoder(tileModule);
    decoders.add(hevc);
    for (const [index, tile] of tiles.entries()) {
      const place = { left: (index % columns) * tileWidth, top: Math.floor(index / columns) * tileHeight };
      callHeif('_heif_item_get_item_data', context, tile, 0, out, out + 4);
      const [data, size] = [readNumber(out), readNumber(out + 4)];
      const bytes = heif.HEAPU8.subarray(data, data + size);
      const isDecoded = decodeTile(hevc, format, bytes, readPlanes(address, stored), place);
      heif._heif_release_item_data!(context, out);
      if (!isDecoded) return null;
    }
    return use({ width, height, orientation, planes: readPlanes(address, stored), colour });
  } catch (error) {
    if (error instanceof DecodeError) return null;
    throw error;
  } finally {
    if (hevc) decoders.delete(hevc);
    if (image) heif._heif_image_release!(image);
    heif._free!(address);
  }
}

function readTiling(handle: number) {
  const tiling = allocate(TILING_BYTES);
  callHeif('_heif_image_handle_get_image_tiling', handle, 0, tiling);
  const [columns, rows, tileWidth, tileHeight, width, height] = [1, 2, 3, 4, 5, 6].map((field) =>
    readNumber(tiling + 4 * field),
  ) as [number, number, number, number, number, number];
  heif._free!(tiling);
  return { columns, rows, tileWidth, tileHeight, width, height };
}

/** EXIF orientation of an item of the type; null for another type, and for one that is mirrored or cropped. */
function readOrientation(context: number, id: number, type: number): number | null {
  if (heif._heif_item_get_item_type!(context, id) !== type) return null;
  const count = heif._heif_item_get_transformation_properties!(context, id, out, 4);
  if (count === 0) return 1;
  const property = readNumber(out);
  if (count > 1 || heif._heif_item_get_property_type!(context, id, property) !== ROTATION) return null;
  return ORIENTATIONS[heif._heif_item_get_property_transform_rotation_ccw!(context, id, property) / 90]!;
}

/** Returns the parameter sets that the tiles share; null when they share none, or the file has no valid ones. */
function readParameterSets(file: Uint8Array, tiles: number[]): Uint8Array | null {
  try {
    const configuration = findSharedConfiguration(file, tiles);
    return configuration && parseParameterSets(configuration);
  } catch {
    return null;
  }
}

/** Planes of luma and chroma in libheif's memory, until it grows. */
function readPlanes(
  address: number,
  { width, height, bits }: { width: number; height: number; bits: number },
): Plane[] {
  const Samples = bits > 8 ? Uint16Array : Uint8Array;
  let start = address;
  return [1, 2, 2].map((part) => {
    const stride = Math.ceil(width / part);
    const samples = new Samples(heif.HEAPU8.buffer, start, stride * Math.ceil(height / part));
    start += samples.byteLength;
    return { samples, stride, subsampling: { x: part, y: part }, shift: bits - 8 };
  });
}
