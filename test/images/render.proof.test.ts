import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp, { type Sharp } from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import { decodeHeic } from '../../src/images/heic.ts';
import type { RenderedImage } from '../../src/images/render.ts';
import { BadImage } from '../../src/images/types.ts';
import { createHeicGrid } from '../support/heic-grid.ts';
import { createHeicSequence } from '../support/heic-sequence.ts';
import {
  createAnimation,
  createDecompressionBomb,
  createFragmentedHeic,
  createHeic,
  createPicture,
  moveExifBehindPixels,
} from '../support/images.ts';
import {
  COLOUR_TOLERANCE,
  createQuadrantPicture,
  findColourDifference,
  QUADRANT_COLOURS,
} from '../support/quadrant-picture.ts';
import { HEIC_FIXTURES, useRendering } from '../support/rendering.ts';

const rendering = useRendering();
const { render } = rendering;
let folder: string;
let tile: Buffer;

beforeAll(() => {
  ({ folder, tile } = rendering);
});

/** Colours in the middle of each quadrant. */
async function coloursOf(file: Buffer): Promise<number[][]> {
  const { data, info } = await sharp(file).removeAlpha().raw().toBuffer({ resolveWithObject: true });
  return [1, 3].flatMap((y) =>
    [1, 3].map((x) => {
      const at = (Math.floor((y * info.height) / 4) * info.width + Math.floor((x * info.width) / 4)) * 3;
      return [...data.subarray(at, at + 3)];
    }),
  );
}

/** Types of the chunks of a WebP file (RFC 9649). */
function chunksOf(file: Buffer): string[] {
  const types: string[] = [];
  for (let at = 12; at < file.length; at += 8 + file.readUInt32LE(at + 4) + (file.readUInt32LE(at + 4) % 2)) {
    types.push(file.toString('latin1', at, at + 4));
  }
  return types;
}

const expectColours = (actual: number[][], expected: number[][]): void =>
  expect(findColourDifference(actual, expected), JSON.stringify(actual)).toBeLessThanOrEqual(COLOUR_TOLERANCE);

describe('the renditions of an image', () => {
  it.each([1, 2, 3, 4, 5, 6, 7, 8])('are upright for the EXIF orientation %i', async (orientation) => {
    const bytes = await createQuadrantPicture().withMetadata({ orientation }).jpeg({ quality: 95 }).toBuffer();
    const { width, height, files } = await render(bytes);
    expect([width, height]).toEqual(orientation < 5 ? [96, 64] : [64, 96]);
    const expected = await sharp(bytes).autoOrient().png().toBuffer();
    expectColours(await coloursOf(files.LARGE), await coloursOf(expected));
    expect(await sharp(files.SMALL).metadata()).toMatchObject({ width, height });
  });

  it('are upright for a PNG with its Exif behind the pixels', async () => {
    const bytes = await createQuadrantPicture().withMetadata({ orientation: 6 }).png().toBuffer();
    const { width, height, files } = await render(moveExifBehindPixels(bytes));
    expect([width, height]).toEqual([64, 96]);
    expectColours(await coloursOf(files.LARGE), await coloursOf(await sharp(bytes).autoOrient().png().toBuffer()));
  });

  it('contain no location or other metadata', async () => {
    const exif = { IFD0: { Copyright: 'Kim' }, IFD3: { GPSLatitude: '33/1 51/1 0/1', GPSLatitudeRef: 'S' } };
    const bytes = await createQuadrantPicture()
      .withExif(exif)
      .withXmp('<x:xmpmeta xmlns:x="adobe:ns:meta/"/>')
      .jpeg()
      .toBuffer();
    expect((await sharp(bytes).metadata()).exif).toBeDefined();
    for (const file of Object.values((await render(bytes)).files)) {
      const { exif, icc, xmp, iptc, orientation } = await sharp(file).metadata();
      expect({ exif, icc, xmp, iptc, orientation }).toEqual({});
      expect(chunksOf(file)).toEqual(['VP8 ']);
      expect(file.includes('Kim')).toBe(false);
    }
  });

  it.each(['p3', 'cmyk'])('are in sRGB for the profile %s', async (profile) => {
    const { files } = await render(
      await createQuadrantPicture().withIccProfile(profile).jpeg({ quality: 100 }).toBuffer(),
    );
    const colours = await coloursOf(files.LARGE);
    if (profile === 'p3') expectColours(colours, QUADRANT_COLOURS);
    else expect(colours[0]![0]).toBeGreaterThan(150);
  });

  it('are those of a PNG of 16 bits, a transparent one and a grey one', async () => {
    expectColours(
      await coloursOf(
        (await render(await createQuadrantPicture().toColourspace('rgb16').png().toBuffer())).files.LARGE,
      ),
      QUADRANT_COLOURS,
    );
    const transparent = await render(await createQuadrantPicture().ensureAlpha(0.5).png().toBuffer());
    expect((await sharp(transparent.files.SMALL).metadata()).hasAlpha).toBe(true);
    const [first] = await coloursOf(
      (await render(await createQuadrantPicture().greyscale().png().toBuffer())).files.LARGE,
    );
    expect(Math.max(...first!) - Math.min(...first!)).toBeLessThan(4);
  });

  it.each(['gif', 'webp'] as const)('are the first frame of an animated %s', async (format) => {
    const { width, height, files } = await render(await createAnimation(format));
    expect([width, height]).toEqual([50, 40]);
    expect((await sharp(files.LARGE).metadata()).pages ?? 1).toBe(1);
  });

  it('have one pixel in the shorter side of a very long image', async () => {
    const { files } = await render(await createPicture('png', { width: 4000, height: 3 }));
    expect(await sharp(files.SMALL).metadata()).toMatchObject({ width: 160, height: 1 });
  });
});

