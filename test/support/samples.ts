import { randomUUID } from 'node:crypto';
import type { Database } from '../../src/database/database.ts';

/**
 * A real id of each kind, all of one builder and belonging together: the project is one on which the subcontractor works, the
 * insurance is the subcontractor's, and so on. By the name of the argument's scalar.
 */
export type Samples = Record<string, string>;

/** Scalars of which there is a sample. */
export const SAMPLED = new Set([
  'BuilderId',
  'CalendarDate',
  'SubcontractorId',
  'ProjectId',
  'SwmsId',
  'PrequalificationId',
  'InsuranceId',
  'InductionKey',
  'TimesheetId',
  'DefectId',
  'MeetingId',
]);

/** One row of the builder with everything that an operation may ask for. */
const COMPLETE = `select s.id as "SubcontractorId", p.id as "ProjectId", w.id as "SwmsId", q.id as "PrequalificationId",
    i.id as "InsuranceId", n.id as "InductionKey", t.id as "TimesheetId", d.id as "DefectId", m.id as "MeetingId",
    a.worker_id as "WorkerId"
  from subcontractor s
  join induction n on n.subcontractor_id = s.id
  join project p on p.id = n.project_id
  join swms_document w on w.subcontractor_id = s.id
  join prequalification q on q.subcontractor_id = s.id
  join insurance i on i.subcontractor_id = s.id
  join timesheet t on t.project_id = p.id
  join defect d on d.project_id = p.id
  join site_access a on a.project_id = p.id
  join meeting m on m.builder_id = s.builder_id
  where s.builder_id = ? and s.archived_at is null and not s.is_builder
  order by s.id limit 1`;

export async function samplesOf(database: Database, builderId: string): Promise<Samples> {
  const [row] = (await database.fork().execute(COMPLETE, [builderId])) as Samples[];
  if (!row) throw new Error(`Builder ${builderId} has no complete sample.`);
  return { BuilderId: builderId, CalendarDate: '2026-03-02', ...row };
}

/**
 * A body that each writing operation accepts, by its field in the schema; a new one each time, so that nothing is replayed.
 * An operation that takes a body and stands not here fails the tests that call every operation.
 */
export const BODIES: Record<string, (samples: Samples) => Record<string, unknown>> = {
  recordSignOnEvent: ({ WorkerId }) => ({
    sourceEventId: `gate-${randomUUID()}`,
    workerId: WorkerId,
    type: 'SIGN_ON',
    occurredAt: '2026-05-04T06:30:00Z',
  }),
  createMeeting: ({ ProjectId }) => ({ title: 'Weekly site meeting', projectId: ProjectId }),
  updateMeeting: () => ({ title: 'Weekly site meeting, moved' }),
  upsertMeetingNote: () => ({ externalSourceId: `note-${randomUUID()}`, title: 'Actions', summaryMarkdown: 'None.' }),
};
