import { SignOnConflict } from '../../../entities/sign-on-conflict.entity.ts';
import { SignOnEvent } from '../../../entities/sign-on-event.entity.ts';
import { OPEN, SignOnVisit } from '../../../entities/sign-on-visit.entity.ts';
import { Reader, type ReaderOptions } from '../../database/read/reader.ts';

const summaries = {
  joins: 'left join project on project.id = t.project_id left join worker on worker.id = t.worker_id',
  columns: {
    project: { from: 'project', fields: ['id', 'name', 'builderId'] },
    worker: { from: 'worker', fields: ['id', 'fullName', 'builderId'] },
  },
} satisfies ReaderOptions<never>;

const summariesWithIntegrator = {
  joins: `${summaries.joins} left join integrator on integrator.id = t.integrator_id`,
  columns: { ...summaries.columns, integrator: { from: 'integrator', fields: ['id', 'name'] } },
} satisfies ReaderOptions<never>;

const commonFilters = {
  builderId: 't.builder_id = :builderId',
  projectId: 't.project_id = :projectId',
  workerId: 't.worker_id = :workerId',
};

/** SQL of midnight in the time zone, `days` after the date. */
const midnightAfter = (days: number) => `((:date::date + ${days})::timestamp at time zone :timeZone::text)`;

export const visits = new Reader(SignOnVisit, {
  ...summaries,
  filters: {
    ...commonFilters,
    date: `t.signed_on_at >= ${midnightAfter(0)} and t.signed_on_at < ${midnightAfter(1)}`,
    /** Parameter of `date`. */
    timeZone: 'true',
    open: OPEN.replace(/\b\w+_at\b/g, 't.$&'),
    notArchived: 't.archived_at is null',
  },
});

export const signOnEvents = new Reader(SignOnEvent, {
  ...summariesWithIntegrator,
  filters: {
    ...commonFilters,
    visitId: 't.visit_id = :visitId',
    date: `t.occurred_at >= ${midnightAfter(0)} and t.occurred_at < ${midnightAfter(1)}`,
    /** Parameter of `date`. */
    timeZone: 'true',
    // The second condition is that of the partial index, for the planner.
    unsettledStatus: `t.status = :unsettledStatus and t.status <> 'APPLIED'`,
  },
  exclude: ['received'],
});

export const signOnConflicts = new Reader(SignOnConflict, {
  ...summariesWithIntegrator,
  filters: { ...commonFilters, code: 't.code = :code' },
  exclude: ['digest'],
});
