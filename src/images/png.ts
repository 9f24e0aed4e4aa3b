import { crc32, deflateSync } from 'node:zlib';

interface Pixels {
  width: number;
  height: number;
  /** Grey, or red, green and blue; with opacity, one more. */
  channels: number;
  pixels: Uint8ClampedArray;
}

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
/** PNG colour type by number of channels. */
const COLOUR_TYPES: Record<number, number> = { 1: 0, 2: 4, 3: 2, 4: 6 };

/** Returns pixels as an uncompressed PNG with an ICC profile, by which sharp converts their colours. */
export function writePng(
  { width, height, channels, pixels }: Pixels,
  profile: Uint8Array | null,
): Uint8Array<ArrayBuffer> {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, COLOUR_TYPES[channels]!], 8);
  const bytesPerLine = width * channels;
  const lines = Buffer.alloc((bytesPerLine + 1) * height);
  for (let y = 0; y < height; y++) {
    lines.set(pixels.subarray(y * bytesPerLine, (y + 1) * bytesPerLine), y * (bytesPerLine + 1) + 1);
  }
  const named = profile && Buffer.concat([Buffer.from('icc\0\0', 'latin1'), deflateSync(profile)]);
  const chunks = [
    ...toChunk('IHDR', header),
    ...(named ? toChunk('iCCP', named) : []),
    ...toChunk('IDAT', deflateSync(lines, { level: 0 })),
    ...toChunk('IEND', Buffer.alloc(0)),
  ];
  // Of its own memory, so that it can be transferred.
  return Uint8Array.from(Buffer.concat([SIGNATURE, ...chunks]));
}

function toChunk(type: string, data: Buffer): Buffer[] {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  const name = Buffer.from(type, 'latin1');
  sum.writeUInt32BE(crc32(data, crc32(name)));
  return [length, name, data, sum];
}
