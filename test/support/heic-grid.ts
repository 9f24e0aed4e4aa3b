import { findBox } from './heic-items.ts';
import { box, u16, u32 } from './images.ts';

interface GridOptions {
  columns: number;
  rows: number;
  /** Pixels of the picture, at most those of its tiles. */
  width: number;
  height: number;
  /** Quarter turns anticlockwise (`irot`). */
  turns?: number;
  /** Axis of the mirror (`imir`), after the turns: 0 vertical, 1 horizontal. */
  mirror?: 0 | 1;
  /** Whether it is cropped (`clap`) to its left upper quarter. */
  crop?: boolean;
  /** Pixels of a side of the tiles; 512 by default. */
  tile?: { width: number; height: number };
  /** Configuration of the last tile (an `hvcC` box); that of the others by default. */
  lastConfiguration?: Buffer;
  /** ICC profile. */
  profile?: Buffer;
  /** Whether it has a depth map, as portraits have. */
  depth?: boolean;
  /** Whether it has an alpha channel, of one tile. */
  alpha?: boolean;
  /** Whether its brand is that of a sequence. */
  sequence?: boolean;
}

const GRID = 1;
const FIRST_TILE = 2;

/**
 * Creates a HEIC file of tiles as phones do. Its tiles are the pictures of the given files, which must have the same encoder
 * settings.
 */
export function createHeicGrid(
  sources: Buffer | Buffer[],
  { columns, rows, width, height, ...options }: GridOptions,
): Buffer {
  const { turns, mirror, crop = false, profile, depth = false, alpha = false, sequence = false } = options;
  const { tile = { width: 512, height: 512 }, lastConfiguration } = options;
  const count = columns * rows;
  const tiles = Array.from({ length: count + (depth || alpha ? 1 : 0) }, (_, index) => FIRST_TILE + index);
  const map = depth || alpha ? tiles.at(-1)! : null;
  const files = [sources].flat();
  const properties = [
    findBox(files[0]!, 'hvcC'),
    box('ispe', u32(0), u32(tile.width), u32(tile.height)),
    box('ispe', u32(0), u32(width), u32(height)),
    ...(turns === undefined ? [] : [box('irot', [turns])]),
    ...(mirror === undefined ? [] : [box('imir', [mirror])]),
    ...(crop ? [box('clap', ...[width >> 1, 1, height >> 1, 1, -(width >> 2), 1, -(height >> 2), 1].map(u32))] : []),
    ...(profile ? [box('colr', Buffer.from('prof'), profile)] : []),
  ];
  const ofGrid = properties.slice(2).map((_, index) => 3 + index);
  const auxiliary = properties.push(box('auxC', u32(0), Buffer.from(`urn:mpeg:hevc:2015:auxid:${alpha ? 1 : 2}\0`)));
  const last = lastConfiguration ? properties.push(lastConfiguration) : 1;
  const configurationOf = (id: number) => 128 | (id === FIRST_TILE + count - 1 ? last : 1);
  const associations = [
    [...u16(GRID), ofGrid.length, ...ofGrid],
    ...tiles.map((id) => (id === map ? [...u16(id), 3, 129, 2, auxiliary] : [...u16(id), 2, configurationOf(id), 2])),
  ].flat();
  const descriptor = [0, 1, rows - 1, columns - 1, ...u32(width), ...u32(height)];
  const pictures = files.map((file) => findBox(file, 'mdat').subarray(8));
  const meta = (start: number) => {
    const extents = pictures.map(({ length }, index) => {
      const offset = pictures.slice(0, index).reduce((sum, before) => sum + before.length, start);
      return { offset, length };
    });
    const locations = [
      [...u16(GRID), ...u16(1), ...u16(0), ...u16(1), ...u32(0), ...u32(descriptor.length)],
      ...tiles.map((id, index) => {
        const { offset, length } = extents[index % extents.length]!;
        return [...u16(id), ...u16(0), ...u16(0), ...u16(1), ...u32(offset), ...u32(length)];
      }),
    ].flat();
    return box(
      'meta',
      u32(0),
      box('hdlr', u32(0), u32(0), Buffer.from('pict'), Buffer.alloc(13)),
      box('pitm', u32(0), u16(GRID)),
      box('iinf', u32(0), u16(1 + tiles.length), item(GRID, 'grid'), ...tiles.map((id) => item(id, 'hvc1'))),
      box(
        'iref',
        u32(0),
        box('dimg', u16(GRID), u16(count), tiles.slice(0, count).flatMap(u16)),
        ...(map === null ? [] : [box('auxl', u16(map), u16(1), u16(GRID))]),
      ),
      box('iprp', box('ipco', ...properties), box('ipma', u32(0), u32(1 + tiles.length), associations)),
      box('idat', descriptor),
      box('iloc', u32(0x01000000), u16(0x4400), u16(1 + tiles.length), locations),
    );
  };
  const brand = sequence ? 'hevc' : 'heic';
  const start = box('ftyp', Buffer.from(`${brand}\0\0\0\0mif1heic${sequence ? 'msf1hevc' : ''}`));
  const end = sequence ? [box('moov')] : [];
  return Buffer.concat([start, meta(start.length + meta(0).length + 8), box('mdat', ...pictures), ...end]);
}

const item = (id: number, type: string) =>
  box('infe', u32(0x02000000 | (type === 'grid' ? 0 : 1)), u16(id), u16(0), Buffer.from(`${type}\0`));
