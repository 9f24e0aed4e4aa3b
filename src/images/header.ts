import type { FileHandle } from 'node:fs/promises';
import { FileWindow, WINDOW_BYTES } from './file-window.ts';
import { walkGif } from './gif.ts';
import { BadImage, type ImageType } from './types.ts';

/** Most pixels of an image that is decoded line by line: the largest that telephones make. */
export const MAX_PIXELS = 200_000_000;
/** Most pixels, of all frames, where the decoder holds the whole picture in memory. */
export const MAX_PIXELS_IN_MEMORY = 50_000_000;
/** Most bytes that the decoder may hold of a picture. */
const MAX_MEMORY = 240 * 1024 * 1024;
/** Lines that the decoder holds of a picture that it reads line by line, as measured. */
const BUFFERED_LINES = 768;
const MAX_SIDE = 65_535;
const MAX_FRAMES = 1_000;
/** A camera writes a few dozen segments before the picture. */
const MAX_SEGMENTS = 10_000;

/** What is known of an image before it is decoded. */
export interface ImageHeader {
  width: number;
  height: number;
  frames: number;
  /** Whether the decoder needs the whole picture in memory; others it reads line by line. */
  needsFullImage: boolean;
  /** Bytes that the decoder holds. */
  memory: number;
}

export type SharpType = Exclude<ImageType, 'image/heic' | 'image/heif'>;

/** Pixels of all frames. */
export const countPixels = ({ width, height, frames }: ImageHeader): number => width * height * frames;

/**
 * The dimensions and the cost of an image, read from its header without decoding anything. Throws `BadImage` for a header that
 * is invalid, and for an image beyond the bounds of pixels and memory.
 */
export async function readHeader(file: FileHandle, contentType: SharpType): Promise<ImageHeader> {
  const header = await READERS[contentType](new FileWindow(file));
  if (header.width === 0 || header.height === 0) throw new BadImage('has no pixels');
  const maxPixels = header.needsFullImage ? MAX_PIXELS_IN_MEMORY : MAX_PIXELS;
  if (countPixels(header) > maxPixels) throw new BadImage(`has more than ${maxPixels} pixels`);
  if (Math.max(header.width, header.height) > MAX_SIDE) {
    throw new BadImage(`is more than ${MAX_SIDE} pixels wide or high`);
  }
  if (header.memory > MAX_MEMORY) {
    throw new BadImage(`needs more than ${MAX_MEMORY / 1024 / 1024} MiB of memory to decode`);
  }
  return header;
}

const READERS: Record<SharpType, (window: FileWindow) => Promise<ImageHeader>> = {
  'image/jpeg': readJpeg,
  'image/png': readPng,
  'image/webp': readWebp,
  'image/gif': async (window) => {
    const { width, height, frames } = await walkGif(window, MAX_FRAMES);
    return { width, height, frames: Math.max(1, frames), needsFullImage: true, memory: 4 * width * height };
  },
};

/** Cameras and encoders write about ten. */
const MAX_SCANS = 100;

/** Markers without a length: TEM, RST0 to RST7, SOI. */
const isStandalone = (marker: number) => marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8);
/** Start of frame, but for the markers of tables that lie among them: DHT, JPG, DAC. */
const isStartOfFrame = (marker: number) => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

/** ITU-T T.81, annex B: the frame header, and the first scan header behind it. */
async function readJpeg(window: FileWindow): Promise<ImageHeader> {
  let frame: {
    width: number;
    height: number;
    components: number;
    coefficients: number;
    isProgressive: boolean;
  } | null = null;
  let at = 2;
  for (let segments = 0; segments < MAX_SEGMENTS; segments++) {
    at = await nextMarker(window, at);
    const marker = window.byteAt(at++);
    if (isStandalone(marker)) continue;
    if (marker === 0xd9) break;
    const length = (await window.read(at, 2)).readUInt16BE(0);
    if (length < 2) break;
    if (isStartOfFrame(marker) && !frame) {
      const fields = await window.read(at, Math.max(length, 8));
      const [height, width, components] = [fields.readUInt16BE(3), fields.readUInt16BE(5), fields[7]!];
      if (components < 1 || length < 8 + 3 * components) break;
      const sampling = Array.from({ length: components }, (_, index) => fields[9 + 3 * index]!);
      const [across, down] = [Math.max(...sampling.map((s) => s >> 4)), Math.max(...sampling.map((s) => s & 15))];
      // A coefficient takes two bytes; components that are sampled less have fewer.
      const coefficients = sampling.reduce((sum, s) => sum + ((s >> 4) * (s & 15)) / Math.max(1, across * down), 0);
      const isProgressive = marker % 4 === 2;
      frame = { width, height, components, coefficients, isProgressive };
    } else if (marker === 0xda) {
      if (!frame) break;
      const scanned = (await window.read(at + 2, 1))[0]!;
      const { width, height, components, coefficients, isProgressive } = frame;
      // A picture in several scans is assembled in memory.
      if (isProgressive || scanned < components) {
        await requireFewScans(window, at + length);
        return { width, height, frames: 1, needsFullImage: true, memory: 2 * width * height * coefficients };
      }
      return createStreamedHeader(width, height, components);
    }
    at += length;
  }
  throw new BadImage('cannot be decoded');
}

