import { handleTasks } from '../shared/worker-process.ts';
import { DECODE_OPTIONS, loadDecoder, toBadImage } from './decode.ts';
import { decodeHeic } from './heic-decoder.ts';
import { renderSizes, type SizedFiles } from './render-sizes.ts';

/* The process that renders images. */

export interface RenderTask {
  path: string;
  isHeic: boolean;
  /** Maximum pixels of the image. The decoder of HEIC has a limit of its own. */
  maxPixels: number;
  /** Pixels of the longer side by size. */
  sides: Record<string, number>;
}

/** The upright image in every size, or why it cannot be rendered. */
export type RenderResult = { image: SizedFiles } | { problem: string };

handleTasks<RenderTask, RenderResult>(async (task) => {
  try {
    return { image: await (task.isHeic ? renderHeic(task) : renderFile(task)) };
  } catch (error) {
    return { problem: toBadImage(error).message };
  }
});

async function renderFile({ path, maxPixels, sides }: RenderTask): Promise<SizedFiles> {
  const sharp = await loadDecoder();
  const image = sharp(path, DECODE_OPTIONS);
  const { width, height, orientation = 1 } = await image.metadata();
  if (width * height > maxPixels) throw new Error('The image is larger than its header says.');
  return renderSizes(image, { width, height }, orientation, sides);
}

async function renderHeic({ path, sides }: RenderTask): Promise<SizedFiles> {
  const { png, width, height } = await decodeHeic(path, Math.max(...Object.values(sides)));
  const sharp = await loadDecoder();
  return renderSizes(sharp(png), { width, height }, 1, sides);
}