describe('a HEIC file', () => {
  it.each(['plain', 'ten-bit', 'display-p3', 'thumbnail', 'chroma-444', 'chroma-422', 'lossless', 'alpha'])(
    'of the kind %s is rendered in its colours',
    async (name) => {
      const { width, height, files } = await render(await readFile(join(HEIC_FIXTURES, `${name}.heic`)));
      expect([width, height]).toEqual([96, 64]);
      const colours = await coloursOf(files.LARGE);
      // The right half of the transparent one is invisible.
      const visible = name === 'alpha' ? [0, 2] : [0, 1, 2, 3];
      expectColours(
        visible.map((index) => colours[index]!),
        visible.map((index) => QUADRANT_COLOURS[index]!),
      );
      expect((await sharp(files.LARGE).metadata()).hasAlpha).toBe(name === 'alpha');
    },
  );

  it.each([
    ['4:2:0', 'grey'],
    ['4:0:0', 'monochrome'],
  ])('in grey of the format %s is rendered in grey', async (_, name) => {
    const colours = await coloursOf((await render(await readFile(join(HEIC_FIXTURES, `${name}.heic`)))).files.LARGE);
    for (const colour of colours) expect(Math.max(...colour) - Math.min(...colour)).toBeLessThan(4);
    const expected = await createQuadrantPicture().greyscale().toColourspace('srgb').png().toBuffer();
    expectColours(colours, await coloursOf(expected));
  });

  const GRID = { columns: 2, rows: 2, width: 1000, height: 700 };
  let plain: RenderedImage | undefined;
  const pixelsOf = (file: Buffer) => sharp(file).raw().toBuffer();
  const meanDifference = (one: Buffer, other: Buffer) =>
    one.reduce((sum, value, index) => sum + Math.abs(value - other[index]!), 0) / one.length;

  it.each([
    ['turned', { turns: 1 }, (image: Sharp) => image.rotate(270)],
    ['upside down', { turns: 2 }, (image: Sharp) => image.rotate(180)],
    ['turned three times', { turns: 3 }, (image: Sharp) => image.rotate(90)],
    ['mirrored upside down', { mirror: 0 as const }, (image: Sharp) => image.flip()],
    ['mirrored', { mirror: 1 as const }, (image: Sharp) => image.flop()],
    ['with a depth map', { depth: true }, (image: Sharp) => image],
    ['cropped', { crop: true }, (image: Sharp) => image.extract({ left: 0, top: 0, width: 500, height: 350 })],
    [
      'turned and cropped',
      { turns: 2, crop: true },
      (image: Sharp) => image.rotate(180).extract({ left: 0, top: 0, width: 500, height: 350 }),
    ],
  ])('of tiles, %s, is upright', async (_, options, turn) => {
    plain ??= await render(createHeicGrid(tile, GRID));
    expect([plain.width, plain.height]).toEqual([1000, 700]);
    const { files, width, height } = await render(createHeicGrid(tile, { ...GRID, ...options }));
    const expected = await turn(sharp(plain.files.LARGE)).raw().toBuffer({ resolveWithObject: true });
    expect([width, height]).toEqual([expected.info.width, expected.info.height]);
    expect(meanDifference(await pixelsOf(files.LARGE), expected.data)).toBeLessThan(4);
  });

  it.each([
    ['clap', 320, 480],
    ['irot90', 480, 640],
    ['ex-split', 640, 480],
  ])('of the sample %s is rendered as it is shown', async (name, width, height) => {
    const rendered = await render(await readFile(`test/samples/images/${name}.heic`));
    expect([rendered.width, rendered.height]).toEqual([width, height]);
    const colours = await coloursOf(rendered.files.LARGE);
    expect(new Set(colours.map(String)).size).toBeGreaterThan(1);
  });

  it('beside a sequence of 2,000 frames is rendered alone', async () => {
    const plain = await readFile(join(HEIC_FIXTURES, 'plain.heic'));
    expect(await render(createHeicSequence(plain, { frames: 2_000, still: true }))).toMatchObject({
      width: 96,
      height: 64,
    });
  });

  it('beside a sequence without frames is rendered alone', async () => {
    const options = { columns: 1, rows: 1, width: 500, height: 500, sequence: true };
    expect(await render(createHeicGrid(tile, options))).toMatchObject({ width: 500, height: 500 });
  });

  it('is reduced while it is converted', async () => {
    const { files, width, height } = await render(
      createHeicGrid(tile, { columns: 8, rows: 6, width: 4032, height: 3024 }),
    );
    expect([width, height]).toEqual([4032, 3024]);
    expect(await sharp(files.LARGE).metadata()).toMatchObject({ width: 1600, height: 1200 });
  });
});