/**
 * Throws `BadImage` for a picture in more scans than encoders write: a decoder goes through the whole picture for each, so that a
 * small file could keep one busy for minutes.
 */
async function requireFewScans(window: FileWindow, start: number): Promise<void> {
  for (let at = start, scans = 1; ; ) {
    at = await nextMarker(window, at);
    const marker = window.byteAt(at++);
    if (marker === 0xd9) return;
    if (isStandalone(marker)) continue;
    if (marker === 0xda && ++scans > MAX_SCANS) throw new BadImage(`has more than ${MAX_SCANS} scans`);
    at += (await window.read(at, 2)).readUInt16BE(0);
  }
}

/** The position of the next marker's second byte; what lies before it is skipped, as decoders do. */
async function nextMarker(window: FileWindow, start: number): Promise<number> {
  let wasFill = false;
  for (let at = start; ; at++) {
    // A file may contain millions of skipped bytes, so it is read once per window, not once per byte.
    if (!window.holds(at)) await window.read(at, 1);
    const byte = window.byteAt(at);
    if (wasFill && byte !== 0 && byte !== 0xff) return at;
    wasFill = byte === 0xff;
  }
}

/** Samples of a pixel by colour type: grey, RGB, palette (decoded to RGBA), grey and alpha, RGBA. */
const PNG_SAMPLES: Record<number, number> = { 0: 1, 2: 3, 3: 4, 4: 2, 6: 4 };

/** Encoders write pixels in chunks of some kilobytes. */
const MAX_CHUNKS = 100_000;

/**
 * Returns the `eXIf` chunk of a PNG, which may stand behind the pixels, where decoders do not read on; of a long one, the beginning. Null when
 * there is none.
 */
export async function readPngExif(file: FileHandle): Promise<Buffer | null> {
  const window = new FileWindow(file);
  const { size } = await file.stat();
  for (let at = 8, chunks = 0; at + 12 <= size && chunks < MAX_CHUNKS; chunks++) {
    const chunk = await window.read(at, 8);
    const [length, type] = [chunk.readUInt32BE(0), chunk.toString('latin1', 4)];
    at += 8;
    if (type === 'eXIf' && at + length <= size) return window.read(at, Math.min(length, WINDOW_BYTES));
    if (type === 'IEND') return null;
    at += length + 4;
  }
  return null;
}

/** ISO/IEC 15948, 11.2.2: the header is the first chunk. */
async function readPng(window: FileWindow): Promise<ImageHeader> {
  const bytes = await window.read(0, 29);
  if (bytes.toString('latin1', 12, 16) !== 'IHDR') throw new BadImage('cannot be decoded');
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  const [depth, colour, interlace] = [bytes[24]!, bytes[25]!, bytes[28]!];
  const bytesPerPixel = (PNG_SAMPLES[colour] ?? 4) * (depth === 16 ? 2 : 1);
  if (interlace === 0) return createStreamedHeader(width, height, bytesPerPixel);
  return { width, height, frames: 1, needsFullImage: true, memory: width * height * bytesPerPixel };
}

const createStreamedHeader = (width: number, height: number, bytesPerPixel: number): ImageHeader => ({
  width,
  height,
  frames: 1,
  needsFullImage: false,
  memory: Math.min(height, BUFFERED_LINES) * width * bytesPerPixel,
});

/** RFC 9649, sections 2.5 to 2.7. */
async function readWebp(window: FileWindow): Promise<ImageHeader> {
  const format = (await window.read(12, 4)).toString('latin1');
  if (format === 'VP8X') return readExtendedWebp(window, await window.read(0, 30));
  if (format === 'VP8L') {
    const packed = (await window.read(21, 4)).readUInt32LE(0);
    return createStillWebpHeader((packed & 0x3fff) + 1, ((packed >>> 14) & 0x3fff) + 1);
  }
  const frame = await window.read(26, 4);
  return createStillWebpHeader(frame.readUInt16LE(0) & 0x3fff, frame.readUInt16LE(2) & 0x3fff);
}

const createStillWebpHeader = (width: number, height: number): ImageHeader => ({
  width,
  height,
  frames: 1,
  needsFullImage: true,
  memory: 4 * width * height,
});

async function readExtendedWebp(window: FileWindow, bytes: Buffer): Promise<ImageHeader> {
  const [width, height] = [bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1];
  if ((bytes[20]! & 2) === 0) return createStillWebpHeader(width, height);
  const end = bytes.readUInt32LE(4) + 8;
  let frames = 0;
  for (let at = 12; at + 8 <= end; ) {
    const chunk = await window.read(at, 8);
    if (chunk.toString('latin1', 0, 4) === 'ANMF' && ++frames > MAX_FRAMES) {
      throw new BadImage(`has more than ${MAX_FRAMES} frames`);
    }
    const length = chunk.readUInt32LE(4);
    at += 8 + length + (length % 2);
  }
  // The canvas, and the frame that is drawn on it.
  return { width, height, frames: Math.max(1, frames), needsFullImage: true, memory: 8 * width * height };
}
