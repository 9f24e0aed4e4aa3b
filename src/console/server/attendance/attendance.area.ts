import { SignOnVisit } from '../../../../entities/sign-on-visit.entity.ts';
import { findSelection } from '../../../../schema/selection.ts';
import { CONFLICTS } from '../../../domain/attendance/decision-table.ts';
import { archiveVisit, closeVisit } from '../../../domain/attendance/manual-changes.ts';
import { resolveConflict } from '../../../domain/attendance/resolve-conflict.ts';
import { signOnEvents, visits } from '../../../domain/readers/attendance.reader.ts';
import { type ConsoleArea, type ConsoleContext, changeOperation, listOperation } from '../console-area.ts';
import { attendanceTypes } from './attendance.schema.ts';
import { findConflict, listConflicts, parseConflictId, type ShownConflict } from './conflicts.ts';

/** Notes that the staff user reads the worker's data: also the message of `EDIT_CONFLICT` has the texts of the change before. */
async function noteWorker({ database, personalReads }: ConsoleContext, visitId: string): Promise<void> {
  const visit = await database.fork().findOne(SignOnVisit, { id: visitId });
  if (visit) personalReads.add(visit.workerId, 'SignOnVisit', visit.builderId);
}

const showChanged = (context: ConsoleContext, { visitId }: { visitId: string }, _: unknown, info: object) =>
  visits.select(findSelection(info)).findOne(context.database, visitId);

/** Returns what changed since a poll. CON-8. */
async function findChanges({ changeFeed, database }: ConsoleContext, after: string | null) {
  const { cursor, changed, reset } = await changeFeed.findChanges(database, after);
  return {
    cursor,
    reset,
    projectIds: [...new Set(changed.map(({ projectId }) => projectId).filter((id) => id !== null))],
    builderIds: [...new Set(changed.map(({ builderId }) => builderId))],
  };
}

/** Corrections of attendance, and the changes that the board polls. */
export const attendanceArea: ConsoleArea = {
  types: attendanceTypes,
  pages: ['Conflict'],
  queries: {
    conflicts: listOperation('person.read', listConflicts),
    conflict: { action: 'person.read', resolve: (_, { id }, context) => findConflict(context, id) },
    changes: { action: 'records.read', resolve: (_, { after = null }, context) => findChanges(context, after) },
  },
  mutations: {
    closeVisit: changeOperation(
      'visit.closed',
      async (change, { visitId, at, reason }, context) => {
        await noteWorker(context, visitId);
        return closeVisit(change, { visitId, by: context.staff.name, at: at ?? undefined, reason });
      },
      showChanged,
    ),
    archiveVisit: changeOperation(
      'visit.archived',
      async (change, { visitId }, context) => {
        await noteWorker(context, visitId);
        return archiveVisit(change, visitId);
      },
      showChanged,
    ),
    resolveConflict: changeOperation(
      'conflict.resolved',
      async (change, { id, resolution, reason }, context) => {
        // Notes that the worker's data are read.
        await findConflict(context, id);
        return resolveConflict(change, { id: parseConflictId(id), resolution, reason, by: context.staff.name });
      },
      (context, { id }) => findConflict(context, id),
    ),
  },
  fields: {
    Conflict: {
      description: ({ code }: ShownConflict) => CONFLICTS[code],
      recordedEvent: ({ eventId }: ShownConflict, _, context, info) =>
        eventId && context.loaders.load(signOnEvents.select(findSelection(info)), eventId),
      visit: ({ visitId }: ShownConflict, _, context, info) =>
        visitId && context.loaders.load(visits.select(findSelection(info)), visitId),
    },
  },
};
