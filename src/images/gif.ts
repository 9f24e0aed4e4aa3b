import type { FileWindow } from './file-window.ts';
import { BadImage } from './types.ts';

/** Dimensions and number of frames of a GIF. */
interface GifBlocks {
  /** Pixels of the screen, or of a frame that is larger. */
  width: number;
  height: number;
  frames: number;
}

/**
 * Reads the blocks of a GIF up to its trailer, because a file that is truncated between two frames decodes without an error. Skips other
 * bytes between blocks, as decoders do. Throws `BadImage` for more than `maxFrames` frames.
 */
export async function walkGif(window: FileWindow, maxFrames: number): Promise<GifBlocks> {
  const screen = await window.read(0, 13);
  const found: GifBlocks = { width: screen.readUInt16LE(6), height: screen.readUInt16LE(8), frames: 0 };
  let at = 13 + colourTable(screen[10]!);
  for (;;) {
    if (!window.holds(at)) await window.read(at, 1);
    const block = window.byteAt(at);
    if (block === 0x3b) return found;
    if (block === 0x21) at = await skipSubBlocks(window, at + 2);
    else if (block === 0x2c) {
      const frame = await window.read(at + 1, 9);
      if (++found.frames > maxFrames) throw new BadImage(`has more than ${maxFrames} frames`);
      found.width = Math.max(found.width, frame.readUInt16LE(0) + frame.readUInt16LE(4));
      found.height = Math.max(found.height, frame.readUInt16LE(2) + frame.readUInt16LE(6));
      at = await skipSubBlocks(window, at + 11 + colourTable(frame[8]!));
    } else at++;
  }
}

/** Returns the bytes of the colour table by its packed field. */
const colourTable = (packed: number) => (packed & 0x80 ? 3 * 2 ** ((packed & 7) + 1) : 0);

async function skipSubBlocks(window: FileWindow, start: number): Promise<number> {
  let at = start;
  for (;;) {
    // A file may have millions of blocks, so only a position outside the window awaits a read.
    if (!window.holds(at)) await window.read(at, 1);
    const length = window.byteAt(at);
    at += length + 1;
    if (length === 0) return at;
  }
}
