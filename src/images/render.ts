import { extname } from 'node:path';
import { RenditionSize } from '../../schema/enums.ts';
import { DurationCounts } from '../shared/duration-counts.ts';
import { loadOnce } from '../shared/load-once.ts';
import type { WorkerError } from '../shared/worker-thread.ts';
import { DECODE_SECONDS, loadSharp, TOO_SLOW } from './decode.ts';
import { countPixels, MAX_PIXELS_IN_MEMORY } from './header.ts';
import { HEIC_MEMORY, HEIC_MS, type HeicLimits } from './heic.ts';
import { detectImageType, readImageHeader } from './inspect.ts';
import type { RenderResult, RenderTask } from './render-program.ts';
import { type Dimensions, fitInto, renderSizes } from './render-sizes.ts';
import { BadImage, InterruptedDecode, isHeic, NOT_ACCEPTED } from './types.ts';
import { WorkerProcess } from './worker-process.ts';

/** Pixels of the longer side by size. Smaller images keep their own. */
const RENDITION_SIDES: Record<RenditionSize, number> = { SMALL: 160, MEDIUM: 640, LARGE: 1600 };
export const RENDITION_SIZES = Object.values(RenditionSize);
export const RENDITION_TYPE = 'image/webp';

/** The renditions of an image: upright, in sRGB, without metadata. */
export interface RenderedImage extends Dimensions {
  /** WebP files by size. The dimensions are those of the upright image. */
  files: Record<RenditionSize, Buffer>;
}

/** Renderings by type of the image, for metrics. */
export const renderCounts = new DurationCounts(10);

export type RenderProcess = WorkerProcess<RenderTask, RenderResult>;

/** Milliseconds after which the process is killed. Its decoders end within 30 seconds themselves. */
const KILL_MS = (DECODE_SECONDS + 10) * 1000;

/**
 * Creates a process that renders images apart from the requests: at a low priority, and with memory that is returned when it ends
 * (docs/decisions/0053-renditions.md).
 */
export function createRenderProcess(
  heicLimits: HeicLimits = { memory: HEIC_MEMORY, timeoutMs: HEIC_MS },
): RenderProcess {
  const file = new URL(`./render-program${extname(import.meta.url)}`, import.meta.url);
  return new WorkerProcess({ file, workerData: heicLimits, timeoutMs: KILL_MS, idleMs: 10_000 });
}

/** The process that renders unless another is given. */
export const defaultRenderProcess = createRenderProcess();

/** Returns the dimensions of a rendition, by those of the upright image. */
export const toRenditionDimensions = (dimensions: Dimensions, size: RenditionSize): Dimensions =>
  fitInto(dimensions, RENDITION_SIDES[size]);

/**
 * Renders an image of an accepted type in every size, within 40 seconds. Of an animation, the first frame is rendered. Throws `BadImage` for
 * an image that cannot be rendered, `InterruptedDecode` where that is not certain, and `WorkerError` when the process ends for another reason.
 */
export async function renderImage(path: string, renderProcess = defaultRenderProcess): Promise<RenderedImage> {
  const type = await detectImageType(path);
  if (!type) throw new BadImage(NOT_ACCEPTED);
  const maxPixels = isHeic(type) ? MAX_PIXELS_IN_MEMORY : countPixels(await readImageHeader(path, type));
  const task = { path, isHeic: isHeic(type), maxPixels, sides: RENDITION_SIDES };
  return renderCounts.measure(type.slice('image/'.length), () => render(renderProcess, task));
}

async function render(renderProcess: RenderProcess, task: RenderTask): Promise<RenderedImage> {
  const result = await renderProcess.run(task).catch((error: WorkerError) => {
    if (error.reason === 'ENDED') throw error;
    const problem = error.reason === 'TIMEOUT' ? TOO_SLOW : 'ended the process that rendered it';
    throw new InterruptedDecode(problem, { cause: error });
  });
  if ('image' in result) return result.image as RenderedImage;
  throw result.wasInterrupted ? new InterruptedDecode(result.problem) : new BadImage(result.problem);
}

/** Dimensions of the image whose renditions are placeholders. */
export const PLACEHOLDER: Dimensions = { width: 1600, height: 1200 };

const renderPlaceholders = loadOnce(async () => {
  const sharp = await loadSharp();
  const grey = sharp({ create: { ...PLACEHOLDER, channels: 3, background: '#c9d1d8' } });
  return (await renderSizes(grey, PLACEHOLDER, 1, RENDITION_SIDES)).files as RenderedImage['files'];
});

/** Returns the plain grey rendition of a photo that cannot be rendered. */
export const renderPlaceholder = async (size: RenditionSize): Promise<Buffer> => (await renderPlaceholders())[size];
