/** Pixels of each side. */
const SIDE = 128;

type Colour = readonly [number, number, number];
const GROUNDS: Colour[] = [
  [24, 78, 119],
  [122, 62, 36],
  [38, 92, 66],
  [84, 60, 110],
];
const MARK: Colour = [244, 240, 230];

/** A plain company logo as a PNG, another one for each number: columns of rising height on a coloured square. */
export async function drawLogo(number: number): Promise<Buffer> {
  const ground = GROUNDS[number % GROUNDS.length]!;
  const columns = 2 + (number % 3);
  const width = Math.floor(72 / columns);
  const pixels = Buffer.alloc(SIDE * SIDE * 3);
  for (let y = 0; y < SIDE; y++) {
    for (let x = 0; x < SIDE; x++) {
      const column = Math.floor((x - 28) / width);
      const isMark = x >= 28 && column < columns && y < 100 && y >= 80 - column * 20 && (x - 28) % width < width - 6;
      const colour = isMark ? MARK : ground;
      for (let channel = 0; channel < 3; channel++) pixels[(y * SIDE + x) * 3 + channel] = colour[channel]!;
    }
  }
  const { default: sharp } = await import('sharp');
  return sharp(pixels, { raw: { width: SIDE, height: SIDE, channels: 3 } })
    .png()
    .toBuffer();
}
