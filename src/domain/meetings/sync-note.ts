import type { EntityManager } from '@mikro-orm/postgresql';
import type { Meeting } from '../../../entities/meeting.entity.ts';
import { MeetingNote } from '../../../entities/meeting-note.entity.ts';
import { newId } from '../../../schema/ids.ts';
import { conflict } from '../../shared/errors.ts';
import type { OperationContext } from '../operation-context.ts';
import { acquireNotesMemory, applyChanges, lockMeeting, type MeetingKey } from './meeting-writes.ts';
import { syncBlock } from './plain-notes.ts';
import { syncToTemplate } from './template-notes.ts';

/** Maximum characters of the notes of a meeting, to bound the size of lists of meetings. */
const MAX_NOTES_LENGTH = 1_000_000;

/** Columns of a note that the other application decides about. */
type NoteField =
  | 'sourceDeepLink'
  | 'sourceWebLink'
  | 'title'
  | 'summaryMarkdown'
  | 'detailBlocks'
  | 'actionItems'
  | 'capturedStartedAt'
  | 'capturedEndedAt';

type NoteFields = Pick<MeetingNote, NoteField>;

/** A note as it is in the other application; absent fields are empty. */
export type MeetingNoteInput = Pick<MeetingNote, 'externalSourceId'> & {
  [Name in NoteField | 'sourceApp']?: MeetingNote[Name] | null;
};

/**
 * Creates or updates the integrator's note and, in the same transaction, its block in the meeting's notes or its entry in the template
 * response. Text that people wrote is unchanged (MTG-17, MTG-19).
 */
export async function syncNote(
  { caller, clock, database }: OperationContext,
  key: MeetingKey,
  input: MeetingNoteInput,
): Promise<{ note: MeetingNote; created: boolean }> {
  const now = clock.now();
  const { externalSourceId, sourceApp = null } = input;
  const fields = toNoteFields(input);
  await acquireNotesMemory(database, key, JSON.stringify(fields).length);
  return database.transaction(async (em) => {
    const meeting = await lockMeeting(em, key);
    const identity = { integratorId: caller.integratorId, sourceApp, externalSourceId };
    const existing = await em.findOne(MeetingNote, { meetingId: meeting.id, ...identity });
    const note = existing ?? createNote(em, meeting, { ...identity, ...fields }, now);
    // An archived note is restored. `notes` is computed from the columns that change.
    applyChanges(note, { ...fields, archivedAt: null }, now);
    const lengthBefore = meeting.notes?.length ?? 0;
    applyChanges(meeting, toSyncedNotes(meeting, note), now);
    requireNotesLength(meeting, lengthBefore);
    return { note, created: existing === null };
  });
}

const toNoteFields = (input: MeetingNoteInput): NoteFields => ({
  sourceDeepLink: input.sourceDeepLink ?? null,
  sourceWebLink: input.sourceWebLink ?? null,
  title: input.title ?? null,
  summaryMarkdown: input.summaryMarkdown ?? null,
  detailBlocks: input.detailBlocks ?? [],
  actionItems: (input.actionItems ?? []).map(({ text }) => ({ text })),
  capturedStartedAt: input.capturedStartedAt ?? null,
  capturedEndedAt: input.capturedEndedAt ?? null,
});

function createNote(
  em: EntityManager,
  { id: meetingId, builderId }: Meeting,
  values: NoteFields & Pick<MeetingNote, 'integratorId' | 'sourceApp' | 'externalSourceId'>,
  now: number,
): MeetingNote {
  const at = new Date(now).toISOString();
  const id = newId('meetingNote', now);
  const stamps = { createdAt: at, updatedAt: at, archivedAt: null };
  const note = em.create(MeetingNote, { id, builderId, meetingId, ...values, ...stamps });
  em.persist(note);
  return note;
}

/** Returns the notes columns of the meeting with the text of the note. */
function toSyncedNotes(meeting: Meeting, note: MeetingNote): Partial<Meeting> {
  const noteText = formatNote(note);
  if (meeting.templateId !== null) {
    return { templateResponse: syncToTemplate(meeting.templateResponse, note.id, noteText) };
  }
  const before = { text: meeting.plainNotes ?? '', blocks: meeting.noteBlocks };
  const { text, blocks } = syncBlock(before, note.id, noteText);
  return { plainNotes: text || null, noteBlocks: blocks };
}

/**
 * Throws a conflict if the notes become too long (MTG-21).
 *
 * @param before previous length; notes may always become shorter.
 */
function requireNotesLength({ notes }: Meeting, before: number): void {
  const { length } = notes ?? '';
  if (length <= MAX_NOTES_LENGTH || length <= before) return;
  throw conflict(
    'MEETING_NOTES_FULL',
    `The notes of a meeting may have at most ${MAX_NOTES_LENGTH} characters in all.`,
  );
}

/** Fields of a detail block with text, in reading order. */
const BLOCK_TEXT = ['title', 'heading', 'text', 'markdown', 'content'];

/**
 * Returns the text of a note in the meeting's notes (MTG-18). Detail blocks have the format of the other application; only their text
 * fields are used.
 */
function formatNote({ title, summaryMarkdown, detailBlocks, actionItems }: MeetingNote): string {
  const details = detailBlocks.flatMap((block) => BLOCK_TEXT.map((name) => block[name]));
  const texts = [title, summaryMarkdown, ...details, ...actionItems.map(({ text }) => `- ${text}`)];
  return texts.filter((text) => typeof text === 'string' && text !== '').join('\n');
}
