/** Pixels of every site picture. */
export const SITE_PICTURE = { width: 640, height: 480 };

const COLOURS = ['#184e77', '#9e5e46', '#265c42', '#788088', '#543c6e', '#c4b28e'];

const pickColour = (number: number): string => COLOURS[number % COLOURS.length]!;

/** A drawn building site as a JPEG, another one for each number: storeys between sky and ground. */
export async function drawSitePicture(number: number): Promise<Buffer> {
  const storeys = Array.from({ length: 3 + (number % 5) }, (_, level) => {
    return {
      left: 120,
      top: 296 - level * 48,
      width: 300 + 20 * number,
      height: 44,
      colour: pickColour(number + level),
    };
  });
  const ground = { left: 0, top: 340, width: 640, height: 140, colour: '#8e785c' };
  const image = await drawRectangles({ ...SITE_PICTURE, colour: '#a8c6dc' }, [ground, ...storeys]);
  return image.jpeg({ quality: 72 }).toBuffer();
}

/** A plain company logo as a PNG, another one for each number: columns of rising height on a coloured square. */
export async function drawLogo(number: number): Promise<Buffer> {
  const columns = Array.from({ length: 2 + (number % 3) }, (_, column) => {
    return { left: 24 + column * 20, top: 80 - column * 20, width: 16, height: 20 + column * 20, colour: '#f4f0e6' };
  });
  return (await drawRectangles({ width: 128, height: 128, colour: pickColour(number) }, columns)).png().toBuffer();
}

interface Area {
  width: number;
  height: number;
  colour: string;
}

async function drawRectangles(ground: Area, rectangles: readonly (Area & { left: number; top: number })[]) {
  const { default: sharp } = await import('sharp');
  const fill = ({ width, height, colour }: Area) => {
    return { create: { width, height, channels: 3 as const, background: colour } };
  };
  return sharp(fill(ground)).composite(rectangles.map((one) => ({ input: fill(one), left: one.left, top: one.top })));
}
