import { findBox } from './heic-items.ts';
import { box, u16, u32 } from './images.ts';

const TIME_SCALE = 10;
const IDENTITY = [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000].flatMap(u32);

/**
 * Returns an image sequence (ISO/IEC 23008-12, 7) of frames that are all the picture of the given HEIC file, 96 x 64 pixels, with or without a
 * still image beside them.
 */
export function createHeicSequence(file: Buffer, { frames, still }: { frames: number; still: boolean }): Buffer {
  const frame = findBox(file, 'mdat').subarray(8);
  // The same length as the `ftyp` box of the fixtures, so that the offsets of the still image remain valid.
  const start = box('ftyp', Buffer.from(still ? 'heic\0\0\0\0msf1heichevc' : 'hevc\0\0\0\0msf1heichevc'));
  const head = [start, ...(still ? [file.subarray(start.length)] : [])];
  const movie = (offset: number) =>
    box('moov', movieHeader(frames), track(findBox(file, 'hvcC'), frame.length, frames, offset));
  const before = Buffer.concat(head).length + movie(0).length + 8;
  return Buffer.concat([...head, movie(before), box('mdat', ...Array(frames).fill(frame))]);
}

const movieHeader = (frames: number) =>
  box(
    'mvhd',
    u32(0),
    u32(0),
    u32(0),
    u32(TIME_SCALE),
    u32(frames),
    u32(0x10000),
    u16(0x100),
    Buffer.alloc(10),
    IDENTITY,
    Buffer.alloc(24),
    u32(2),
  );

function track(configuration: Buffer, bytes: number, frames: number, offset: number): Buffer {
  const entry = box(
    'hvc1',
    Buffer.alloc(6),
    u16(1),
    Buffer.alloc(16),
    u16(96),
    u16(64),
    u32(0x480000),
    u32(0x480000),
    u32(0),
    u16(1),
    Buffer.alloc(32),
    u16(24),
    u16(0xffff),
    configuration,
  );
  const samples = box(
    'stbl',
    box('stsd', u32(0), u32(1), entry),
    box('stts', u32(0), u32(1), u32(frames), u32(1)),
    box('stsc', u32(0), u32(1), u32(1), u32(frames), u32(1)),
    box('stsz', u32(0), u32(bytes), u32(frames)),
    box('stco', u32(0), u32(1), u32(offset)),
  );
  const media = box(
    'minf',
    box('vmhd', u32(1), Buffer.alloc(8)),
    box('dinf', box('dref', u32(0), u32(1), box('url ', u32(1)))),
    samples,
  );
  return box(
    'trak',
    box(
      'tkhd',
      u32(3),
      u32(0),
      u32(0),
      u32(1),
      u32(0),
      u32(frames),
      Buffer.alloc(16),
      IDENTITY,
      u32(96 << 16),
      u32(64 << 16),
    ),
    box(
      'mdia',
      box('mdhd', u32(0), u32(0), u32(0), u32(TIME_SCALE), u32(frames), u16(0x55c4), u16(0)),
      box('hdlr', u32(0), u32(0), Buffer.from('pict'), Buffer.alloc(13)),
      media,
    ),
  );
}
