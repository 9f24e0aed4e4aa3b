import { Builder } from '../../entities/builder.entity.ts';
import { Project } from '../../entities/project.entity.ts';
import { SignOnEvent } from '../../entities/sign-on-event.entity.ts';
import { SignOnVisit } from '../../entities/sign-on-visit.entity.ts';
import { Worker } from '../../entities/worker.entity.ts';
import { SignOnConflictCode } from '../../schema/enums.ts';
import { ProjectId } from '../../schema/scalars.ts';
import { CalendarDate, TimeZone } from '../../schema/time-zone.ts';
import { signOnConflicts, signOnEvents, visits } from '../../src/domain/readers/attendance.reader.ts';
import { pageEdge, recordEdge } from '../edges.ts';
import { DayArgs } from './attendance.input.ts';

/* What gates have reported, and the conflicts between reports. Only internal clients have the scope (ACC-8). */

const openVisits = { description: 'The visits that have not ended.', reader: visits, where: () => ({ open: true }) };
const pendingSignOffs = {
  description: 'The sign-offs that wait for their sign-on.',
  reader: signOnEvents,
  where: () => ({ unsettledStatus: 'PENDING_SIGN_ON' }),
};
const rejectedSignOffs = {
  description: 'The sign-offs that have waited, and then contradicted their sign-on.',
  reader: signOnEvents,
  where: () => ({ unsettledStatus: 'REJECTED' }),
};
const conflicts = {
  description: 'The events that were refused with 409. The same request sent again is the same conflict.',
  reader: signOnConflicts,
  args: [{ code: SignOnConflictCode }],
};

export const attendanceEdges = [
  pageEdge(Project, 'attendance', {
    description: 'The visits that began on a day, without the archived ones.',
    reader: visits,
    by: 'projectId',
    args: [DayArgs],
    where: ({ date, timeZone }: DayArgs) => ({ date, timeZone: timeZone ?? 'UTC', notArchived: true }),
  }),
  pageEdge(Project, 'openVisits', { ...openVisits, by: 'projectId' }),
  pageEdge(Project, 'pendingSignOffs', {
    ...pendingSignOffs,
    description: 'The sign-offs that wait for their sign-on; with a date, those of that day, by default in UTC.',
    by: 'projectId',
    args: [{ date: CalendarDate, timeZone: TimeZone }],
    where: ({ date, timeZone }: Partial<DayArgs>) => ({
      unsettledStatus: 'PENDING_SIGN_ON',
      ...(date && { date, timeZone: timeZone ?? 'UTC' }),
    }),
  }),
  pageEdge(Project, 'rejectedSignOffs', { ...rejectedSignOffs, by: 'projectId' }),
  pageEdge(Project, 'signOnConflicts', { ...conflicts, by: 'projectId' }),
  pageEdge(Builder, 'openVisits', { ...openVisits, by: 'builderId' }),
  pageEdge(Builder, 'pendingSignOffs', { ...pendingSignOffs, by: 'builderId' }),
  pageEdge(Builder, 'rejectedSignOffs', { ...rejectedSignOffs, by: 'builderId' }),
  pageEdge(Builder, 'signOnConflicts', { ...conflicts, by: 'builderId' }),
  pageEdge(Worker, 'visits', {
    description: "The worker's visits, the archived ones included.",
    reader: visits,
    by: 'workerId',
    args: [{ projectId: ProjectId }],
  }),
  pageEdge(SignOnVisit, 'events', {
    description: 'The sign-on that began it and the sign-off that ended it.',
    reader: signOnEvents,
    by: 'visitId',
  }),
  recordEdge(SignOnEvent, 'visit', {
    description: 'The visit that it began or ended.',
    reader: visits,
    key: 'visitId',
    nullable: true,
  }),
];
