import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BadImage } from '../../src/images/types.ts';
import { createHeicGrid } from '../support/heic-grid.ts';
import { HEIC_FIXTURES, useRendering } from '../support/rendering.ts';

const rendering = useRendering();
const { render } = rendering;

describe('a HEIC file', () => {
  it('with any byte changed is rendered or rejected, and the next image is rendered', async () => {
    const names = ['plain', 'alpha', 'ten-bit'];
    const sources: Buffer[] = await Promise.all(names.map((name) => readFile(join(HEIC_FIXTURES, `${name}.heic`))));
    sources.push(createHeicGrid(rendering.tile, { columns: 2, rows: 1, width: 1000, height: 500, depth: true }));
    let seed = 7;
    const random = (limit: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return Math.floor((seed / 2 ** 31) * limit);
    };
    let rejected = 0;
    for (let round = 0; round < 20; round++) {
      const bytes = Buffer.from(sources[round % sources.length]!);
      for (let change = random(4); change >= 0; change--) bytes[random(Math.min(bytes.length, 1_200))] = random(256);
      await render(bytes).catch((error) => {
        expect(error).toBeInstanceOf(BadImage);
        rejected++;
      });
    }
    expect(rejected).toBeGreaterThan(3);
    expect((await render(sources[0]!)).width).toBe(96);
  });
});
