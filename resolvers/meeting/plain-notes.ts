import type { NoteBlock } from '../../entities/meeting.entity.ts';

/** Notes of a meeting without a template: one text, in which each synced note has a block of its own. */
export interface PlainNotes {
  text: string;
  blocks: NoteBlock[];
}

const GAP = '\n\n';

/** The notes with the synced note in its own block, or in a new one at the end. All else stays to the letter. */
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
 * keeps its note where its text still stands. A block that was written over is the person's from then on.
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
    const found = block.text === '' ? -1 : freePlace(text, block.text, kept);
    if (found >= 0) kept.push({ ...block, start: found });
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

/** The first place of the text that no block has. */
function freePlace(text: string, wanted: string, blocks: NoteBlock[]): number {
  const isFree = (at: number) =>
    blocks.every((block) => at + wanted.length <= block.start || at >= block.start + block.text.length);
  let at = text.indexOf(wanted);
  while (at >= 0 && !isFree(at)) at = text.indexOf(wanted, at + 1);
  return at;
}
