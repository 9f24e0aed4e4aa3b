import { Builder } from '../../entities/builder.entity.ts';
import { Project } from '../../entities/project.entity.ts';
import { SignOnEvent } from '../../entities/sign-on-event.entity.ts';
import { SignOnVisit } from '../../entities/sign-on-visit.entity.ts';
import { Worker } from '../../entities/worker.entity.ts';
import { SignOnConflictCode } from '../../schema/enums.ts';
import { ProjectId } from '../../schema/scalars.ts';
import { CalendarDate, TimeZone } from '../../schema/time-zone.ts';
import { signOnConflicts, signOnEvents, visits } from '../../src/domain/readers/attendance.reader.ts';
import { pageEdge, recordEdge } from '../fields.ts';
import { DayArgs } from './attendance.input.ts';

/* What gates have reported, and the conflicts between reports. Only internal clients have the scope (ACC-8). */

const isPending = { unsettledStatus: 'PENDING_SIGN_ON' };

/** Edges of a project or builder: the visits and events of gates that are not settled. */
const createUnsettledEdges = (
  parent: typeof Project | typeof Builder,
  by: 'projectId' | 'builderId',
  pendingText: string,
  pendingOptions: Parameters<typeof pageEdge>[5],
) => [
  pageEdge(parent, 'openVisits', visits, by, 'The visits that have not ended.', { where: () => ({ open: true }) }),
  pageEdge(parent, 'pendingSignOffs', signOnEvents, by, pendingText, pendingOptions),
  pageEdge(
    parent,
    'rejectedSignOffs',
    signOnEvents,
    by,
    'The sign-offs that have waited, and then contradicted their sign-on.',
    { where: () => ({ unsettledStatus: 'REJECTED' }) },
  ),
  pageEdge(
    parent,
    'signOnConflicts',
    signOnConflicts,
    by,
    'The events that were refused with 409. The same request sent again is the same conflict.',
    { args: [{ code: SignOnConflictCode }] },
  ),
];

export const attendanceEdges = [
  pageEdge(Project, 'attendance', visits, 'projectId', 'The visits that began on a day, without the archived ones.', {
    args: [DayArgs],
    where: ({ date, timeZone }: DayArgs) => ({ date, timeZone: timeZone ?? 'UTC', notArchived: true }),
  }),
  ...createUnsettledEdges(
    Project,
    'projectId',
    'The sign-offs that wait for their sign-on; with a date, those of that day, by default in UTC.',
    {
      args: [{ date: CalendarDate, timeZone: TimeZone }],
      where: ({ date, timeZone }) => ({ ...isPending, ...(date && { date, timeZone: timeZone ?? 'UTC' }) }),
    },
  ),
  ...createUnsettledEdges(Builder, 'builderId', 'The sign-offs that wait for their sign-on.', {
    where: () => isPending,
  }),
  pageEdge(Worker, 'visits', visits, 'workerId', "The worker's visits, the archived ones included.", {
    args: [{ projectId: ProjectId }],
  }),
  pageEdge(SignOnVisit, 'events', signOnEvents, 'visitId', 'The sign-on that began it and the sign-off that ended it.'),
  recordEdge(SignOnEvent, 'visit', visits, 'visitId', 'The visit that it began or ended.', { nullable: true }),
];
