/** Pixels of every drawing. */
export const SITE_PICTURE = { width: 640, height: 480 };
const { width: WIDTH, height: HEIGHT } = SITE_PICTURE;

type Colour = readonly [number, number, number];
const SKIES: Colour[] = [
  [126, 170, 214],
  [168, 184, 198],
  [214, 180, 140],
];
const WALLS: Colour[] = [
  [158, 94, 70],
  [176, 172, 164],
  [120, 128, 136],
  [196, 178, 142],
];

/** A drawn building site as a JPEG, another one for each number: sky, ground, storeys with their windows, and a crane. */
export async function drawSitePicture(number: number): Promise<Buffer> {
  const pixels = Buffer.alloc(WIDTH * HEIGHT * 3);
  const fill = (left: number, top: number, width: number, height: number, colour: Colour) => {
    for (let y = Math.max(0, top); y < Math.min(HEIGHT, top + height); y++) {
      for (let x = Math.max(0, left); x < Math.min(WIDTH, left + width); x++) {
        const grain = ((x * 31 + y * 57 + number * 11) % 9) - 4;
        for (let part = 0; part < 3; part++) pixels[(y * WIDTH + x) * 3 + part] = colour[part]! + grain;
      }
    }
  };
  const storeys = 3 + (number % 5);
  const [left, width, storey] = [90 + ((number * 37) % 120), 260 + ((number * 53) % 90), 44];
  fill(0, 0, WIDTH, 340, SKIES[number % SKIES.length]!);
  fill(0, 340, WIDTH, 140, [142, 120, 92]);
  for (let level = 0; level < storeys; level++) {
    const top = 340 - (level + 1) * storey;
    fill(
      left,
      top,
      width,
      storey,
      WALLS[(number + level) % 2 === 0 ? number % WALLS.length : (number + 1) % WALLS.length]!,
    );
    for (let x = left + 16; x < left + width - 24; x += 40) fill(x, top + 10, 22, 24, [64, 84, 104]);
  }
  const crane = left + width + 40;
  fill(crane, 40, 10, 310, [224, 178, 44]);
  fill(crane - 210, 48, 300, 8, [224, 178, 44]);
  fill(crane - 150 + ((number * 23) % 90), 56, 2, 90, [40, 40, 40]);
  const { default: sharp } = await import('sharp');
  return sharp(pixels, { raw: { width: WIDTH, height: HEIGHT, channels: 3 } })
    .jpeg({ quality: 72 })
    .toBuffer();
}