describe('a hostile image', () => {
  it.each([
    ['a HEIC file whose picture is noise', () => createHeic()],
    ['a HEIC file without bytes', () => createFragmentedHeic(10)],
    ['a truncated HEIC file', () => tile.subarray(0, 9_000)],
    [
      'a HEIC file of too many pixels',
      () => createHeicGrid(tile, { columns: 20, rows: 20, width: 10_000, height: 10_000 }),
    ],
    [
      'a sequence of 2,000 frames without a still image',
      async () =>
        createHeicSequence(await readFile(join(HEIC_FIXTURES, 'plain.heic')), { frames: 2_000, still: false }),
    ],
    [
      'tiles that do not fill the picture',
      () => createHeicGrid(tile, { columns: 1, rows: 1, width: 4_000, height: 4_000 }),
    ],
    ['a PNG that unfolds to gigabytes', () => createDecompressionBomb(60_000, 60_000)],
    ['a text', () => Buffer.from('no image')],
  ])('%s cannot be rendered', async (_, make) => {
    await expect(render(await make())).rejects.toThrow(BadImage);
  });

  const LARGE = { columns: 14, rows: 13, width: 7_000, height: 6_500 };

  it('is not decoded beyond the bound of memory, and the next image is', async () => {
    const [path, small] = [join(folder, 'large.heic'), join(folder, 'small.heic')];
    await writeFile(path, createHeicGrid(tile, LARGE));
    await writeFile(small, await readFile(join(HEIC_FIXTURES, 'plain.heic')));
    const limits = { memory: 48 * 1024 * 1024, timeoutMs: 30_000 };
    await expect(decodeHeic(path, 1600, limits)).rejects.toThrow('cannot be decoded');
    expect(await decodeHeic(small, 1600, limits)).toHaveProperty('width', 96);
  });

  it('ends its thread beyond the bound of time', async () => {
    const path = join(folder, 'slow.heic');
    await writeFile(path, createHeicGrid(tile, LARGE));
    const slow = decodeHeic(path, 1600, { memory: 512 * 1024 * 1024, timeoutMs: 100 });
    await expect(slow).rejects.toThrow('takes too long to decode');
  });
});
