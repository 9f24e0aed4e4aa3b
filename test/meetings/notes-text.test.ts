import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { listTemplateParts, type MeetingTemplateResponse, PART_GAP } from '../../entities/meeting.entity.ts';
import { type NotesText, rewriteNotes, syncBlock } from '../../src/domain/meetings/plain-notes.ts';
import { rewriteTemplate, syncToTemplate } from '../../src/domain/meetings/template-notes.ts';

const NONE: NotesText = { text: '', blocks: [] };
const read = (response: MeetingTemplateResponse) => listTemplateParts(response).join(PART_GAP);

/** Random text of a few repeated lines, separators and titles. */
const line = fc.constantFrom('Safety', 'Actions', 'Hats.', 'Crane', '', ' ', 'a', 'aa');
const anyText = fc.array(line, { maxLength: 8 }).map((lines) => lines.join('\n'));
const noteId = fc.constantFrom('mnote_1', 'mnote_2', 'mnote_3');
const step = fc.oneof(
  fc.record({ by: fc.constant('sync' as const), noteId, text: anyText }),
  fc.record({ by: fc.constant('person' as const), text: anyText }),
  fc.record({ by: fc.constant('insert' as const), at: fc.nat(100), text: anyText }),
);

/** Returns the notes without the synced blocks. */
function withoutSyncedBlocks({ text, blocks }: NotesText): string {
  const last = [...blocks].sort((one, other) => other.start - one.start);
  return last.reduce((rest, block) => rest.slice(0, block.start) + rest.slice(block.start + block.text.length), text);
}

