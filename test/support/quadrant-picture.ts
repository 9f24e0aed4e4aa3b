import sharp, { type Sharp } from 'sharp';

/** Colours of the quadrants of `createQuadrantPicture()` and of every picture in `test/fixtures/heic` of 96 x 64 pixels. */
export const QUADRANT_COLOURS = [
  [220, 30, 30],
  [30, 160, 60],
  [30, 60, 200],
  [235, 235, 235],
];

/** Maximum difference of a colour component after two lossy encodings. */
export const COLOUR_TOLERANCE = 14;

/** Returns a picture of four quadrants, one colour each. */
export function createQuadrantPicture(width = 96, height = 64): Sharp {
  const data = Buffer.alloc(width * height * 3);
  for (let at = 0; at < width * height; at++) {
    const index = (at % width >= width / 2 ? 1 : 0) + (Math.floor(at / width) >= height / 2 ? 2 : 0);
    data.set(QUADRANT_COLOURS[index]!, at * 3);
  }
  return sharp(data, { raw: { width, height, channels: 3 } });
}

/** Returns the maximum difference of two lists of colours in one component. */
export const findColourDifference = (actual: number[][], expected: number[][]): number =>
  Math.max(
    ...actual.flatMap((colour, index) =>
      colour.map((value, component) => Math.abs(value - expected[index]![component]!)),
    ),
  );
