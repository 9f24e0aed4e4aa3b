/** Pixels of every site picture. */
export const SITE_PICTURE = { width: 640, height: 480 };

const SKIES = ['#7eaad6', '#a8b8c6', '#d6b48c'];
const WALLS = ['#9e5e46', '#b0aca4', '#788088', '#c4b28e'];
const LOGO_GROUNDS = ['#184e77', '#7a3e24', '#265c42', '#543c6e'];
const CRANE = '#e0b22c';

type Rectangle = readonly [left: number, top: number, width: number, height: number, colour: string];

/** A drawn building site as a JPEG, another one for each number: sky, ground, storeys with their windows, and a crane. */
export async function drawSitePicture(number: number): Promise<Buffer> {
  const storeys = Array.from({ length: 3 + (number % 5) }, (_, level) => 296 - level * 44);
  const [left, width] = [90 + ((number * 37) % 120), 260 + ((number * 53) % 90)];
  const columns = Array.from({ length: Math.floor((width - 40) / 40) }, (_, column) => left + 16 + column * 40);
  const crane = left + width + 40;
  const image = await drawRectangles({ ...SITE_PICTURE, colour: SKIES[number % SKIES.length]! }, [
    [0, 340, 640, 140, '#8e785c'],
    ...storeys.map((top, level): Rectangle => [left, top, width, 44, WALLS[(number + (level % 2)) % WALLS.length]!]),
    ...storeys.flatMap((top) => columns.map((at): Rectangle => [at, top + 10, 22, 24, '#405468'])),
    [crane, 40, 10, 310, CRANE],
    [crane - 210, 48, 240, 8, CRANE],
    [crane - 150 + ((number * 23) % 90), 56, 2, 90, '#282828'],
  ]);
  return image.jpeg({ quality: 72 }).toBuffer();
}

/** A plain company logo as a PNG, another one for each number: columns of rising height on a coloured square. */
export async function drawLogo(number: number): Promise<Buffer> {
  const columns = 2 + (number % 3);
  const width = Math.floor(72 / columns);
  const ground = { width: 128, height: 128, colour: LOGO_GROUNDS[number % LOGO_GROUNDS.length]! };
  const marks = Array.from({ length: columns }, (_, column): Rectangle => {
    const height = 20 + column * 20;
    return [28 + column * width, 100 - height, width - 6, height, '#f4f0e6'];
  });
  return (await drawRectangles(ground, marks)).png().toBuffer();
}

async function drawRectangles(
  { colour, ...size }: { width: number; height: number; colour: string },
  rectangles: readonly Rectangle[],
) {
  const { default: sharp } = await import('sharp');
  const fill = (width: number, height: number, background: string) => ({
    width,
    height,
    channels: 3 as const,
    background,
  });
  return sharp({ create: fill(size.width, size.height, colour) }).composite(
    rectangles.map(([left, top, width, height, background]) => ({
      input: { create: fill(width, height, background) },
      left,
      top,
    })),
  );
}
