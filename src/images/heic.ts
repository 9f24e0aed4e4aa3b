import type { FileHandle } from 'node:fs/promises';
import { BadImage } from './types.ts';

interface Box {
  type: string;
  /** Where its content starts and ends, in bytes. */
  start: number;
  end: number;
}

const TRUNCATED = 'is truncated';
const INVALID = 'has no valid HEIF structure';
/** The `meta` box of a picture has a few kilobytes, and more with a thumbnail or colour profile in it. */
const MAX_META_BYTES = 4 * 1024 * 1024;
const MAX_BOXES = 2_000;
/** Maximum extents of all items together; a picture of many tiles has hundreds. */
const MAX_EXTENTS = 10_000;

/** Properties of a picture that its boxes contain. */
interface HeicProperties {
  width: number;
  height: number;
  /** Its EXIF block, a TIFF structure. */
  exif: Buffer | null;
}

interface Extent {
  offset: number;
  length: number;
}

/**
 * Checks a HEIC or HEIF file by its box structure (ISO/IEC 23008-12), because the check does not decode it: every box lies inside
 * the file, a picture is described, and the file contains the bytes of every item. Returns the largest dimensions. Throws `BadImage`.
 */
export async function checkHeic(file: FileHandle, size: number): Promise<HeicProperties> {
  const boxes = await readTopBoxes(file, size);
  if (boxes[0]?.type !== 'ftyp') throw new BadImage(INVALID);
  const meta = boxes.find(({ type }) => type === 'meta');
  if (!meta) throw new BadImage(boxes.length < 2 ? TRUNCATED : INVALID);
  if (meta.end - meta.start > MAX_META_BYTES) throw new BadImage(INVALID);
  const bytes = await readAt(file, meta.start, meta.end - meta.start);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const inner = readBoxes(view, 4, view.byteLength);
  const dimensions = readDimensions(view, inner);
  const location = inner.find(({ type }) => type === 'iloc');
  if (!location || !inner.some(({ type }) => type === 'pitm')) throw new BadImage(INVALID);
  const extents = readExtents(view, location);
  const needed = Math.max(0, ...[...extents.values()].flat().map(({ offset, length }) => offset + length));
  if (needed > size) throw new BadImage(TRUNCATED);
  if (needed === 0 && !inner.some(({ type }) => type === 'idat')) throw new BadImage(INVALID);
  const exif = extents.get(findExifItem(view, inner) ?? -1)?.[0];
  return { ...dimensions, exif: exif ? await readExif(file, exif) : null };
}

/** Returns the id of the item with the EXIF block, by the item information box (`iinf`); null without one. */
function findExifItem(view: DataView, meta: Box[]): number | null {
  const information = meta.find(({ type }) => type === 'iinf');
  if (!information || information.end - information.start < 6) return null;
  const start = information.start + (view.getUint8(information.start) === 0 ? 6 : 8);
  const exif = readBoxes(view, start, information.end).find(
    (item) => item.end - item.start >= 12 && readFourCc(view, item.start + 8) === 'Exif',
  );
  return exif ? view.getUint16(exif.start + 4) : null;
}

/** Returns the TIFF structure of an EXIF block, whose first four bytes are the offset of that structure. */
async function readExif(file: FileHandle, { offset, length }: Extent): Promise<Buffer | null> {
  if (length < 12 || length > MAX_META_BYTES) return null;
  const block = await readAt(file, offset, length);
  return block.subarray(4 + block.readUInt32BE(0));
}

/**
 * Returns the top-level boxes. After `mdat`, data that is no box is ignored: the film of a motion photo. Throws `BadImage` for a box that
 * is cut off.
 */
async function readTopBoxes(file: FileHandle, size: number): Promise<Box[]> {
  const boxes: Box[] = [];
  for (let at = 0; at + 8 <= size; ) {
    const head = await readAt(file, at, Math.min(16, size - at));
    const view = new DataView(head.buffer, head.byteOffset, head.length);
    const box = readBox(view, 0, size - at);
    if (!box) {
      if (boxes.some(({ type }) => type === 'mdat')) break;
      throw new BadImage(TRUNCATED);
    }
    boxes.push({ type: box.type, start: at + box.start, end: at + box.end });
    if (boxes.length > MAX_BOXES) throw new BadImage(INVALID);
    at += box.end;
  }
  return boxes;
}

function readBoxes(view: DataView, from: number, to: number): Box[] {
  const boxes: Box[] = [];
  for (let at = from; at + 8 <= to; ) {
    const box = readBox(view, at, to - at);
    if (!box || boxes.length > MAX_BOXES) throw new BadImage(INVALID);
    boxes.push({ type: box.type, start: at + box.start, end: at + box.end });
    at += box.end;
  }
  return boxes;
}

/** Returns the box at an offset, with `start` and `end` relative to it; null for a box of more than `room` bytes. */
function readBox(view: DataView, at: number, room: number): Box | null {
  const length = view.getUint32(at);
  const type = readFourCc(view, at + 4);
  if (length === 1) {
    if (view.byteLength < at + 16) return null;
    const long = Number(view.getBigUint64(at + 8));
    return long >= 16 && long <= room ? { type, start: 16, end: long } : null;
  }
  const end = length === 0 ? room : length;
  return end >= 8 && end <= room ? { type, start: 8, end } : null;
}

