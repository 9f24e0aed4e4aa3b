import { LockMode, UniqueConstraintViolationException } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { Meeting } from '../../entities/meeting.entity.ts';
import { MeetingTemplate } from '../../entities/meeting-template.entity.ts';
import type { Database } from '../../src/database/database.ts';
import { conflict, notFound } from '../../src/errors.ts';
import { newId } from '../../src/ids.ts';
import { projects } from '../project/project.reader.ts';
import type { CreateMeetingArgs } from './meeting.input.ts';
import { rewriteNotes } from './plain-notes.ts';
import { rewriteTemplate } from './template-notes.ts';

/** Whose meeting, and when it is written. */
export interface Writing {
  database: Database;
  integratorId: string | null;
  builderId: string;
  now: number;
}

/**
 * Makes a draft. With `sourceApp` and `externalSourceId` a repeat answers the meeting that is there, whatever else it says.
 * Part 7 of the decisions.
 */
export async function createMeeting(
  writing: Writing,
  input: CreateMeetingArgs,
): Promise<{ meeting: Meeting; created: boolean }> {
  const before = await sameSource(writing, input);
  if (before) return { meeting: before, created: false };
  const { database, builderId, integratorId, now } = writing;
  const { title, projectId = null, agenda = null, notes, sourceApp = null, externalSourceId = null } = input;
  if (projectId !== null && !(await projects.one(database, projectId, { builderId }))) throw notFound('Project');
  const at = new Date(now).toISOString();
  const em = database.fork();
  const meeting = em.create(Meeting, {
    ...{ id: newId('meeting', now), createdAt: at, updatedAt: at, builderId, projectId, title },
    ...{ date: input.date ?? at, status: 'DRAFT', agenda, plainNotes: notes || null, noteBlocks: [] },
    ...{ templateId: null, templateResponse: null, integratorId, sourceApp, externalSourceId },
  });
  try {
    await em.persist(meeting).flush();
    return { meeting, created: true };
  } catch (error) {
    // Another request was first with the same source.
    const winner = error instanceof UniqueConstraintViolationException ? await sameSource(writing, input) : null;
    if (winner) return { meeting: winner, created: false };
    throw error;
  }
}

async function sameSource(
  { database, builderId, integratorId }: Writing,
  { sourceApp, externalSourceId }: CreateMeetingArgs,
): Promise<Meeting | null> {
  if (integratorId === null || sourceApp == null || externalSourceId == null) return null;
  return database.fork().findOne(Meeting, { integratorId, builderId, sourceApp, externalSourceId });
}

/** Changes a meeting that nobody else changes meanwhile. Nothing is written when the change leaves it as it is. */
export function changeMeeting(
  { database, builderId, now }: Writing,
  meetingId: string,
  change: (meeting: Meeting, em: EntityManager) => void | Promise<void>,
): Promise<Meeting> {
  return database.transaction(async (em) => {
    const meeting = await lockMeeting(em, builderId, meetingId);
    await change(meeting, em);
    touch(em, meeting, now);
    return meeting;
  });
}

/** The meeting, held until the transaction ends; 404 when it is not the builder's. */
export async function lockMeeting(em: EntityManager, builderId: string, id: string): Promise<Meeting> {
  const meeting = await em.findOne(Meeting, { id, builderId }, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!meeting) throw notFound('Meeting');
  return meeting;
}

/**
 * Moves `updatedAt` on when the record has changed: always forward, so that it tells two states of the record apart however
 * quickly they follow each other.
 */
export function touch(em: EntityManager, record: { updatedAt: string }, now: number): void {
  em.getUnitOfWork().computeChangeSets();
  const changed = em
    .getUnitOfWork()
    .getChangeSets()
    .some(({ entity }) => entity === record);
  if (changed) record.updatedAt = new Date(Math.max(now, Date.parse(record.updatedAt) + 1)).toISOString();
}

/**
 * Puts a person's text in place of the meeting's notes, unless somebody has changed the meeting since the person read it.
 * Part 7 of the decisions.
 */
export function rewriteMeetingNotes(
  writing: Writing,
  meetingId: string,
  { notes, expectedUpdatedAt }: { notes: string; expectedUpdatedAt: string },
): Promise<Meeting> {
  return changeMeeting(writing, meetingId, async (meeting, em) => {
    if (meeting.updatedAt !== expectedUpdatedAt) {
      throw conflict('MEETING_CHANGED', 'Somebody has changed the meeting since; read it again.');
    }
    if (meeting.templateId === null) {
      const { text, blocks } = rewriteNotes({ text: meeting.plainNotes ?? '', blocks: meeting.noteBlocks }, notes);
      Object.assign(meeting, { plainNotes: text || null, noteBlocks: blocks });
    } else {
      const { sections } = await em.findOneOrFail(MeetingTemplate, meeting.templateId);
      meeting.templateResponse = rewriteTemplate(meeting.templateResponse, sections, notes);
    }
  });
}
