import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRenderProcess, type RenderProcess, renderImage } from '../../src/images/render.ts';
import { BadImage } from '../../src/images/types.ts';
import { heicGrid } from '../support/heic-grid.ts';
import { findBox, type HeicItem, heicOfItems } from '../support/heic-items.ts';
import { box, u16, u32 } from '../support/images.ts';

/** Properties of every file: the decoder's, the dimensions of its picture, and those of a derived one. */
const [HVCC, PICTURE, DERIVED, EXTRA] = [129, 2, 3, 4];
const LIMITS = { memory: 96 * 1024 * 1024, timeoutMs: 3_000 };

let folder: string;
let plain: Buffer;
let renderProcess: RenderProcess;
let files = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'builder-api-hostile-'));
  plain = await readFile('test/fixtures/heic/plain.heic');
  renderProcess = createRenderProcess(LIMITS);
});
afterAll(() => rm(folder, { recursive: true }));

async function render(bytes: Buffer) {
  const path = join(folder, String(++files));
  await writeFile(path, bytes);
  return renderImage(path, { renderProcess });
}

const dimensions = (width: number, height: number) => box('ispe', u32(0), u32(width), u32(height));

/** A file whose derived pictures are 96 x 64 pixels unless told otherwise, like the coded one. */
const fileOf = (items: HeicItem[], derived = dimensions(96, 64), ...extra: Buffer[]): Buffer =>
  heicOfItems(items, [findBox(plain, 'hvcC'), dimensions(96, 64), derived, ...extra]);

const coded = (...extra: number[]): HeicItem => ({
  type: 'hvc1',
  data: findBox(plain, 'mdat').subarray(8),
  properties: [HVCC!, PICTURE!, ...extra],
});
const copyOf = (item: number): HeicItem => ({ type: 'iden', references: { dimg: [item] }, properties: [DERIVED!] });
const gridOf = (columns: number, rows: number, width: number, height: number, tiles: number[]): HeicItem => ({
  type: 'grid',
  data: [0, 0, rows - 1, columns - 1, ...u16(width), ...u16(height)],
  references: { dimg: tiles },
  properties: [DERIVED!],
});

describe('a HEIC file of one item', () => {
  it('is rendered', async () => {
    expect(await render(fileOf([coded()]))).toMatchObject({ width: 96, height: 64 });
  });

  it('that is a copy or a grid of another is rendered', async () => {
    expect(await render(fileOf([copyOf(2), coded()]))).toMatchObject({ width: 96, height: 64 });
    const grid = gridOf(2, 1, 192, 64, [2, 3]);
    expect(await render(fileOf([grid, coded(), coded()], dimensions(192, 64)))).toMatchObject({
      width: 192,
      height: 64,
    });
  });
});

describe('a HEIC file whose data end early', () => {
  it('shows nothing of the image before it (PHO-42)', async () => {
    const broken = await readFile('test/fixtures/heic/tile.heic');
    broken.fill(0, broken.indexOf('mdat') + 2_504);
    const afterPhoto = async (name: string) => {
      const tiles = Array(4).fill(await readFile(`test/fixtures/heic/${name}.heic`));
      await render(heicGrid(tiles, { columns: 2, rows: 2, width: 1_024, height: 1_024 }));
      return createHash('sha256')
        .update((await render(broken)).files.LARGE)
        .digest('hex');
    };
    expect(await afterPhoto('site-0')).toBe(await afterPhoto('site-3'));
  });
});

const LEVELS = 16;

const HOSTILE: [name: string, make: () => Buffer][] = [
  ['a grid of itself', () => fileOf([gridOf(1, 1, 96, 64, [1])])],
  ['copies of each other', () => fileOf([copyOf(2), copyOf(1)])],
  [
    'a chain of 5,000 copies',
    () => fileOf([...Array.from({ length: 5_000 }, (_, index) => copyOf(index + 2)), coded()]),
  ],
  [
    `grids of grids, ${LEVELS} levels of two that share theirs`,
    () => {
      const levels = Array.from({ length: LEVELS }, (_, level) => gridOf(2, 1, 96, 64, [2 * level + 2, 2 * level + 3]));
      return fileOf([...levels.flatMap((grid) => [grid, grid]).slice(1), coded(), coded()]);
    },
  ],
  [
    'a picture laid over itself 60,000 times',
    () => {
      const data = [0, 0, ...Array(8).fill(255), ...u16(96), ...u16(64), ...Array(60_000 * 4).fill(0)];
      const references = { dimg: Array(60_000).fill(2) as number[] };
      return fileOf([{ type: 'iovl', data: Buffer.from(data), references, properties: [DERIVED!] }, coded()]);
    },
  ],
  [
    'a grid without its tiles',
    () => fileOf([gridOf(256, 256, 24_576, 16_384, [2]), coded()], dimensions(24_576, 16_384)),
  ],
  ['a grid of tiles that do not exist', () => fileOf([gridOf(2, 1, 192, 64, [7, 8]), coded()], dimensions(192, 64))],
  ['dimensions of two billion pixels a side', () => fileOf([copyOf(2), coded()], dimensions(2 ** 31 - 1, 2 ** 31 - 1))],
  [
    'a coded picture that says it is larger',
    () => {
      const file = fileOf([coded()]);
      const at = file.indexOf('ispe');
      file.writeUInt32BE(7_000, at + 8);
      file.writeUInt32BE(7_000, at + 12);
      return file;
    },
  ],
  [
    'an opacity that is its own',
    () =>
      fileOf(
        [{ ...coded(EXTRA!), references: { auxl: [1] } }],
        dimensions(1, 1),
        box('auxC', u32(0), Buffer.from('urn:mpeg:hevc:2015:auxid:1\0')),
      ),
  ],
  ['a thumbnail of itself', () => fileOf([{ ...coded(), references: { thmb: [1] } }])],
  [
    'a clean aperture beyond every bound',
    () =>
      fileOf(
        [coded(EXTRA!)],
        dimensions(1, 1),
        box('clap', ...[2 ** 32 - 1, 1, 2 ** 32 - 1, 1, 2 ** 31, 0, 2 ** 31, 0].map(u32)),
      ),
  ],
  [
    'a profile of colours that is no profile',
    () => fileOf([coded(EXTRA!)], dimensions(1, 1), box('colr', Buffer.from('prof'), Buffer.alloc(900, 7))),
  ],
  ['properties that do not exist', () => fileOf([{ ...coded(), properties: [HVCC!, PICTURE!, 99, 127] }])],
];

describe('a hostile HEIC file', () => {
  it.each(HOSTILE)('that has %s is rendered or rejected, and the next one is rendered', async (_, make) => {
    const rendered = await render(make()).catch((error) => {
      expect(error).toBeInstanceOf(BadImage);
      return null;
    });
    if (rendered) expect(Math.max(rendered.width, rendered.height)).toBeLessThanOrEqual(7_000);
    expect(await render(plain)).toMatchObject({ width: 96, height: 64 });
  });

  it('that ends at any byte is rejected', async () => {
    for (let end = 12; end < plain.length; end += 29) {
      await expect(render(plain.subarray(0, end)), `${end} bytes`).rejects.toThrow(BadImage);
    }
  });
});
