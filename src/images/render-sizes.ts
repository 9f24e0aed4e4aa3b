import type { Sharp } from 'sharp';
import { DECODE_SECONDS, loadSharp } from './decode.ts';

export interface Dimensions {
  width: number;
  height: number;
}

/** An upright image in sRGB, without metadata, as WebP files by size. The dimensions are those of the image. */
export interface SizedFiles extends Dimensions {
  files: Record<string, Buffer>;
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

/** Chosen by measurement (docs/decisions/0053-renditions.md). */
const QUALITY = 78;
const EFFORT = 0;

/** Reduces dimensions so that the longer side has at most so many pixels. */
export function fitInto({ width, height }: Dimensions, side: number): Dimensions {
  const factor = Math.min(1, side / Math.max(width, height));
  return { width: Math.max(1, Math.round(width * factor)), height: Math.max(1, Math.round(height * factor)) };
}

/**
 * Decodes the image once, reduced to the largest size. It is turned afterwards, because turning needs all pixels in memory.
 *
 * @param dimensions of the image as it is stored.
 * @param sides pixels of the longer side by size.
 */
export async function renderSizes(
  image: Sharp,
  dimensions: Dimensions,
  orientation: number,
  sides: Record<string, number>,
): Promise<SizedFiles> {
  const { data, info } = await image
    .resize({ ...fitInto(dimensions, Math.max(...Object.values(sides))), fit: 'fill' })
    .toColourspace('srgb')
    .timeout({ seconds: DECODE_SECONDS })
    .raw()
    .toBuffer({ resolveWithObject: true });
  const [angle, isMirrored] = TURNS[orientation] ?? [0, false];
  const isTurned = angle % 180 !== 0;
  const upright = isTurned ? { width: dimensions.height, height: dimensions.width } : dimensions;
  const sharp = await loadSharp();
  const files: Record<string, Buffer> = {};
  for (const [size, side] of Object.entries(sides)) {
    files[size] = await sharp(data, { raw: { width: info.width, height: info.height, channels: info.channels } })
      .rotate(angle)
      .flop(isMirrored)
      .resize({ ...fitInto(upright, side), fit: 'fill' })
      .webp({ quality: QUALITY, effort: EFFORT })
      .toBuffer();
  }
  return { ...upright, files };
}
