import sharp from 'sharp';

/** Size in pixels and standard deviation of each layer of noise. Together they compress like a photo of a building site. */
const DETAILS = [
  [512, 60],
  [128, 40],
  [32, 25],
  [8, 14],
  [3, 7],
] as const;

/** Returns a PNG with as much detail as a photo of a building site. */
export async function createSitePhoto(width: number, height: number): Promise<Buffer> {
  const layers = await Promise.all(
    DETAILS.map(([size, sigma]) =>
      sharp({
        create: {
          ...{ width: Math.ceil(width / size), height: Math.ceil(height / size), channels: 3, background: '#000' },
          noise: { type: 'gaussian', mean: 128, sigma },
        },
      })
        .resize(width, height, { kernel: 'cubic', fit: 'fill' })
        .raw()
        .toBuffer(),
    ),
  );
  const pixels = Buffer.alloc(width * height * 3);
  for (let at = 0; at < pixels.length; at++) {
    const value = layers.reduce((sum, layer) => sum + layer[at]! - 128, 128);
    pixels[at] = Math.max(0, Math.min(255, value));
  }
  return sharp(pixels, { raw: { width, height, channels: 3 } })
    .png({ compressionLevel: 1 })
    .toBuffer();
}
