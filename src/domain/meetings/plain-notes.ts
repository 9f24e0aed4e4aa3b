import type { NoteBlock } from '../../../entities/meeting.entity.ts';

/** Notes of a meeting without a template: one text, in which each synced note has a block of its own. */
export interface PlainNotes {
  text: string;
  blocks: NoteBlock[];
}

const GAP = '\n\n';

/** The notes with the synced note in its own block, or in a new one at the end. All else stays to the letter (MTG-19). */
export function syncBlock({ text, blocks }: PlainNotes, noteId: string, written: string): PlainNotes {
  const own = blocks.find((block) => block.noteId === noteId);
  if (!own) return written === '' ? { text, blocks } : appendBlock({ text, blocks }, noteId, written);
  const end = own.start + own.text.length;
  const shift = written.length - own.text.length;
  return {
    text: text.slice(0, own.start) + written + text.slice(end),
    blocks: blocks.map((block) => {
      if (block === own) return { ...own, text: written };
      return block.start >= end ? { ...block, start: block.start + shift } : block;
    }),
  };
}

function appendBlock({ text, blocks }: PlainNotes, noteId: string, written: string): PlainNotes {
  const before = text === '' ? '' : text + GAP;
  return { text: before + written, blocks: [...blocks, { noteId, start: before.length, text: written }] };
}

/**
 * A person's text in place of the whole. What stands before and after the changed stretch keeps its blocks; a block of the stretch
 * keeps its note where its text still stands. A block that was written over is the person's from then on (MTG-20).
 */
export function rewriteNotes(before: PlainNotes, text: string): PlainNotes {
  const [start, tail] = changedStretch(before.text, text);
  const shift = text.length - before.text.length;
  const kept: NoteBlock[] = [];
  const lost: NoteBlock[] = [];
  for (const block of before.blocks) {
    if (block.start + block.text.length <= start) kept.push(block);
    else if (block.start >= before.text.length - tail) kept.push({ ...block, start: block.start + shift });
    else lost.push(block);
  }
  for (const block of lost) {
    const found = placeAgain(before.text, block, text, kept);
    if (found !== undefined) kept.push({ ...block, start: found });
  }
  return { text, blocks: kept };
}

/** Length of what both texts begin with, and of what both then end with. */
function changedStretch(before: string, after: string): [start: number, tail: number] {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start++;
  let tail = 0;
  while (tail < most - start && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  return [start, tail];
}

/** Where a block's text still stands: of several such places the one that comes as late among them as before. */
function placeAgain(before: string, block: NoteBlock, after: string, taken: NoteBlock[]): number | undefined {
  const length = block.text.length;
  const isFree = (at: number) =>
    taken.every((other) => at + length <= other.start || at >= other.start + other.text.length);
  for (const places of [paragraphsOf, placesOf]) {
    const order = places(before, block.text).indexOf(block.start);
    const found = places(after, block.text).filter(isFree);
    if (order >= 0 && found.length > 0) return found[Math.min(order, found.length - 1)];
  }
  return undefined;
}

/** More places than this are not told apart: a text of one letter must not cost a look at each of them. */
const MOST_PLACES = 50;

function placesOf(text: string, wanted: string): number[] {
  const places: number[] = [];
  if (wanted === '') return places;
  for (let at = text.indexOf(wanted); at >= 0 && places.length < MOST_PLACES; at = text.indexOf(wanted, at + 1)) {
    places.push(at);
  }
  return places;
}

/** The places where it stands between gaps. */
function paragraphsOf(text: string, wanted: string): number[] {
  return placesOf(text, wanted).filter((at) => {
    const end = at + wanted.length;
    const begins = at === 0 || text.startsWith(GAP, at - GAP.length);
    return begins && (end === text.length || text.startsWith(GAP, end));
  });
}