const readFourCc = (view: DataView, at: number) =>
  String.fromCharCode(...[0, 1, 2, 3].map((offset) => view.getUint8(at + offset)));

function readDimensions(view: DataView, meta: Box[]): { width: number; height: number } {
  const properties = meta.find(({ type }) => type === 'iprp');
  const container = properties && readBoxes(view, properties.start, properties.end).find(({ type }) => type === 'ipco');
  const extents = container
    ? readBoxes(view, container.start, container.end).filter(({ type }) => type === 'ispe')
    : [];
  const sizes = extents
    .filter(({ start, end }) => end - start >= 12)
    .map(({ start }) => ({ width: view.getUint32(start + 4), height: view.getUint32(start + 8) }))
    .sort((one, other) => other.width * other.height - one.width * one.height);
  const largest = sizes[0];
  if (!largest || largest.width === 0 || largest.height === 0) throw new BadImage(INVALID);
  return largest;
}

/**
 * Returns the HEVC configuration (`hvcC`) that all of the items have, by the item property associations; null when they have none or
 * different ones. Throws `RangeError` or `BadImage` for an invalid structure.
 */
export function findSharedConfiguration(file: Uint8Array, items: number[]): Uint8Array | null {
  const view = new DataView(file.buffer, file.byteOffset, file.length);
  const meta = findBox(view, 0, file.length, 'meta');
  const properties = meta && findBox(view, meta.start + 4, meta.end, 'iprp');
  const container = properties && findBox(view, properties.start, properties.end, 'ipco');
  const associations = properties && findBox(view, properties.start, properties.end, 'ipma');
  if (!container || !associations) return null;
  const boxes = readBoxes(view, container.start, container.end);
  const isWideId = view.getUint8(associations.start) > 0;
  const isWideIndex = (view.getUint8(associations.start + 3) & 1) === 1;
  const configurations = new Map<number, Box>();
  let at = associations.start + 8;
  for (let left = view.getUint32(associations.start + 4); left > 0; left--) {
    const item = isWideId ? view.getUint32(at) : view.getUint16(at);
    at += isWideId ? 4 : 2;
    for (let count = view.getUint8(at++); count > 0; count--, at += isWideIndex ? 2 : 1) {
      const index = isWideIndex ? view.getUint16(at) & 0x7fff : view.getUint8(at) & 0x7f;
      if (boxes[index - 1]?.type === 'hvcC') configurations.set(item, boxes[index - 1]!);
    }
  }
  const [first, ...others] = new Set(items.map((item) => configurations.get(item)));
  if (!first) return null;
  const bytes = file.subarray(first.start, first.end);
  const isShared = others.every((other) => other && Buffer.compare(bytes, file.subarray(other.start, other.end)) === 0);
  return isShared ? bytes : null;
}

/** Returns the first box of the type, without reading those after it; null without one. */
function findBox(view: DataView, from: number, to: number, type: string): Box | null {
  for (let at = from; at + 8 <= to; ) {
    const box = readBox(view, at, to - at);
    if (!box) return null;
    if (box.type === type) return { type, start: at + box.start, end: at + box.end };
    at += box.end;
  }
  return null;
}

/** Returns the extents in the file of each item, by the item location box (`iloc`). */
function readExtents(view: DataView, { start, end }: Box): Map<number, Extent[]> {
  let at = start;
  const number = (bytes: number): number => {
    if (at + bytes > end) throw new BadImage(INVALID);
    let value = 0;
    for (let index = 0; index < bytes; index++) value = value * 256 + view.getUint8(at++);
    return value;
  };
  const version = number(1);
  number(3);
  const sizes = number(2);
  const [offsetSize, lengthSize, baseSize] = [sizes >> 12, (sizes >> 8) & 15, (sizes >> 4) & 15] as const;
  const indexSize = version === 0 ? 0 : sizes & 15;
  const count = number(version < 2 ? 2 : 4);
  if (count === 0 || count > MAX_EXTENTS) throw new BadImage(INVALID);
  const items = new Map<number, Extent[]>();
  let extentCount = 0;
  for (let item = 0; item < count; item++) {
    const id = number(version < 2 ? 2 : 4);
    // 0: offset in the file. 1 and 2: inside another box, whose bounds are checked already.
    const method = version === 0 ? 0 : number(2) & 15;
    number(2);
    const base = number(baseSize);
    const extents: Extent[] = [];
    for (let left = number(2); left > 0; left--) {
      if (++extentCount > MAX_EXTENTS) throw new BadImage(INVALID);
      number(indexSize);
      const offset = base + number(offsetSize);
      const length = number(lengthSize);
      if (method === 0) extents.push({ offset, length });
    }
    items.set(id, extents);
  }
  return items;
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  if (bytesRead < length) throw new BadImage(TRUNCATED);
  return buffer;
}
