import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHeicThread, HEIC_MEMORY, type HeicPicture } from '../../src/images/heic-decoder.ts';
import { createHeicGrid } from '../support/heic-grid.ts';
import { findBox } from '../support/heic-items.ts';

const MIB = 1024 * 1024;
const GRID = { columns: 2, rows: 2, width: 1000, height: 700 };
/** Maximum difference of pixel values between the two decoders, whose loop filters differ. */
const PIXEL_TOLERANCE = 6;

type Thread = Awaited<ReturnType<typeof createHeicThread>>;
type GridOptions = Parameters<typeof createHeicGrid>[1];

let folder: string;
let thread: Thread;
let files = 0;
const sources: Record<string, Buffer> = {};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'builder-api-grid-'));
  for (const name of ['tile', 'site-0', 'site-1', 'ten-bit', 'chroma-422', 'chroma-444', 'plain', 'large-tile']) {
    sources[name] = await readFile(`test/fixtures/heic/${name}.heic`);
  }
  thread = await createThread(HEIC_MEMORY);
});
afterAll(async () => {
  await thread.close();
  await rm(folder, { recursive: true });
});

const createThread = (memory: number) => createHeicThread({ memory, timeoutMs: 20_000 });

/** Decodes all pixels; null when they cannot be decoded. */
async function decode(file: Buffer, inThread = thread): Promise<HeicPicture | null> {
  const path = join(folder, String(++files));
  await writeFile(path, file);
  const result = await inThread.run({ path, side: 10_000, maxPixels: 50_000_000 });
  return 'picture' in result ? result.picture : null;
}

/** A grid with a quarter turn: libheif turns its picture, and hevc.js leaves that to the orientation. */
const createTurnedGrid = (tiles: Buffer[], options: GridOptions) => createHeicGrid(tiles, { turns: 1, ...options });
const [BY_HEVC, BY_LIBHEIF] = [8, 1];

/** The grid, with a configuration of the last tile that differs in the level alone. */
function createGridForLibheif(tiles: Buffer[], options: GridOptions) {
  const lastConfiguration = Buffer.from(findBox(tiles[0]!, 'hvcC'));
  lastConfiguration[8 + 12]! += 3;
  return createTurnedGrid(tiles, { ...options, lastConfiguration });
}

const SMALL_TILES = { columns: 3, rows: 2, width: 270, height: 120, tile: { width: 96, height: 64 } };
const LARGE_TILE = { columns: 1, rows: 1, width: 2000, height: 2000, tile: { width: 2048, height: 2048 } };

describe('a picture of HEVC tiles', () => {
  it.each([
    ['of 8 bits', ['site-0', 'site-1'], GRID],
    ['of odd sides', ['site-0', 'site-1'], { ...GRID, width: 999, height: 701 }],
    ['of 10 bits', ['ten-bit'], SMALL_TILES],
    ['of two small tiles', ['plain'], { ...SMALL_TILES, columns: 2, rows: 1, width: 190, height: 63 }],
  ])('%s is decoded by hevc.js as by libheif', async (_, names, options) => {
    const tiles = names.map((name) => sources[name]!);
    expect(await decode(createTurnedGrid(tiles, options))).toHaveProperty('orientation', BY_HEVC);
    expect(await decode(createGridForLibheif(tiles, options))).toHaveProperty('orientation', BY_LIBHEIF);
    // libheif also moves the chroma of odd sides when it turns a picture.
    const straight = { ...options, turns: 0 };
    const picture = (await decode(createTurnedGrid(tiles, straight)))!;
    const reference = (await decode(createGridForLibheif(tiles, straight)))!;
    expect([picture.width, picture.height]).toEqual([options.width, options.height]);
    const [pixels, expected] = await Promise.all([picture, reference].map(({ png }) => sharp(png).raw().toBuffer()));
    const difference = pixels!.reduce((most, value, index) => Math.max(most, Math.abs(value - expected![index]!)), 0);
    expect(pixels!.length).toBe(expected!.length);
    expect(difference).toBeLessThanOrEqual(PIXEL_TOLERANCE);
  });

  it('is decoded identically after other pictures, also damaged ones', async () => {
    const tiles = [sources['site-0']!, sources['site-1']!];
    const before = await decode(createTurnedGrid(tiles, GRID));
    await decode(createTurnedGrid([sources['ten-bit']!], SMALL_TILES));
    await decode(createTurnedGrid([damageTile(sources['site-1']!)], GRID));
    const after = await decode(createTurnedGrid(tiles, GRID));
    expect(Buffer.compare(after!.png, before!.png)).toBe(0);
    expect(before!.orientation).toBe(BY_HEVC);
  });
});

/** Returns the tile with zeros in its last 30,000 bytes. */
function damageTile(tile: Buffer): Buffer {
  const copy = Buffer.from(tile);
  copy.fill(0, copy.length - 30_000);
  return copy;
}

/** Returns the tile with a NAL unit length that exceeds the data. */
function lengthenTile(tile: Buffer): Buffer {
  const copy = Buffer.from(tile);
  const data = findBox(copy, 'mdat');
  data.writeUInt32BE(data.readUInt32BE(8) + 1, 8);
  return copy;
}

describe('a picture that hevc.js does not decode', () => {
  it.each<[string, string, GridOptions]>([
    ['is mirrored', 'tile', { ...GRID, mirror: 0 }],
    ['is cropped', 'tile', { ...GRID, crop: true }],
    ['has an opacity', 'plain', { ...SMALL_TILES, columns: 1, rows: 1, width: 96, height: 64, alpha: true }],
    ['has chroma 4:2:2', 'chroma-422', SMALL_TILES],
    ['has chroma 4:4:4', 'chroma-444', SMALL_TILES],
    ['has more tiles than its size needs', 'plain', { ...SMALL_TILES, width: 180 }],
  ])('because it %s is left to libheif', async (_, name, options) => {
    expect(await decode(createTurnedGrid([sources[name]!], options))).toHaveProperty('orientation', BY_LIBHEIF);
  });

  it.each<[string, () => Buffer, GridOptions]>([
    ['has a damaged tile', () => damageTile(sources['site-1']!), GRID],
    ['has a tile of a wrong length', () => lengthenTile(sources['site-1']!), GRID],
    [
      'gives its tiles another size',
      () => sources['site-1']!,
      { ...GRID, width: 500, height: 500, tile: { width: 256, height: 256 } },
    ],
    ['has too few tiles', () => sources['site-1']!, { ...GRID, width: 2_000 }],
  ])('because it %s is left to libheif, which may reject it', async (_, tile, options) => {
    const tiles = [sources['site-0']!, tile()];
    const [picture, reference] = [
      await decode(createTurnedGrid(tiles, options)),
      await decode(createGridForLibheif(tiles, options)),
    ];
    expect(picture?.orientation).toBe(reference?.orientation);
    expect(picture?.orientation).not.toBe(BY_HEVC);
  });

  it.each([
    ['hevc.js cannot start', 'tile', GRID, 36],
    ['hevc.js cannot grow', 'large-tile', LARGE_TILE, 44],
  ])('because %s within the bound of memory is left to libheif', async (_, name, options, mebibytes) => {
    const file = createTurnedGrid([sources[name]!], options);
    const small = await createThread(mebibytes * MIB);
    expect(await decode(file, small)).toHaveProperty('orientation', BY_LIBHEIF);
    expect(await decode(file)).toHaveProperty('orientation', BY_HEVC);
    await small.close();
  });
});
