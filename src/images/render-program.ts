import type { Sharp } from 'sharp';
import { DECODE_OPTIONS, loadSharp, readMetadata, toBadImage } from './decode.ts';
import { decodeHeic, type HeicLimits, type HeicPixels } from './heic.ts';
import { embedProfile, readDisplayP3 } from './icc-profile.ts';
import { renderSizes, type SizedFiles } from './render-sizes.ts';
import { BadImage, InterruptedDecode } from './types.ts';
import { handleTasks, workerData } from './worker-process.ts';

/* The process that renders images. */

export interface RenderTask {
  path: string;
  isHeic: boolean;
  /** Maximum pixels of the image. The decoder of HEIC has a limit of its own. */
  maxPixels: number;
  /** Pixels of the longer side by size. */
  sides: Record<string, number>;
}

/** EXIF orientation of an image that libheif has turned. */
const UPRIGHT = 1;

/** The upright image in every size, or why it cannot be rendered and whether another attempt may succeed. */
export type RenderResult = { image: SizedFiles } | { problem: string; wasInterrupted: boolean };

handleTasks<RenderTask, RenderResult>((task) =>
  (task.isHeic ? renderHeic(task) : renderFile(task)).then((image) => ({ image }), toProblem),
);

function toProblem(error: unknown) {
  const bad = toBadImage(error);
  return { problem: bad.message, wasInterrupted: bad instanceof InterruptedDecode };
}

async function renderFile({ path, maxPixels, sides }: RenderTask): Promise<SizedFiles> {
  const sharp = await loadSharp();
  const image = sharp(path, DECODE_OPTIONS);
  const { width, height, orientation = 1 } = await readMetadata(image, path);
  if (width * height > maxPixels) throw new BadImage('cannot be decoded');
  return renderSizes(image, { width, height }, orientation, sides);
}

async function renderHeic({ path, sides }: RenderTask): Promise<SizedFiles> {
  const longestSide = Math.max(...Object.values(sides));
  const { pixels, ...dimensions } = await decodeHeic(path, longestSide, workerData<HeicLimits>());
  return renderSizes(await toSharp(pixels), dimensions, UPRIGHT, sides);
}

async function toSharp({ data, raw, profile, isDisplayP3 }: HeicPixels): Promise<Sharp> {
  const sharp = await loadSharp();
  const image = sharp(data, { raw });
  const colours = profile ?? (isDisplayP3 ? await readDisplayP3() : null);
  return colours ? sharp(await embedProfile(image, colours)) : image;
}
