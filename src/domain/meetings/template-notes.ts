import {
  PART_GAP as GAP,
  listTemplateParts,
  type MeetingTemplateResponse,
  type NoteBlock,
} from '../../../entities/meeting.entity.ts';
import type { MeetingTemplateSection } from '../../../entities/meeting-template.entity.ts';
import { FoldedText } from './folded-text.ts';
import { rewriteNotes } from './plain-notes.ts';

const EMPTY: MeetingTemplateResponse = { sections: [], syncedNotes: [] };

/** Returns the response with the text of a synced note, which is added at the end if it is new. Other text is unchanged. */
export function syncToTemplate(
  response: MeetingTemplateResponse | null,
  noteId: string,
  text: string,
): MeetingTemplateResponse {
  const { syncedNotes, ...ownText } = response ?? EMPTY;
  const exists = syncedNotes.some((note) => note.noteId === noteId);
  const all = exists
    ? syncedNotes.map((note) => (note.noteId === noteId ? { noteId, text } : note))
    : [...syncedNotes, { noteId, text }];
  return { ...ownText, syncedNotes: all.filter((note) => note.text !== '') };
}

/**
 * Splits a person's edited text into the response: text under the title of a section belongs to that section, synced notes that the
 * text still contains remain, and the rest is the preface. The response has the same text, but with the synced notes at the end and the line
 * endings of Unix.
 */
export function rewriteTemplate(
  response: MeetingTemplateResponse | null,
  template: MeetingTemplateSection[],
  editedText: string,
): MeetingTemplateResponse {
  const before = response ?? EMPTY;
  const text = editedText.replace(/\r\n|[\r\u0085\u2028\u2029]/g, '\n');
  const { blocks } = rewriteNotes({ text: listTemplateParts(before).join(GAP), blocks: toBlocks(before) }, text);
  const remaining = new Set(blocks.map(({ noteId }) => noteId));
  const sectionIds = new Set(before.sections.map(({ id }) => id));
  const headings = [...before.sections, ...template.filter(({ id }) => !sectionIds.has(id))];
  return {
    ...splitIntoSections(removeBlocks(text, blocks), headings),
    syncedNotes: before.syncedNotes.filter(({ noteId }) => remaining.has(noteId)),
  };
}

/** Returns the blocks of the synced notes in the text of the response. */
function toBlocks(response: MeetingTemplateResponse): NoteBlock[] {
  const parts = listTemplateParts(response);
  const first = parts.length - response.syncedNotes.length;
  let start = parts.slice(0, first).reduce((length, part) => length + part.length + GAP.length, 0);
  return response.syncedNotes.map(({ noteId, text }) => {
    const block = { noteId, start, text };
    start += text.length + GAP.length;
    return block;
  });
}

/** Separators, whose empty line an editor may have filled with spaces, as the one that a block begins with. */
const [GAP_AT_START, GAP_AT_END] = [/^\n[^\S\n]*\n/, /\n[^\S\n]*\n[^\S\n]*$/];

/** Returns the text without the blocks and their separators. */
const removeBlocks = (text: string, blocks: NoteBlock[]): string =>
  [...blocks]
    .sort((one, other) => other.start - one.start)
    .reduce((rest, { start, text: { length } }) => {
      const [before, after] = [rest.slice(0, start), rest.slice(start + length)];
      const gap = GAP_AT_END.exec(before);
      return gap ? before.slice(0, gap.index) + after : before + after.replace(GAP_AT_START, '');
    }, text);

function splitIntoSections(
  text: string,
  headings: MeetingTemplateSection[],
): Pick<MeetingTemplateResponse, 'preface' | 'sections'> {
  const found: { id: string; start: number; body: number }[] = [];
  let from = 0;
  for (const { id, title } of headings) {
    const heading = findHeading(text, title, from);
    if (!heading) continue;
    found.push({ id, ...heading });
    // The separator of the next heading follows at least one character.
    from = heading.body + 1;
  }
  const findEnd = (next: { start: number } | undefined) => next?.start ?? text.length;
  const texts = new Map(found.map(({ id, body }, index) => [id, text.slice(body, findEnd(found[index + 1]))]));
  const preface = text.slice(0, findEnd(found[0]));
  const sections = headings.map(({ id, title }) => ({ id, title, text: texts.get(id) ?? '' }));
  return { ...(preface && { preface }), sections };
}

/** A line at the start of the text or after an empty line, which may hold spaces, with text below. */
const HEADING = /(?<=^|(\n[^\S\n]*\n))([^\n]*)\n(?=[\s\S])/g;

/** Returns where the separator before a section's heading begins, and where its text does. */
function findHeading(text: string, title: string, from: number): { start: number; body: number } | null {
  const folded = new FoldedText(title).text;
  if (folded === '') return null;
  for (const { index, 0: heading, 1: separator = '', 2: line } of text.matchAll(HEADING)) {
    const start = index - separator.length;
    const isFirst = index === 0 && from === 0;
    if ((isFirst || start >= Math.max(from, 1)) && new FoldedText(line!).text === folded)
      return { start, body: index + heading.length };
  }
  return null;
}
