/** Samples of one channel of an image, as a decoder stores them. */
export interface Plane {
  samples: Uint8Array | Uint16Array;
  /** Samples of a line. */
  stride: number;
  /** Pixels of the image per sample. */
  subsampling: { x: number; y: number };
  /** Divides a sample to one of 8 bits. */
  scale: number;
}

/** How luma and chroma encode red, green and blue. */
export interface YcbcrColour {
  /** Weights of red and blue in luma. */
  weights: readonly [red: number, blue: number];
  isFullRange: boolean;
}

/**
 * Returns the plane with 8 bits per sample and the given size. A sample is the average of the square of `factor` pixels that it replaces;
 * of a subsampled plane, it is the sample in the middle of the square.
 */
export function shrink(plane: Plane, { width, height }: { width: number; height: number }, factor: number): Uint8Array {
  const { samples, stride, subsampling, scale } = plane;
  const isSubsampled = subsampling.x > 1 || subsampling.y > 1;
  const shrunk = new Uint8Array(width * height);
  const middle = factor >> 1;
  const divisor = factor * factor * scale;
  for (let y = 0, at = 0; y < height; y++) {
    const line = Math.floor((y * factor + middle) / subsampling.y) * stride;
    for (let x = 0; x < width; x++, at++) {
      if (isSubsampled) {
        shrunk[at] = samples[line + Math.floor((x * factor + middle) / subsampling.x)]! / scale;
        continue;
      }
      let sum = 0;
      for (let row = y * factor * stride, end = row + factor * stride; row < end; row += stride) {
        for (let column = row + x * factor, last = column + factor; column < last; column++) sum += samples[column]!;
      }
      shrunk[at] = sum / divisor;
    }
  }
  return shrunk;
}

/**
 * Returns the planes pixel by pixel. With a colour, the first three are luma and chroma and are converted to red, green and blue.
 *
 * @param planes of equal size.
 */
export function interleave(planes: readonly Uint8Array[], colour: YcbcrColour | null): Uint8ClampedArray<ArrayBuffer> {
  const count = planes.length;
  const pixels = new Uint8ClampedArray(planes[0]!.length * count);
  planes.forEach((plane, index) => {
    for (let from = 0, to = index; from < plane.length; from++, to += count) pixels[to] = plane[from]!;
  });
  if (colour) convertToRgb(pixels, count, colour);
  return pixels;
}

/** ITU-T H.273, 8.3: the inverse of the equations of luma and chroma. */
function convertToRgb(
  pixels: Uint8ClampedArray,
  count: number,
  { weights: [red, blue], isFullRange }: YcbcrColour,
): void {
  const [offset, range, chromaRange] = isFullRange ? [0, 1, 1] : [16, 255 / 219, 255 / 224];
  const green = 1 - red - blue;
  const fromCr = 2 * (1 - red) * chromaRange;
  const fromCb = 2 * (1 - blue) * chromaRange;
  for (let at = 0; at < pixels.length; at += count) {
    const luma = (pixels[at]! - offset) * range;
    const r = (pixels[at + 2]! - 128) * fromCr;
    const b = (pixels[at + 1]! - 128) * fromCb;
    pixels[at] = luma + r;
    pixels[at + 1] = luma - (red * r + blue * b) / green;
    pixels[at + 2] = luma + b;
  }
}
