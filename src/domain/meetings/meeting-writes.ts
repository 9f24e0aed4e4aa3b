import { isDeepStrictEqual } from 'node:util';
import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { Meeting } from '../../../entities/meeting.entity.ts';
import { MeetingTemplate } from '../../../entities/meeting-template.entity.ts';
import { newId } from '../../../schema/ids.ts';
import type { Database } from '../../database/database.ts';
import { statement } from '../../database/pool/pg-pipeline.ts';
import { conflict, notFound } from '../../shared/errors.ts';
import { createOnce, type IdempotentRequest } from '../create-once.ts';
import type { OperationContext } from '../operation-context.ts';
import { projects } from '../readers/project.reader.ts';
import { rewriteNotes } from './plain-notes.ts';
import { rewriteTemplate } from './template-notes.ts';

/** A meeting of another application is identified by `sourceApp` and `externalSourceId`. The default of `date` is now. */
type CreateMeetingInput = Pick<Meeting, 'title'> & {
  [Name in 'projectId' | 'date' | 'agenda' | 'notes' | 'sourceApp' | 'externalSourceId']?: string | null;
};

/** A meeting and its builder. */
export interface MeetingKey {
  builderId: string;
  meetingId: string;
}

/**
 * Creates a draft (MTG-3). Returns the existing meeting with the same `sourceApp` and `externalSourceId` if there is one, regardless
 * of the other fields (MTG-5); without these two, a key creates one meeting.
 */
export function createMeeting(
  context: Pick<OperationContext, 'caller' | 'clock' | 'database'>,
  builderId: string,
  input: CreateMeetingInput,
  request: IdempotentRequest | null,
): Promise<{ meeting: Meeting; created: boolean }> {
  const { caller, clock, database } = context;
  const now = clock.now();
  const { title, projectId = null, agenda = null, notes, sourceApp = null, externalSourceId = null } = input;
  const find = async (em: EntityManager, id: string) => {
    const meeting = await em.findOne(Meeting, { id });
    return meeting && { meeting, created: false };
  };
  return createOnce(database, externalSourceId === null ? request : null, find, async (claim) => {
    const before = await findBySource(context, builderId, input);
    if (before) return { meeting: before, created: false };
    if (projectId !== null && !(await projects.findOne(database, projectId, { builderId }))) throw notFound('Project');
    if (notes && notes.length > LARGE_NOTES) await database.limits?.acquireLargeWrite(notes.length);
    const at = new Date(now).toISOString();
    return database.transaction(async (em) => {
      // Runs again where a concurrent request has created the meeting of the same source.
      const winner = await findBySource(context, builderId, input, em);
      if (winner) return { meeting: winner, created: false };
      const id = newId('meeting', now);
      await claim(em, id);
      const meeting = em.create(Meeting, {
        id,
        createdAt: at,
        updatedAt: at,
        builderId,
        projectId,
        title,
        date: input.date ?? at,
        status: 'DRAFT',
        agenda,
        plainNotes: notes || null,
        noteBlocks: [],
        templateId: null,
        templateResponse: null,
        integratorId: caller.integratorId,
        sourceApp,
        externalSourceId,
      });
      em.persist(meeting);
      return { meeting, created: true };
    });
  });
}

async function findBySource(
  { caller: { integratorId }, database }: Pick<OperationContext, 'caller' | 'database'>,
  builderId: string,
  { sourceApp, externalSourceId }: CreateMeetingInput,
  em: EntityManager = database.fork(),
): Promise<Meeting | null> {
  if (integratorId === null || sourceApp == null || externalSourceId == null) return null;
  return em.findOne(Meeting, { integratorId, builderId, sourceApp, externalSourceId });
}

/** Changes a meeting, whatever its state. */
export async function updateMeeting(
  { clock, database }: Pick<OperationContext, 'clock' | 'database'>,
  key: MeetingKey,
  values: Partial<Pick<Meeting, 'title' | 'status'>>,
): Promise<Meeting> {
  const now = clock.now();
  await acquireNotesMemory(database, key);
  return database.transaction(async (em) => {
    const meeting = await lockMeeting(em, key);
    applyChanges(meeting, values, now);
    return meeting;
  });
}

/** Estimated characters of text per byte of a compressed column. */
const COMPRESSION = 4;

/** The size of the notes. SQL: without reading them. */
const NOTES_SIZE = statement('meetings.notes-size')`
  select coalesce(octet_length(notes), 0) + ${COMPRESSION} * coalesce(pg_column_size(template_response), 0)
  from meeting where id = $1`;

/** Bytes of notes above which a write is charged as a large value. */
const LARGE_NOTES = 64 * 1024;

/**
 * Waits until the caller may write the meeting with its notes, if they are large. Call it before the meeting is locked, so that a
 * waiting caller holds no lock.
 *
 * @param bytes Approximate size of the additional data to write.
 */
export async function acquireNotesMemory(
  { limits, runner }: Database,
  { meetingId }: MeetingKey,
  bytes = 0,
): Promise<void> {
  if (!limits) return;
  const [row] = await runner.run(NOTES_SIZE, [meetingId]);
  const size = Number(row?.[0] ?? 0) + bytes;
  if (size > LARGE_NOTES) await limits.acquireLargeWrite(size);
}

/** Returns the meeting and locks its row until the transaction ends. Throws `NOT_FOUND` if the builder has no such meeting. */
export async function lockMeeting(em: EntityManager, { builderId, meetingId: id }: MeetingKey): Promise<Meeting> {
  const meeting = await em.findOne(Meeting, { id, builderId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!meeting) throw notFound('Meeting');
  return meeting;
}

/** The last instant that is stored, which an imported record may have. */
const MAX_INSTANT = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * Sets the values that differ. A change always increases `updatedAt`, so that every state of the record has a distinct one. Compares JSON
 * regardless of the order of keys, which PostgreSQL does not preserve.
 */
export function applyChanges<T extends { updatedAt: string }>(
  record: T,
  values: Partial<NoInfer<T>>,
  now: number,
): void {
  const names = (Object.keys(values) as (keyof T)[]).filter((name) => !isDeepStrictEqual(record[name], values[name]));
  if (names.length === 0) return;
  for (const name of names) record[name] = values[name]!;
  const later = Math.max(now, Date.parse(record.updatedAt) + 1);
  record.updatedAt = new Date(Math.min(later, MAX_INSTANT)).toISOString();
}

/**
 * Replaces the notes of a meeting with a person's text. Throws a conflict if the meeting changed since `expectedUpdatedAt` (MTG-23 to
 * MTG-25).
 */
export async function updateMeetingNotes(
  { clock, database }: OperationContext,
  key: MeetingKey,
  { notes, expectedUpdatedAt }: { notes: string; expectedUpdatedAt: string },
): Promise<Meeting> {
  const now = clock.now();
  await acquireNotesMemory(database, key, notes.length);
  return database.transaction(async (em) => {
    const meeting = await lockMeeting(em, key);
    if (meeting.updatedAt !== expectedUpdatedAt) {
      throw conflict('MEETING_CHANGED', 'Somebody has changed the meeting since; read it again.');
    }
    if (meeting.templateId === null) {
      const { text, blocks } = rewriteNotes({ text: meeting.plainNotes ?? '', blocks: meeting.noteBlocks }, notes);
      applyChanges(meeting, { plainNotes: text || null, noteBlocks: blocks }, now);
    } else {
      const { sections } = await em.findOneOrFail(MeetingTemplate, meeting.templateId);
      applyChanges(meeting, { templateResponse: rewriteTemplate(meeting.templateResponse, sections, notes) }, now);
    }
    return meeting;
  });
}
