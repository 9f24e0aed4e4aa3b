import type { EntityManager } from '@mikro-orm/postgresql';
import type { Meeting } from '../../../entities/meeting.entity.ts';
import { MeetingNote } from '../../../entities/meeting-note.entity.ts';
import { conflict } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import type { NoteFields } from './meeting-inputs.ts';
import { acquireNotes, change, lockMeeting, type MeetingWrite } from './meeting-writes.ts';
import { syncBlock } from './plain-notes.ts';
import { syncToTemplate } from './template-notes.ts';

/** Characters that the notes of one meeting may have in all, so that a list of meetings stays one that can be sent. */
const LONGEST_NOTES = 1_000_000;

export interface NoteIdentity {
  sourceApp: string | null;
  externalSourceId: string;
}

/**
 * Makes or updates the integrator's note and, in the same transaction, what the meeting's notes hold of it: its own block, or
 * its own entry of the template response. What people wrote stays as it is (MTG-17, MTG-19).
 */
export async function syncNote(
  write: MeetingWrite,
  meetingId: string,
  identity: NoteIdentity,
  fields: NoteFields,
): Promise<{ note: MeetingNote; created: boolean }> {
  const { database, builderId, integratorId, now } = write;
  await acquireNotes(write, meetingId, JSON.stringify(fields).length);
  return database.transaction(async (em) => {
    const meeting = await lockMeeting(em, builderId, meetingId);
    const known = await em.findOne(MeetingNote, { meetingId, integratorId, ...identity });
    const note = known ?? newNote(em, meeting, { ...identity, integratorId }, fields, now);
    change(note, { ...fields, archivedAt: null }, now);
    const { length } = meeting.notes ?? '';
    change(meeting, writeThrough(meeting, note), now);
    requireRoom(meeting, length);
    return { note, created: known === null };
  });
}

function newNote(
  em: EntityManager,
  { id: meetingId, builderId }: Meeting,
  identity: NoteIdentity & { integratorId: string | null },
  fields: NoteFields,
  now: number,
): MeetingNote {
  const at = new Date(now).toISOString();
  const id = newId('meetingNote', now);
  const stamps = { createdAt: at, updatedAt: at, archivedAt: null };
  const note = em.create(MeetingNote, { id, builderId, meetingId, ...identity, ...fields, ...stamps });
  em.persist(note);
  return note;
}

/** What the meeting's notes become. */
function writeThrough(meeting: Meeting, note: MeetingNote): Partial<Meeting> {
  const written = textOf(note);
  if (meeting.templateId !== null) {
    return { templateResponse: syncToTemplate(meeting.templateResponse, note.id, written) };
  }
  const before = { text: meeting.plainNotes ?? '', blocks: meeting.noteBlocks };
  const { text, blocks } = syncBlock(before, note.id, written);
  return { plainNotes: text || null, noteBlocks: blocks };
}

/**
 * Throws 409 when the notes would become too long (MTG-21).
 *
 * @param before length that the notes had; they may always become shorter.
 */
function requireRoom({ notes }: Meeting, before: number): void {
  const { length } = notes ?? '';
  if (length <= LONGEST_NOTES || length <= before) return;
  throw conflict('MEETING_NOTES_FULL', `The notes of a meeting may have at most ${LONGEST_NOTES} characters in all.`);
}

/** Fields of a detail block that hold its text, in the order in which people read them. */
const BLOCK_TEXT = ['title', 'heading', 'text', 'markdown', 'content'];

/**
 * What people read of a note in the meeting's notes (MTG-18). A detail block has the form of the other application; only its texts
 * count.
 */
function textOf({ title, summaryMarkdown, detailBlocks, actionItems }: MeetingNote): string {
  const details = detailBlocks.flatMap((block) => BLOCK_TEXT.map((name) => block[name]));
  const texts = [title, summaryMarkdown, ...details, ...actionItems.map(({ text }) => `- ${text}`)];
  return texts.filter((text) => typeof text === 'string' && text !== '').join('\n');
}