describe('the notes of a meeting without a template', () => {
  it('contain the synced notes in the order of their first sync', () => {
    const one = syncBlock(NONE, 'mnote_1', 'Crane');
    expect(one.text).toBe('Crane');
    expect(syncBlock(one, 'mnote_2', 'Hats').text).toBe('Crane\n\nHats');
    expect(syncBlock(syncBlock(one, 'mnote_2', 'Hats'), 'mnote_1', 'Crane on\nMonday').text).toBe(
      'Crane on\nMonday\n\nHats',
    );
  });

  // MTG-20
  it('keep the block of a note after an edit around it, even if its text occurs twice', () => {
    const synced = syncBlock({ text: 'Crane', blocks: [] }, 'mnote_1', 'Crane');
    expect(synced.text).toBe('Crane\n\nCrane');
    const edited = rewriteNotes(synced, 'First: Crane\n\nCrane\n\nlast');
    expect(syncBlock(edited, 'mnote_1', 'Hoist').text).toBe('First: Crane\n\nHoist\n\nlast');
  });

  it('keep a block that was moved by an edit, and drop one that was overwritten (MTG-20)', () => {
    const synced = syncBlock(syncBlock({ text: 'Mine', blocks: [] }, 'mnote_1', 'Crane'), 'mnote_2', 'Hats');
    const moved = rewriteNotes(synced, 'Crane\n\nMine, longer\n\nHats');
    expect(syncBlock(moved, 'mnote_1', 'Hoist').text).toBe('Hoist\n\nMine, longer\n\nHats');
    const overwritten = rewriteNotes(synced, 'Mine\n\nCrane, on Monday\n\nHats');
    expect(syncBlock(overwritten, 'mnote_1', 'Hoist').text).toMatch(
      /^Mine\n\n(Hoist, on Monday\n\nHats|Crane, on Monday\n\nHats\n\nHoist)$/,
    );
  });

  it('keep one block where two notes have the same text and a person removes one of them (MTG-20)', () => {
    const synced = syncBlock(syncBlock(NONE, 'mnote_1', 'Crane'), 'mnote_2', 'Crane');
    const edited = rewriteNotes(synced, 'Crane');
    expect(edited).toEqual({ text: 'Crane', blocks: [{ noteId: 'mnote_1', start: 0, text: 'Crane' }] });
    expect(syncBlock(edited, 'mnote_2', 'Hats').text).toBe('Crane\n\nHats');
  });

  it('keep a moved block whose text overlaps an earlier occurrence of it (MTG-20)', () => {
    const synced = syncBlock({ text: 'Mine', blocks: [] }, 'mnote_1', 'aa');
    const joined = rewriteNotes(synced, 'aaa');
    expect(joined.blocks).toEqual([{ noteId: 'mnote_1', start: 1, text: 'aa' }]);
    const moved = rewriteNotes(joined, 'One: aaa.');
    expect(syncBlock(moved, 'mnote_1', 'Hoist').text).toBe('One: aHoist.');
  });

  // MTG-19
  it('keep the edited text over all syncs, and contain each note once, at its block', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
        let notes = NONE;
        for (const one of steps) {
          if (one.by === 'sync') {
            const before = withoutSyncedBlocks(notes);
            const isNew = !notes.blocks.some((block) => block.noteId === one.noteId);
            const gap = isNew && one.text !== '' && notes.text !== '' ? '\n\n' : '';
            notes = syncBlock(notes, one.noteId, one.text);
            expect(withoutSyncedBlocks(notes)).toBe(before + gap);
            const own = notes.blocks.find((block) => block.noteId === one.noteId);
            expect(own?.text ?? '').toBe(one.text);
          } else {
            const at = one.by === 'insert' ? one.at % (notes.text.length + 1) : 0;
            const text = one.by === 'insert' ? notes.text.slice(0, at) + one.text + notes.text.slice(at) : one.text;
            notes = rewriteNotes(notes, text);
            expect(notes.text).toBe(text);
          }
          const sorted = [...notes.blocks].sort((a, b) => a.start - b.start || a.text.length - b.text.length);
          for (const [index, { start, text }] of sorted.entries()) {
            expect(notes.text.slice(start, start + text.length)).toBe(text);
            const next = sorted[index + 1];
            if (next) expect(next.start).toBeGreaterThanOrEqual(start + text.length);
          }
          expect(new Set(notes.blocks.map((block) => block.noteId)).size).toBe(notes.blocks.length);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

/** What editors change in a text without anybody writing it. */
const HARMLESS: Record<string, (text: string) => string> = {
  'line endings of Windows': (text) => text.replace(/\r\n?|\n/g, '\r\n'),
  'line endings of Unix': (text) => text.replace(/\r\n?/g, '\n'),
  'decomposed characters': (text) => text.normalize('NFD'),
  'composed characters': (text) => text.normalize('NFC'),
  'no-break spaces': (text) => text.replaceAll(' ', '\u00a0'),
  'spaces at line ends': (text) => text.replace(/(?<!\r)(?=\n)|(?=\r)|$/g, '  '),
  'no spaces at line ends': (text) => text.replace(/[ \t\u00a0]+$/gm, ''),
  'line separators': (text) => text.replace(/\r\n?|\n/g, '\u2028'),
  'next-line characters': (text) => text.replace(/\r\n?|\n/g, '\u0085'),
};
const edits = fc.array(fc.constantFrom(...Object.keys(HARMLESS)), { minLength: 1, maxLength: 4 });

/** Returns the text in one spelling. */
const fold = (text: string) =>
  text
    .replace(/\r\n?|[\u0085\u2028]/g, '\n')
    .replaceAll('\u00a0', ' ')
    .normalize('NFC')
    .replace(/[ \t]+$/gm, '');

const words = fc.constantFrom('Zoë', 'Crane', 'naïve café', '각도', 'Å 5 m', 'Crane ', 'a  b', 'Ω', '한', ' ', '');
const text = fc.array(words, { minLength: 1, maxLength: 5 }).map((lines) => lines.join('\n'));
const noteText = text.filter((lines) => lines.trim() !== '');

/** An edit leaves spaces between a separator and the block after it, which begins with an empty line. */
const PEOPLE = 'Arbres d’été\nZoë';
const SPACES_BEFORE_BLOCK = [
  { noteId: 'mnote_1', text: 'Zoë', edits: ['line endings of Windows'] },
  { noteId: 'mnote_2', text: '\nZoë', edits: ['line endings of Windows'] },
  { noteId: 'mnote_1', text: 'Zoë', edits: ['spaces at line ends', 'next-line characters', 'no spaces at line ends'] },
  { noteId: 'mnote_1', text: 'Zoë', edits: ['line endings of Windows'] },
];

const SECTIONS = [
  { id: 'safety', title: 'Safety' },
  { id: 'trees', title: 'Arbres d’été' },
];
/** Text with any of the sections, in their order. */
const sectionedText = fc
  .tuple(fc.option(noteText), ...SECTIONS.map(({ title }) => fc.option(noteText.map((lines) => `${title}\n${lines}`))))
  .map((parts) => parts.filter((part) => part).join('\n\n'));

describe('a synced note in an editor that changes line endings, Unicode form and spaces (MTG-20)', () => {
  it.each(Object.keys(HARMLESS))('is replaced after the edit: %s', (name) => {
    const synced = syncBlock({ text: 'Häuser bauen \n', blocks: [] }, 'mnote_1', 'Zoë ruft an\n- Kran \n- Å');
    const edited = rewriteNotes(synced, HARMLESS[name]!(synced.text));
    expect(fold(syncBlock(edited, 'mnote_1', 'Neu').text)).toBe('Häuser bauen\n\n\nNeu');
  });

  it.each([51, 200, 20_000])('is replaced where people wrote its text %i times', (count) => {
    for (const gap of ['\n', '\n\n', ' ']) {
      const people = Array.from({ length: count }, () => 'Checked').join(gap);
      const synced = syncBlock({ text: people, blocks: [] }, 'mnote_1', 'Checked');
      const followed = syncBlock(synced, 'mnote_2', 'Two\nlines');
      const edited = rewriteNotes(followed, HARMLESS['line endings of Windows']!(followed.text));
      const [before, after] = fold(syncBlock(edited, 'mnote_1', 'Neu').text).split('Neu');
      expect([before === `${people}\n\n`, after]).toEqual([true, '\n\nTwo\nlines']);
    }
  });

  it('is found in time where a text of one letter has very many occurrences', () => {
    const [people, note] = ['a'.repeat(400_000), 'a'.repeat(20_000)];
    const synced = syncBlock(syncBlock({ text: people, blocks: [] }, 'mnote_1', note), 'mnote_2', 'Two\nlines');
    expect(rewriteNotes(synced, synced.text.replaceAll('\n', '\r\n')).blocks.length).toBeGreaterThan(0);
  });

  it('is replaced and never repeated, and what people wrote is untouched', () => {
    const sync = fc.record({ noteId, text: noteText, edits });
    fc.assert(
      fc.property(sectionedText, fc.array(sync, { minLength: 1, maxLength: 8 }), (people, syncs) => {
        let notes: NotesText = { text: people, blocks: [] };
        // The same notes in an editor that changes nothing.
        let expected = notes;
        let response = rewriteTemplate(null, SECTIONS, people);
        for (const { noteId: id, text: synced, edits: names } of syncs) {
          notes = syncBlock(notes, id, synced);
          expected = syncBlock(expected, id, synced);
          response = syncToTemplate(response, id, synced);
          expect(fold(notes.text)).toBe(fold(expected.text));
          expect(fold(read(response))).toBe(fold(listTemplateParts(response).map(fold).join('\n\n')));
          const edited = names.reduce((before, name) => HARMLESS[name]!(before), notes.text);
          notes = rewriteNotes(notes, edited);
          expect(notes.text).toBe(edited);
          expect(notes.blocks).toHaveLength(expected.blocks.length);
          const saved = rewriteTemplate(
            response,
            SECTIONS,
            names.reduce((before, name) => HARMLESS[name]!(before), read(response)),
          );
          expect(saved.syncedNotes).toEqual(response.syncedNotes);
          expect(fold(saved.preface ?? '')).toBe(fold(response.preface ?? ''));
          const textsOf = ({ sections }: MeetingTemplateResponse) => sections.map((each) => [each.id, fold(each.text)]);
          expect(textsOf(saved)).toEqual(textsOf(response));
          response = saved;
        }
      }),
      { numRuns: 1_000, examples: [[PEOPLE, SPACES_BEFORE_BLOCK]] },
    );
  });
});

describe('the notes of a meeting with a template', () => {
  const TEMPLATE = [
    { id: 'safety', title: 'Safety' },
    { id: 'actions', title: 'Actions' },
  ];
  const rewrite = (response: MeetingTemplateResponse | null, text: string) => rewriteTemplate(response, TEMPLATE, text);

  it('split an edited text into the sections by their titles (MTG-25)', () => {
    const response = rewrite(null, 'Hello\n\nSafety\nHats.\n\nBoots.\n\nActions\nCall.');
    expect(response).toEqual({
      preface: 'Hello',
      sections: [
        { id: 'safety', title: 'Safety', text: 'Hats.\n\nBoots.' },
        { id: 'actions', title: 'Actions', text: 'Call.' },
      ],
      syncedNotes: [],
    });
  });

  it('have no preface where they begin with a title (MTG-25)', () => {
    expect(rewrite(null, 'Safety\nHats.\n\nActions\nCall.')).toEqual({
      sections: [
        { id: 'safety', title: 'Safety', text: 'Hats.' },
        { id: 'actions', title: 'Actions', text: 'Call.' },
      ],
      syncedNotes: [],
    });
  });

  it('keep synced notes that an edit contains, and drop one that was overwritten (MTG-20)', () => {
    const synced = syncToTemplate(
      syncToTemplate(rewrite(null, 'Safety\nHats.'), 'mnote_1', 'Crane'),
      'mnote_2',
      'Hoist',
    );
    expect(read(synced)).toBe('Safety\nHats.\n\nCrane\n\nHoist');
    const edited = rewrite(synced, 'Safety\nHats, boots.\n\nCrane\n\nHoist on Monday');
    expect(edited.syncedNotes.map(({ noteId: id }) => id)).toContain('mnote_1');
    expect(read(edited)).toContain('Hats, boots.');
    expect(read(edited)).toContain(' on Monday');
    expect(syncToTemplate(synced, 'mnote_1', '').syncedNotes).toEqual([{ noteId: 'mnote_2', text: 'Hoist' }]);
  });

  it('are exactly the edited text if no note is synced', () => {
    fc.assert(
      fc.property(anyText, anyText, (first, text) => {
        const saved = read(rewrite(rewrite(null, first), text));
        // A separator of sections loses its spaces.
        expect(fold(saved)).toBe(fold(text));
        if (!/^ $/m.test(text)) expect(saved).toBe(text);
      }),
      { numRuns: 5_000 },
    );
  });

  it('are unchanged by an edit without changes, and a sync changes only its own note', () => {
    fc.assert(
      fc.property(anyText, fc.array(fc.tuple(noteId, anyText), { maxLength: 6 }), (text, syncs) => {
        let response: MeetingTemplateResponse = rewrite(null, text);
        for (const [id, written] of syncs) {
          const { syncedNotes: before, ...people } = response;
          response = syncToTemplate(response, id, written);
          const { syncedNotes: after, ...peopleAfter } = response;
          expect(peopleAfter).toEqual(people);
          const others = (list: typeof after) => list.filter((note) => note.noteId !== id);
          expect(others(after)).toEqual(others(before));
        }
        const saved = rewrite(response, read(response));
        expect(read(saved)).toBe(read(response));
        expect(saved.syncedNotes).toEqual(response.syncedNotes);
      }),
      { numRuns: 2_000 },
    );
  });
});
