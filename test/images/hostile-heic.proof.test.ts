import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRenderProcess, type RenderProcess, renderImage } from '../../src/images/render.ts';
import { BadImage } from '../../src/images/types.ts';
import { readProcessorTime } from '../bench/processes.ts';
import { createHeicGrid } from '../support/heic-grid.ts';
import { createHeicOfItems, findBox, type HeicItem } from '../support/heic-items.ts';
import { box, u16, u32 } from '../support/images.ts';

/** Indices of the properties of every file: decoder configuration, dimensions of the coded picture and of derived ones, and an extra one. */
const [HVCC, PICTURE, DERIVED, EXTRA] = [129, 2, 3, 4];
/** The process has a low priority, so that an image may take seconds on a busy machine. Its processor time is bounded below. */
const LIMITS = { memory: 96 * 1024 * 1024, timeoutMs: 25_000 };
/** Maximum milliseconds of processor time of a hostile file. */
const MAX_PROCESSOR_MS = 1_000;

let folder: string;
let plainPicture: Buffer;
let renderProcess: RenderProcess;
let files = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'builder-api-hostile-'));
  plainPicture = await readFile('test/fixtures/heic/plain.heic');
  renderProcess = createRenderProcess(LIMITS);
});
afterAll(() => rm(folder, { recursive: true }));

async function render(bytes: Buffer) {
  const path = join(folder, String(++files));
  await writeFile(path, bytes);
  return renderImage(path, renderProcess);
}

const createDimensions = (width: number, height: number) => box('ispe', u32(0), u32(width), u32(height));

/** Returns a file whose derived pictures have 96 x 64 pixels by default, like the coded one. */
const createHeicFile = (items: HeicItem[], derived = createDimensions(96, 64), ...extra: Buffer[]): Buffer =>
  createHeicOfItems(items, [findBox(plainPicture, 'hvcC'), createDimensions(96, 64), derived, ...extra]);

const createCodedItem = (...extra: number[]): HeicItem => ({
  type: 'hvc1',
  data: findBox(plainPicture, 'mdat').subarray(8),
  properties: [HVCC!, PICTURE!, ...extra],
});
const createIdentityItem = (item: number): HeicItem => ({
  type: 'iden',
  references: { dimg: [item] },
  properties: [DERIVED!],
});
const createGridItem = (columns: number, rows: number, width: number, height: number, tiles: number[]): HeicItem => ({
  type: 'grid',
  data: [0, 0, rows - 1, columns - 1, ...u16(width), ...u16(height)],
  references: { dimg: tiles },
  properties: [DERIVED!],
});

describe('a HEIC file of one item', () => {
  it('is rendered', async () => {
    expect(await render(createHeicFile([createCodedItem()]))).toMatchObject({ width: 96, height: 64 });
  });

  it('that is a copy or a grid of another is rendered', async () => {
    expect(await render(createHeicFile([createIdentityItem(2), createCodedItem()]))).toMatchObject({
      width: 96,
      height: 64,
    });
    const grid = createGridItem(2, 1, 192, 64, [2, 3]);
    expect(
      await render(createHeicFile([grid, createCodedItem(), createCodedItem()], createDimensions(192, 64))),
    ).toMatchObject({
      width: 192,
      height: 64,
    });
  });
});

describe('a HEIC file whose data end early', () => {
  it('shows no data of the previous image (PHO-42)', async () => {
    const broken = await readFile('test/fixtures/heic/tile.heic');
    broken.fill(0, broken.indexOf('mdat') + 2_504);
    const afterPhoto = async (name: string) => {
      const tiles = Array(4).fill(await readFile(`test/fixtures/heic/${name}.heic`));
      await render(createHeicGrid(tiles, { columns: 2, rows: 2, width: 1_024, height: 1_024 }));
      const { files } = await render(broken);
      return createHash('sha256').update(files.LARGE).digest('hex');
    };
    expect(await afterPhoto('site-0')).toBe(await afterPhoto('site-3'));
  });
});

const LEVELS = 16;

