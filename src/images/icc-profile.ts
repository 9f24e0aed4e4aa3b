import { crc32, deflateSync } from 'node:zlib';
import type { Sharp } from 'sharp';
import { loadSharp } from './decode.ts';

/** Where the first chunk of a PNG ends, its header. */
const HEADER_END = 33;

/** Returns the image as an uncompressed PNG with an ICC profile, by which sharp converts the colours. It takes no profile beside raw pixels. */
export async function embedProfile(image: Sharp, profile: Uint8Array): Promise<Buffer> {
  const png = await image.png({ compressionLevel: 0 }).toBuffer();
  const named = Buffer.concat([Buffer.from('iCCPicc\0\0', 'latin1'), deflateSync(profile)]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(named.length - 4);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([png.subarray(0, HEADER_END), length, named, sum, png.subarray(HEADER_END)]);
}

/** Returns the profile of Display P3 that sharp has built in. */
export async function readDisplayP3(): Promise<Uint8Array> {
  const sharp = await loadSharp();
  const image = sharp({ create: { width: 1, height: 1, channels: 3, background: 'black' } });
  return (await sharp(await image.withIccProfile('p3').png().toBuffer()).metadata()).icc!;
}
