import {
  PART_GAP as GAP,
  type MeetingTemplateResponse,
  type NoteBlock,
  templateParts,
} from '../../../entities/meeting.entity.ts';
import type { MeetingTemplateSection } from '../../../entities/meeting-template.entity.ts';
import { rewriteNotes } from './plain-notes.ts';

const EMPTY: MeetingTemplateResponse = { sections: [], syncedNotes: [] };

/** The response with the synced note at its own place, or at a new one at the end. People's text is not touched. */
export function syncToTemplate(
  response: MeetingTemplateResponse | null,
  noteId: string,
  text: string,
): MeetingTemplateResponse {
  const { syncedNotes, ...written } = response ?? EMPTY;
  const known = syncedNotes.some((note) => note.noteId === noteId);
  const all = known
    ? syncedNotes.map((note) => (note.noteId === noteId ? { noteId, text } : note))
    : [...syncedNotes, { noteId, text }];
  return { ...written, syncedNotes: all.filter((note) => note.text !== '') };
}

/**
 * A person's text, as it reads after an edit of the whole, sorted back into the response: what stands under the title of a section
 * goes there, the synced notes that still stand keep their places, and the rest is the preface. Read again, it is the same
 * text, but that synced notes come last.
 */
export function rewriteTemplate(
  response: MeetingTemplateResponse | null,
  template: MeetingTemplateSection[],
  text: string,
): MeetingTemplateResponse {
  const before = response ?? EMPTY;
  const { blocks } = rewriteNotes({ text: templateParts(before).join(GAP), blocks: blocksOf(before) }, text);
  const standing = new Set(blocks.map(({ noteId }) => noteId));
  const known = new Set(before.sections.map(({ id }) => id));
  const headings = [...before.sections, ...template.filter(({ id }) => !known.has(id))];
  return {
    ...sortIntoSections(withoutBlocks(text, blocks), headings),
    syncedNotes: before.syncedNotes.filter(({ noteId }) => standing.has(noteId)),
  };
}

/** Where the synced notes stand in the response's text. */
function blocksOf(response: MeetingTemplateResponse): NoteBlock[] {
  const parts = templateParts(response);
  const first = parts.length - response.syncedNotes.length;
  let start = parts.slice(0, first).reduce((length, part) => length + part.length + GAP.length, 0);
  return response.syncedNotes.map(({ noteId, text }) => {
    const block = { noteId, start, text };
    start += text.length + GAP.length;
    return block;
  });
}

/** The text without the blocks, and without the gap that each of them leaves. */
function withoutBlocks(text: string, blocks: NoteBlock[]): string {
  return [...blocks]
    .sort((one, other) => other.start - one.start)
    .reduce((rest, { start, text: { length } }) => {
      const [before, after] = [rest.slice(0, start), rest.slice(start + length)];
      if (before.endsWith(GAP)) return before.slice(0, -GAP.length) + after;
      return before + (after.startsWith(GAP) ? after.slice(GAP.length) : after);
    }, text);
}

function sortIntoSections(
  text: string,
  headings: MeetingTemplateSection[],
): Pick<MeetingTemplateResponse, 'preface' | 'sections'> {
  const found: { id: string; at: number; body: number }[] = [];
  let from = 0;
  for (const { id, title } of headings) {
    const at = headingAt(text, title, from);
    if (at < 0) continue;
    const body = at + title.length + 1;
    found.push({ id, at, body });
    // The next one comes after a text of at least one character and a gap.
    from = body + 1 + GAP.length;
  }
  const endOf = (next: { at: number } | undefined) => (next ? next.at - GAP.length : text.length);
  const texts = new Map(found.map(({ id, body }, index) => [id, text.slice(body, endOf(found[index + 1]))]));
  const preface = found[0]?.at === 0 ? '' : text.slice(0, endOf(found[0]));
  const sections = headings.map(({ id, title }) => ({ id, title, text: texts.get(id) ?? '' }));
  return { ...(preface && { preface }), sections };
}

/** Where a section's title stands as one: on a line of its own, after a gap or at the very start, with a text under it. */
function headingAt(text: string, title: string, from: number): number {
  const line = `${title}\n`;
  for (let at = text.indexOf(line, from); at >= 0; at = text.indexOf(line, at + 1)) {
    const begins = at === 0 || (at > GAP.length && text.startsWith(GAP, at - GAP.length));
    if (begins && title !== '' && at + line.length < text.length) return at;
  }
  return -1;
}