const HOSTILE: [name: string, make: () => Buffer][] = [
  ['a grid of itself', () => createHeicFile([createGridItem(1, 1, 96, 64, [1])])],
  ['copies of each other', () => createHeicFile([createIdentityItem(2), createIdentityItem(1)])],
  [
    'a chain of 5,000 copies',
    () =>
      createHeicFile([
        ...Array.from({ length: 5_000 }, (_, index) => createIdentityItem(index + 2)),
        createCodedItem(),
      ]),
  ],
  [
    `grids of grids, ${LEVELS} levels of two that share theirs`,
    () => {
      const levels = Array.from({ length: LEVELS }, (_, level) =>
        createGridItem(2, 1, 96, 64, [2 * level + 2, 2 * level + 3]),
      );
      return createHeicFile([...levels.flatMap((grid) => [grid, grid]).slice(1), createCodedItem(), createCodedItem()]);
    },
  ],
  [
    'a picture laid over itself 60,000 times',
    () => {
      const data = [0, 0, ...Array(8).fill(255), ...u16(96), ...u16(64), ...Array(60_000 * 4).fill(0)];
      const references = { dimg: Array(60_000).fill(2) as number[] };
      return createHeicFile([
        { type: 'iovl', data: Buffer.from(data), references, properties: [DERIVED!] },
        createCodedItem(),
      ]);
    },
  ],
  [
    'a grid without its tiles',
    () =>
      createHeicFile(
        [createGridItem(256, 256, 24_576, 16_384, [2]), createCodedItem()],
        createDimensions(24_576, 16_384),
      ),
  ],
  [
    'a grid of tiles that do not exist',
    () => createHeicFile([createGridItem(2, 1, 192, 64, [7, 8]), createCodedItem()], createDimensions(192, 64)),
  ],
  [
    'dimensions of two billion pixels a side',
    () => createHeicFile([createIdentityItem(2), createCodedItem()], createDimensions(2 ** 31 - 1, 2 ** 31 - 1)),
  ],
  [
    'a coded picture that says it is larger',
    () => {
      const file = createHeicFile([createCodedItem()]);
      const at = file.indexOf('ispe');
      file.writeUInt32BE(7_000, at + 8);
      file.writeUInt32BE(7_000, at + 12);
      return file;
    },
  ],
  [
    'an opacity that is its own',
    () =>
      createHeicFile(
        [{ ...createCodedItem(EXTRA!), references: { auxl: [1] } }],
        createDimensions(1, 1),
        box('auxC', u32(0), Buffer.from('urn:mpeg:hevc:2015:auxid:1\0')),
      ),
  ],
  ['a thumbnail of itself', () => createHeicFile([{ ...createCodedItem(), references: { thmb: [1] } }])],
  [
    'a clean aperture beyond every bound',
    () =>
      createHeicFile(
        [createCodedItem(EXTRA!)],
        createDimensions(1, 1),
        box('clap', ...[2 ** 32 - 1, 1, 2 ** 32 - 1, 1, 2 ** 31, 0, 2 ** 31, 0].map(u32)),
      ),
  ],
  [
    'a profile of colours that is no profile',
    () =>
      createHeicFile(
        [createCodedItem(EXTRA!)],
        createDimensions(1, 1),
        box('colr', Buffer.from('prof'), Buffer.alloc(900, 7)),
      ),
  ],
  [
    'properties that do not exist',
    () => createHeicFile([{ ...createCodedItem(), properties: [HVCC!, PICTURE!, 99, 127] }]),
  ],
];

describe('a hostile HEIC file', () => {
  it.each(HOSTILE)('that has %s is rendered or rejected, and the next one is rendered', async (_, make) => {
    if (!renderProcess.isRunning) await render(plainPicture);
    const pid = renderProcess.pid!;
    const before = await readProcessorTime(pid);
    const rendered = await render(make()).catch((error) => {
      expect(error).toBeInstanceOf(BadImage);
      return null;
    });
    expect((await readProcessorTime(pid)) - before).toBeLessThan(MAX_PROCESSOR_MS);
    if (rendered) expect(Math.max(rendered.width, rendered.height)).toBeLessThanOrEqual(7_000);
    expect(await render(plainPicture)).toMatchObject({ width: 96, height: 64 });
  });

  it('that ends at any byte is rejected', async () => {
    for (let end = 12; end < plainPicture.length; end += 61) {
      await expect(render(plainPicture.subarray(0, end)), `${end} bytes`).rejects.toThrow(BadImage);
    }
  });
});
