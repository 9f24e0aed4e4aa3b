import { SignOnConflict } from '../../../entities/sign-on-conflict.entity.ts';
import { SignOnEvent } from '../../../entities/sign-on-event.entity.ts';
import { OPEN, SignOnVisit } from '../../../entities/sign-on-visit.entity.ts';
import { Reader, type ReaderOptions } from '../../database/read/reader.ts';

const people = {
  joins: 'left join project on project.id = t.project_id left join worker on worker.id = t.worker_id',
  columns: {
    project: { from: 'project', fields: ['id', 'name', 'builderId'] },
    worker: { from: 'worker', fields: ['id', 'fullName', 'builderId'] },
  },
} satisfies ReaderOptions<never>;

const senders = {
  joins: `${people.joins} left join integrator on integrator.id = t.integrator_id`,
  columns: { ...people.columns, integrator: { from: 'integrator', fields: ['id', 'name'] } },
} satisfies ReaderOptions<never>;

const of = {
  builderId: 't.builder_id = :builderId',
  projectId: 't.project_id = :projectId',
  workerId: 't.worker_id = :workerId',
};

/** Midnight, by the clocks of the zone, of the day or of a later one. */
const midnight = (days: number) => `((:date::date + ${days})::timestamp at time zone :timeZone::text)`;

export const visits = new Reader(SignOnVisit, {
  ...people,
  filters: {
    ...of,
    date: `t.signed_on_at >= ${midnight(0)} and t.signed_on_at < ${midnight(1)}`,
    /** Taken by `date`. */
    timeZone: 'true',
    open: OPEN.replace(/\b\w+_at\b/g, 't.$&'),
    kept: 't.archived_at is null',
  },
});

export const signOnEvents = new Reader(SignOnEvent, {
  ...senders,
  filters: {
    ...of,
    visitId: 't.visit_id = :visitId',
    // Both conditions, so that the planner sees that the partial index will do.
    unsettled: `t.status = :unsettled and t.status <> 'APPLIED'`,
  },
  exclude: ['received'],
});

export const signOnConflicts = new Reader(SignOnConflict, {
  ...senders,
  filters: { ...of, code: 't.code = :code' },
  exclude: ['digest'],
});
