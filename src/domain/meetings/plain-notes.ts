import type { NoteBlock } from '../../../entities/meeting.entity.ts';
import { FoldedText } from './folded-text.ts';

/** Notes of a meeting as one text, with a block for each synced note that is still in it. */
export interface NotesText {
  text: string;
  blocks: NoteBlock[];
}

const GAP = '\n\n';

/** Returns the notes with the text of a synced note in its block, or in a new block at the end. Other text is unchanged (MTG-19). */
export function syncBlock({ text, blocks }: NotesText, noteId: string, noteText: string): NotesText {
  const own = blocks.find((block) => block.noteId === noteId);
  if (!own) return noteText === '' ? { text, blocks } : appendBlock({ text, blocks }, noteId, noteText);
  const end = own.start + own.text.length;
  const shift = noteText.length - own.text.length;
  return {
    text: text.slice(0, own.start) + noteText + text.slice(end),
    blocks: blocks.map((block) => {
      if (block === own) return { ...own, text: noteText };
      return block.start >= end ? { ...block, start: block.start + shift } : block;
    }),
  };
}

function appendBlock({ text, blocks }: NotesText, noteId: string, noteText: string): NotesText {
  const before = text === '' ? '' : text + GAP;
  return { text: before + noteText, blocks: [...blocks, { noteId, start: before.length, text: noteText }] };
}

/**
 * Returns the notes with a person's text. Blocks outside the changed range remain; a block inside it remains if the new text contains
 * its text, apart from what editors change by themselves. A block that was overwritten becomes the person's text (MTG-20).
 */
export function rewriteNotes(before: NotesText, text: string): NotesText {
  const [start, tail] = findChangedRange(before.text, text);
  const shift = text.length - before.text.length;
  const kept: NoteBlock[] = [];
  const touched: NoteBlock[] = [];
  for (const block of before.blocks) {
    if (block.start + block.text.length <= start) kept.push(block);
    else if (block.start >= before.text.length - tail) kept.push({ ...block, start: block.start + shift });
    else touched.push(block);
  }
  if (touched.length === 0) return { text, blocks: kept };
  const [folded, foldedBefore] = [new FoldedText(text), new FoldedText(before.text)];
  for (const block of touched) {
    const found = relocateBlock(foldedBefore, block, folded, kept);
    if (found) kept.push({ noteId: block.noteId, start: found.start, text: text.slice(found.start, found.end) });
  }
  return { text, blocks: kept };
}

/** Returns the length of the common prefix, and of the common suffix of the rest. */
function findChangedRange(before: string, after: string): [start: number, tail: number] {
  const maxLength = Math.min(before.length, after.length);
  let start = 0;
  while (start < maxLength && before[start] === after[start]) start++;
  let tail = 0;
  while (tail < maxLength - start && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  // A line ending that became one of Windows has changed as a whole.
  if (tail > 0 && after.at(-tail) === '\n' && after.at(-tail - 1) === '\r') tail--;
  return [start, tail];
}

/** Returns the new range of a block: of several occurrences of its text, the one with the same ordinal number as before if it is free. */
function relocateBlock(before: FoldedText, block: NoteBlock, after: FoldedText, otherBlocks: NoteBlock[]) {
  const part = new FoldedText(block.text).text;
  const others = otherBlocks
    .map(({ start, text }) => ({ start: after.toFolded(start), end: after.toFolded(start + text.length) }))
    .sort((one, other) => one.start - other.start);
  for (const find of [findParagraphs, findOccurrences]) {
    const order = find(before.text, part).indexOf(before.toFolded(block.start));
    if (order < 0) continue;
    const starts = find(after.text, part);
    let next = 0;
    const free = starts.filter((at) => {
      while (others[next] && others[next]!.end <= at) next++;
      return !others[next] || at + part.length <= others[next]!.start;
    });
    const same = starts[order];
    const at = same !== undefined && free.includes(same) ? same : free[Math.min(order, free.length - 1)];
    if (at !== undefined) return after.toOriginal(at, at + part.length);
  }
}

/** The search ends when the occurrences have 50 times the characters of the text: a text of one repeated letter would take minutes. */
const MAX_OVERLAP = 50;

function findOccurrences(text: string, part: string): number[] {
  const starts: number[] = [];
  if (part === '') return starts;
  const limit = (MAX_OVERLAP * text.length) / part.length;
  for (let at = text.indexOf(part); at >= 0 && starts.length < limit; at = text.indexOf(part, at + 1)) starts.push(at);
  return starts;
}

/** Returns the occurrences that are whole paragraphs. */
const findParagraphs = (text: string, part: string): number[] =>
  findOccurrences(text, part).filter((at) => {
    const end = at + part.length;
    const begins = at === 0 || text.startsWith(GAP, at - GAP.length);
    return begins && (end === text.length || text.startsWith(GAP, end));
  });
