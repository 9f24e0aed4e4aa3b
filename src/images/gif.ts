import { BadImage } from './types.ts';

const TRUNCATED = 'is truncated';

/** Walks the blocks of a GIF to its trailer: a file that ends between two frames decodes well, and is not whole. */
export function requireWholeGif(bytes: Uint8Array): void {
  let at = 13 + colourTable(bytes[10]);
  for (;;) {
    const block = bytes[at];
    if (block === 0x3b) return;
    if (block === 0x21) at = skipSubBlocks(bytes, at + 2);
    else if (block === 0x2c) at = skipSubBlocks(bytes, at + 11 + colourTable(bytes[at + 9]));
    else throw new BadImage(block === undefined ? TRUNCATED : 'is no valid GIF');
  }
}

/** Bytes of the colour table that the packed field announces. */
const colourTable = (packed: number | undefined) =>
  packed !== undefined && packed & 0x80 ? 3 * 2 ** ((packed & 7) + 1) : 0;

function skipSubBlocks(bytes: Uint8Array, start: number): number {
  let at = start;
  for (;;) {
    const length = bytes[at];
    if (length === undefined) throw new BadImage(TRUNCATED);
    at += length + 1;
    if (length === 0) return at;
  }
}
