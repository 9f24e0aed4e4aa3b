import { readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import type { HeicPicture, HeicResult, HeicTask, HeicThreadData } from './heic-decoder.ts';
import { decodeGrid } from './heic-grid.ts';
import {
  allocate,
  beginImage,
  CHANNELS,
  CHROMA,
  type Colour,
  callHeif,
  DecodeError,
  endImage,
  heif,
  memoryFailure,
  OTHER_MATRICES,
  out,
  readColour,
  readNumber,
  UNDEFINED,
} from './libheif.ts';
import { interleave, type Plane, shrink } from './planes.ts';
import { writePng } from './png.ts';

/*
 * The thread that decodes HEIC files, in WebAssembly whose memory is bounded. libheif reads the file and decodes the picture, except the
 * tiles of an ordinary photo of a telephone: hevc.js decodes those in less time.
 */

const { displayP3 } = workerData as HeicThreadData;

/** Values of `heif_colorspace`, `heif_channel` and `heif_color_primaries`. */
const COLORSPACE = { ycbcr: 0, rgb: 1, monochrome: 2 };
const ALPHA = 6;
const DISPLAY_P3 = 12;
/** Weights of red and blue in luma by matrix coefficients (ITU-T H.273); those of ITU-R BT.601 by default. */
const WEIGHTS: Record<number, readonly [red: number, blue: number]> = {
  1: [0.2126, 0.0722],
  4: [0.3, 0.11],
  7: [0.212, 0.087],
  9: [0.2627, 0.0593],
};
const BT_601: readonly [number, number] = [0.299, 0.114];

async function decodeFile({ path, side, maxPixels }: HeicTask): Promise<HeicPicture> {
  const bytes = readFileSync(path);
  beginImage();
  try {
    const address = allocate(bytes.length);
    heif.HEAPU8.set(bytes, address);
    const context = heif._heif_context_alloc!();
    callHeif('_heif_context_read_from_memory_without_copy', context, address, bytes.length, 0);
    callHeif('_heif_context_get_primary_image_handle', context, out);
    const handle = readNumber(out);
    const pixels = heif._heif_image_handle_get_width!(handle) * heif._heif_image_handle_get_height!(handle);
    if (pixels > maxPixels) throw new DecodeError(`more than ${maxPixels} pixels`);
    const picture = await decodeGrid({ context, handle, file: bytes, pixels }, (grid) => {
      const { width, height, orientation } = grid;
      return { width, height, orientation, png: writeReduced({ ...grid, isYcbcr: true }, handle, side) };
    });
    if (picture) return picture;
    let image = decodeHandle(handle, UNDEFINED, UNDEFINED);
    const colour = readColour(image);
    if (heif._heif_image_get_colorspace!(image) === COLORSPACE.ycbcr && OTHER_MATRICES.includes(colour.matrix)) {
      heif._heif_image_release!(image);
      image = decodeHandle(handle, COLORSPACE.rgb, CHROMA[444]);
    }
    return toPicture(image, colour, handle, side);
  } finally {
    endImage();
  }
}

function decodeHandle(handle: number, colorspace: number, chroma: number): number {
  callHeif('_heif_decode_image', handle, out, colorspace, chroma, 0);
  return readNumber(out);
}

/** Returns the embedded ICC profile; null for none. */
function readProfile(handle: number): Uint8Array | null {
  const size = heif._heif_image_handle_get_raw_color_profile_size!(handle);
  if (size === 0) return null;
  const address = allocate(size);
  callHeif('_heif_image_handle_get_raw_color_profile', handle, address);
  const profile = heif.HEAPU8.slice(address, address + size);
  heif._free!(address);
  return profile;
}

function readPlane(image: number, channel: number, width: number, height: number): Plane {
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

/** Returns the picture that libheif decoded and turned upright. */
function toPicture(image: number, colour: Colour, handle: number, side: number): HeicPicture {
  const colorspace = heif._heif_image_get_colorspace!(image);
  const isRgb = colorspace === COLORSPACE.rgb;
  const channels = isRgb ? CHANNELS.rgb : colorspace === COLORSPACE.monochrome ? CHANNELS.monochrome : CHANNELS.ycbcr;
  const width = heif._heif_image_get_width!(image, channels[0]!);
  const height = heif._heif_image_get_height!(image, channels[0]!);
  const hasAlpha = heif._heif_image_has_channel!(image, ALPHA) === 1;
  const planes = (hasAlpha ? [...channels, ALPHA] : channels).map((channel) =>
    readPlane(image, channel, width, height),
  );
  const decoded = { width, height, planes, colour, isYcbcr: channels === CHANNELS.ycbcr };
  return { width, height, orientation: 1, png: writeReduced(decoded, handle, side) };
}

interface DecodedImage {
  width: number;
  height: number;
  planes: Plane[];
  colour: Colour;
  /** Whether the first three planes are luma and chroma. */
  isYcbcr: boolean;
}

/** Returns the image in RGB, with each side divided by an integer so that the longer one is still at least `side`. */
function writeReduced(image: DecodedImage, handle: number, side: number): HeicPicture['png'] {
  const { width, height, colour, isYcbcr } = image;
  const factor = Math.max(1, Math.floor(Math.max(width, height) / side));
  const size = { width: Math.max(1, Math.floor(width / factor)), height: Math.max(1, Math.floor(height / factor)) };
  const planes = image.planes.map((plane) => shrink(plane, size, factor));
  const weights = WEIGHTS[colour.matrix] ?? BT_601;
  const pixels = interleave(planes, isYcbcr ? { weights, isFullRange: colour.isFullRange } : null);
  const profile = readProfile(handle) ?? (colour.primaries === DISPLAY_P3 ? displayP3 : null);
  return writePng({ ...size, channels: planes.length, pixels }, profile);
}

parentPort!.on('message', async (task: HeicTask) => {
  let result: HeicResult;
  try {
    result = { picture: await decodeFile(task) };
  } catch (error) {
    // After any other error the state of libheif is undefined: the thread ends.
    if (memoryFailure !== null || !(error instanceof DecodeError)) throw error;
    result = { problem: error.message };
  }
  parentPort!.postMessage(result, 'picture' in result ? [result.picture.png.buffer] : []);
});
