/** Samples of one channel of an image, as a decoder stores them. */
export interface Plane {
  samples: Uint8Array | Uint16Array;
  /** Samples of a line. */
  stride: number;
  /** Pixels of the image per sample. */
  subsampling: { x: number; y: number };
  /** Bits of a sample beyond 8. */
  shift: number;
}

/** How luma and chroma encode red, green and blue. */
interface YcbcrColour {
  /** Weights of red and blue in luma. */
  weights: readonly [red: number, blue: number];
  isFullRange: boolean;
}

/**
 * Returns the plane with 8 bits per sample and the given size. A sample is the average of the square of `factor` pixels that it replaces;
 * of a subsampled plane, it is the sample in the middle of the square.
 */
export function shrink(plane: Plane, { width, height }: { width: number; height: number }, factor: number): Uint8Array {
  const { samples, stride, subsampling, shift } = plane;
  const shrunk = new Uint8Array(width * height);
  if (factor === subsampling.x && factor === subsampling.y && shift === 0) {
    for (let y = 0; y < height; y++) shrunk.set(samples.subarray(y * stride, y * stride + width), y * width);
    return shrunk;
  }
  const middle = factor >> 1;
  if (factor === 1 || subsampling.x > 1 || subsampling.y > 1) {
    const columns = Uint32Array.from({ length: width }, (_, x) => Math.floor((x * factor + middle) / subsampling.x));
    for (let y = 0, at = 0; y < height; y++) {
      const line = Math.floor((y * factor + middle) / subsampling.y) * stride;
      for (let x = 0; x < width; x++) shrunk[at++] = samples[line + columns[x]!]! >> shift;
    }
    return shrunk;
  }
  const weight = 1 / (factor * factor * 2 ** shift);
  const sums = new Uint32Array(width);
  for (let y = 0; y < height; y++) {
    sums.fill(0);
    for (let row = 0; row < factor; row++) addSquares(sums, samples, (y * factor + row) * stride, factor);
    for (let x = 0, at = y * width; x < width; x++) shrunk[at++] = sums[x]! * weight;
  }
  return shrunk;
}

/** Adds the samples of a line to the sums of their squares. */
function addSquares(sums: Uint32Array, samples: Plane['samples'], start: number, factor: number): void {
  if (factor === 2) {
    // The usual one for photos of telephones.
    for (let x = 0, at = start; x < sums.length; x++, at += 2) sums[x]! += samples[at]! + samples[at + 1]!;
    return;
  }
  for (let x = 0, at = start; x < sums.length; x++) {
    let sum = 0;
    for (const end = at + factor; at < end; at++) sum += samples[at]!;
    sums[x]! += sum;
  }
}

/**
 * Returns the planes pixel by pixel. With a colour, the first three are luma and chroma, and are converted to red, green and blue.
 *
 * @param planes of equal size.
 */
export function interleave(planes: readonly Uint8Array[], colour: YcbcrColour | null): Uint8ClampedArray<ArrayBuffer> {
  const count = planes.length;
  const pixels = new Uint8ClampedArray(planes[0]!.length * count);
  if (colour) convertToRgb(pixels, planes, colour);
  for (let index = colour ? 3 : 0; index < count; index++) {
    const plane = planes[index]!;
    for (let from = 0, to = index; from < plane.length; from++, to += count) pixels[to] = plane[from]!;
  }
  return pixels;
}

/** ITU-T H.273, 8.3: the inverse of the equations of luma and chroma. */
function convertToRgb(
  pixels: Uint8ClampedArray,
  planes: readonly Uint8Array[],
  { weights: [red, blue], isFullRange }: YcbcrColour,
): void {
  const [luma, cb, cr] = planes as [Uint8Array, Uint8Array, Uint8Array];
  const [offset, range, chromaRange] = isFullRange ? [0, 1, 1] : [16, 255 / 219, 255 / 224];
  const green = 1 - red - blue;
  const fromCr = 2 * (1 - red) * chromaRange;
  const fromCb = 2 * (1 - blue) * chromaRange;
  for (let from = 0, to = 0; from < luma.length; from++, to += planes.length) {
    const y = (luma[from]! - offset) * range;
    const r = (cr[from]! - 128) * fromCr;
    const b = (cb[from]! - 128) * fromCb;
    pixels[to] = y + r;
    pixels[to + 1] = y - (red * r + blue * b) / green;
    pixels[to + 2] = y + b;
  }
}
