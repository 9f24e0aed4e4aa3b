import { constants, crc32, deflateRawSync } from 'node:zlib';

const PNG_SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
const ADLER_MODULUS = 65_521;

function pngChunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, checksum]);
}

/**
 * Returns a valid RGB PNG of black pixels, a few hundred KB for 200 megapixels. Each row is the same compressed block, so that the pixels
 * are compressed only once.
 *
 * @param seed Distinguishes the bytes from those of another image.
 */
export function createLargePng(width: number, height: number, seed: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // 8 bits per channel, RGB, no interlacing.
  header.set([8, 2, 0, 0, 0], 8);
  // The Paeth filter takes the longest to decode.
  const row = Buffer.alloc(1 + width * 3);
  row[0] = 4;
  const compressed = deflateRawSync(row, { level: 9, finishFlush: constants.Z_FULL_FLUSH });
  let [low, high] = [1, 0];
  for (let line = 0; line < height; line++) {
    low = (low + 4) % ADLER_MODULUS;
    high = (high + low * row.length) % ADLER_MODULUS;
  }
  const adler = Buffer.alloc(4);
  adler.writeUInt32BE(high * 65_536 + low);
  const rows = Array.from({ length: height }, () => compressed);
  const data = Buffer.concat([Buffer.from([0x78, 0xda]), ...rows, deflateRawSync(Buffer.alloc(0)), adler]);
  const text = pngChunk('tEXt', Buffer.from(`Comment\0${seed}`, 'latin1'));
  return Buffer.concat([
    PNG_SIGNATURE,
    pngChunk('IHDR', header),
    text,
    pngChunk('IDAT', data),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Returns a valid lossless WebP of one colour: some 30 bytes, whatever its dimensions. */
export function createTinyWebp(width: number, height: number): Buffer {
  let bits = 0n;
  let count = 0n;
  const write = (value: number, length: number) => {
    bits |= BigInt(value) << count;
    count += BigInt(length);
  };
  write(width - 1, 14);
  write(height - 1, 14);
  // No alpha, version 0, no transform, no colour cache, no groups of prefix codes.
  write(0, 1 + 3 + 1 + 1 + 1);
  // Five simple prefix codes of one symbol, 0; a pixel then takes no bits.
  for (let code = 0; code < 5; code++) write(0b0001, 4);
  const payload = Buffer.alloc(1 + Math.ceil(Number(count) / 8));
  payload[0] = 0x2f;
  for (let at = 1; at < payload.length; at++) payload[at] = Number((bits >> BigInt(8 * (at - 1))) & 255n);
  const padded = payload.length % 2 === 0 ? payload : Buffer.concat([payload, Buffer.alloc(1)]);
  const [size, riffSize] = [Buffer.alloc(4), Buffer.alloc(4)];
  size.writeUInt32LE(payload.length);
  riffSize.writeUInt32LE(4 + 8 + padded.length);
  return Buffer.concat([Buffer.from('RIFF'), riffSize, Buffer.from('WEBPVP8L'), size, padded]);
}

const jpegSegment = (marker: number, ...data: number[]) =>
  Buffer.from([0xff, marker, ...[data.length + 2].flatMap((length) => [length >> 8, length & 255]), ...data]);

/**
 * Returns a grey progressive JPEG that repeats a scan of all blocks. Each scan takes a few bytes, and the decoder processes the whole
 * picture for it.
 */
export function createScannedJpeg(width: number, height: number, scans: number): Buffer {
  const blocks = Math.ceil(width / 8) * Math.ceil(height / 8);
  const size = [height >> 8, height & 255, width >> 8, width & 255];
  // One Huffman code of one bit, `0`: for the DC table a difference of 0, for the AC table a run of 2^14 empty blocks.
  const table = (kind: number, symbol: number) => jpegSegment(0xc4, kind, 1, ...new Array(15).fill(0), symbol);
  const scan = (first: number, last: number, high: number, low: number) =>
    jpegSegment(0xda, 1, 1, 0x00, first, last, (high << 4) | low);
  const firstScan = Buffer.alloc(Math.ceil(blocks / 8));
  const run = 1 << 14;
  // Each run is its code and 14 bits, which add to its length: none here.
  const bits = '0'.repeat(Math.ceil(blocks / run) * 15);
  const runs = Buffer.alloc(Math.ceil(bits.length / 8));
  const parts = [
    Buffer.from([0xff, 0xd8]),
    jpegSegment(0xdb, 0, ...new Array(64).fill(1)),
    jpegSegment(0xc2, 8, ...size, 1, 1, 0x11, 0),
    table(0x00, 0),
    table(0x10, 0xe0),
    scan(0, 0, 0, 0),
    firstScan,
  ];
  for (let at = 1; at < scans; at++) parts.push(scan(1, 63, 0, 0), runs);
  return Buffer.concat([...parts, Buffer.from([0xff, 0xd9])]);
}
