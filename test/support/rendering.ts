import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { HEIC_MEMORY } from '../../src/images/heic.ts';
import { createRenderProcess, renderImage } from '../../src/images/render.ts';

export const HEIC_FIXTURES = 'test/fixtures/heic';

/** Folder for the images of a test file, a tile of HEIC, and a function that renders an image in a process. */
export function useRendering() {
  // HEIC files are decoded within the 30 seconds of other images instead of 15, which a loaded machine may exceed.
  const renderProcess = createRenderProcess({ memory: HEIC_MEMORY, timeoutMs: 30_000 });
  let files = 0;
  const rendering = {
    folder: '',
    tile: Buffer.alloc(0),
    async render(bytes: Buffer) {
      const path = join(rendering.folder, String(++files));
      await writeFile(path, bytes);
      return renderImage(path, renderProcess);
    },
  };
  beforeAll(async () => {
    rendering.folder = await mkdtemp(join(tmpdir(), 'builder-api-render-'));
    rendering.tile = await readFile(join(HEIC_FIXTURES, 'tile.heic'));
  });
  afterAll(() => rm(rendering.folder, { recursive: true }));
  return rendering;
}
