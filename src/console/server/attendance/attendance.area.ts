import { SignOnEvent } from '../../../../entities/sign-on-event.entity.ts';
import { SignOnVisit } from '../../../../entities/sign-on-visit.entity.ts';
import { findSelection } from '../../../../schema/selection.ts';
import { CONFLICTS } from '../../../domain/attendance/decision-table.ts';
import { archiveVisit, closeVisit } from '../../../domain/attendance/manual-changes.ts';
import { resolveConflict } from '../../../domain/attendance/resolve-conflict.ts';
import { createVisit, dismissSignOff } from '../../../domain/attendance/settle-sign-off.ts';
import { signOnEvents, visits } from '../../../domain/readers/attendance.reader.ts';
import { type ConsoleArea, type ConsoleContext, changeOperation, listOperation } from '../console-area.ts';
import { attendanceTypes } from './attendance.schema.ts';
import { readChanges } from './changes.ts';
import { findConflict, listConflicts, parseConflictId, type ShownConflict } from './conflicts.ts';

type Apply<Changed> = Parameters<typeof changeOperation<Changed>>[1];

/**
 * Returns a change of the record that an argument names. Notes first that the staff user reads the worker's data: also the message of
 * `EDIT_CONFLICT` has the texts of the change before.
 */
const onRecord =
  <T>(entity: typeof SignOnVisit | typeof SignOnEvent, argument: string, apply: Apply<T>): Apply<T> =>
  async (change, args, context) => {
    const row = await context.database.fork().findOne<SignOnVisit | SignOnEvent>(entity, { id: args[argument] });
    if (row) context.personalReads.add(row.workerId, entity.name, row.builderId);
    return apply(change, args, context);
  };

const showVisit = ({ database }: ConsoleContext, visitId: string, info: object) =>
  visits.select(findSelection(info)).findOne(database, visitId);

const showChanged = (context: ConsoleContext, { visitId }: { visitId: string }, _: unknown, info: object) =>
  showVisit(context, visitId, info);

/** Corrections of attendance, and the changes that the board polls. */
export const attendanceArea: ConsoleArea = {
  types: attendanceTypes,
  pages: ['Conflict'],
  queries: {
    conflicts: listOperation('person.read', listConflicts),
    conflict: { action: 'person.read', resolve: (_, { id }, context) => findConflict(context, id) },
    changes: {
      action: 'records.read',
      resolve: (_, { after = null }, { database, clock }) => readChanges(database, after, clock.now()),
    },
  },
  mutations: {
    closeVisit: changeOperation(
      'visit.closed',
      onRecord(SignOnVisit, 'visitId', (change, { visitId, at, reason }, { staff }) =>
        closeVisit(change, { visitId, by: staff.name, at: at ?? undefined, reason }),
      ),
      showChanged,
    ),
    archiveVisit: changeOperation(
      'visit.archived',
      onRecord(SignOnVisit, 'visitId', (change, { visitId }) => archiveVisit(change, visitId)),
      showChanged,
    ),
    dismissSignOff: changeOperation(
      'sign_off.dismissed',
      onRecord(SignOnEvent, 'signOnEventId', dismissSignOff),
      ({ database }, { signOnEventId }, _, info) =>
        signOnEvents.select(findSelection(info)).findOne(database, signOnEventId),
    ),
    createVisit: changeOperation(
      'visit.created',
      onRecord(SignOnEvent, 'signOnEventId', createVisit),
      (context, _, visitId, info) => showVisit(context, visitId, info),
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
      recordedEvent({ eventId, eventWorkerId, builderId }: ShownConflict, _, context, info) {
        if (eventId) context.personalReads.add(eventWorkerId!, 'SignOnEvent', builderId);
        return eventId && context.loaders.load(signOnEvents.select(findSelection(info)), eventId);
      },
      visit({ visitId, eventWorkerId, builderId }: ShownConflict, _, context, info) {
        if (visitId) context.personalReads.add(eventWorkerId!, 'SignOnVisit', builderId);
        return visitId && context.loaders.load(visits.select(findSelection(info)), visitId);
      },
    },
  },
};
