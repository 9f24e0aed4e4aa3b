import type { Sharp } from 'sharp';
import { RenditionSize } from '../../schema/enums.ts';
import { DurationCounts } from '../shared/duration-counts.ts';
import type { Release } from '../shared/fair-semaphore.ts';
import { DECODE_OPTIONS, DECODE_SECONDS, loadDecoder, toBadImage } from './decode.ts';
import { acquireDecodeSlot, type DecodeShare } from './decode-slots.ts';
import { type ImageHeader, pixelsOf } from './header.ts';
import { decodeHeic, HEIC_MEMORY } from './heic-decoder.ts';
import { decodeInTime, detectImageType, headerOf, isHeic } from './inspect.ts';
import { BadImage } from './types.ts';

/** Pixels of the longer side by size. Smaller images keep their own. */
export const RENDITION_SIDES: Record<RenditionSize, number> = { SMALL: 160, MEDIUM: 640, LARGE: 1600 };
export const RENDITION_SIZES = Object.values(RenditionSize);
export const RENDITION_TYPE = 'image/webp';

interface Dimensions {
  width: number;
  height: number;
}

/** The renditions of an image: upright, in sRGB, without metadata. */
export interface RenderedImage extends Dimensions {
  /** WebP files by size. The dimensions are those of the upright image. */
  files: Record<RenditionSize, Buffer>;
}

/** Renderings by type of the image, for metrics. */
export const renderCounts = new DurationCounts(10);

/** Returns the dimensions of a rendition, by those of the upright image. */
export function toRenditionDimensions({ width, height }: Dimensions, size: RenditionSize): Dimensions {
  const factor = Math.min(1, RENDITION_SIDES[size] / Math.max(width, height));
  return { width: Math.max(1, Math.round(width * factor)), height: Math.max(1, Math.round(height * factor)) };
}

/**
 * Renders an image of an accepted type in every size, in a slot of the share and within 30 seconds. Of an animation, the first frame is
 * rendered. Throws `BadImage` for an image that cannot be rendered, and `NoCapacityError`.
 */
export async function renderImage(
  path: string,
  { share, signal }: { share?: DecodeShare; signal?: AbortSignal } = {},
): Promise<RenderedImage> {
  const type = await detectImageType(path);
  if (!type) throw new BadImage('is not an image of an accepted type');
  const header = isHeic(type) ? HEIC_HEADER : await headerOf(path, type);
  const release: Release = share ? await acquireDecodeSlot(share, header, { signal }) : () => undefined;
  const render = isHeic(type) ? () => renderHeic(path) : () => renderFile(path, header);
  return decodeInTime(
    renderCounts.measure(type.slice('image/'.length), render).catch((error) => {
      throw toBadImage(error);
    }),
    release,
  );
}

/** The dimensions are known once the file is decoded. */
const HEIC_HEADER: ImageHeader = { width: 1, height: 1, frames: 1, needsFullImage: true, memory: HEIC_MEMORY };

async function renderFile(path: string, header: ImageHeader): Promise<RenderedImage> {
  const sharp = await loadDecoder();
  const image = sharp(path, DECODE_OPTIONS);
  const { width, height, orientation = 1 } = await image.metadata();
  if (width * height > pixelsOf(header)) throw new BadImage('cannot be decoded');
  return renderSizes(image, { width, height }, orientation);
}

async function renderHeic(path: string): Promise<RenderedImage> {
  const { png, width, height } = await decodeHeic(path, RENDITION_SIDES.LARGE);
  const sharp = await loadDecoder();
  return renderSizes(sharp(png), { width, height }, 1);
}

/** Angle in degrees clockwise, and whether the image is mirrored horizontally before, by the EXIF orientation. */
const TURNS: Record<number, readonly [angle: number, isMirrored: boolean]> = {
  2: [0, true],
  3: [180, false],
  4: [180, true],
  5: [270, true],
  6: [90, false],
  7: [90, true],
  8: [270, false],
};

/**
 * Decodes the image once, reduced to the largest size. It is turned afterwards, because turning needs all pixels in memory.
 *
 * @param dimensions of the image as it is stored.
 */
async function renderSizes(image: Sharp, dimensions: Dimensions, orientation: number): Promise<RenderedImage> {
  const largest = toRenditionDimensions(dimensions, 'LARGE');
  const { data, info } = await image
    .resize({ ...largest, fit: 'fill' })
    .toColourspace('srgb')
    .timeout({ seconds: DECODE_SECONDS })
    .raw()
    .toBuffer({ resolveWithObject: true });
  const [angle, isMirrored] = TURNS[orientation] ?? [0, false];
  const isTurned = angle % 180 !== 0;
  const upright = isTurned ? { width: dimensions.height, height: dimensions.width } : dimensions;
  const sharp = await loadDecoder();
  const files = {} as Record<RenditionSize, Buffer>;
  for (const size of RENDITION_SIZES) {
    files[size] = await sharp(data, { raw: { width: info.width, height: info.height, channels: info.channels } })
      .rotate(angle)
      .flop(isMirrored)
      .resize({ ...toRenditionDimensions(upright, size), fit: 'fill' })
      .webp({ quality: QUALITY, effort: EFFORT })
      .toBuffer();
  }
  return { ...upright, files };
}

/** Chosen by measurement (docs/decisions/0053-renditions-as-webp.md). */
const QUALITY = 78;
const EFFORT = 0;

let placeholders: Promise<Record<RenditionSize, Buffer>> | undefined;

/** Dimensions of the image whose renditions are placeholders. */
export const PLACEHOLDER: Dimensions = { width: 1600, height: 1200 };

/** Returns the plain grey rendition of a photo that cannot be rendered. */
export async function renderPlaceholder(size: RenditionSize): Promise<Buffer> {
  placeholders ??= loadDecoder().then(async (sharp) => {
    const grey = sharp({ create: { ...PLACEHOLDER, channels: 3, background: '#c9d1d8' } });
    return (await renderSizes(grey, PLACEHOLDER, 1)).files;
  });
  return (await placeholders)[size];
}
