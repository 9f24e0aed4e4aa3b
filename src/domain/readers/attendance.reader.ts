import { SignOnConflict } from '../../../entities/sign-on-conflict.entity.ts';
import { SignOnEvent } from '../../../entities/sign-on-event.entity.ts';
import { OPEN, SignOnVisit } from '../../../entities/sign-on-visit.entity.ts';
import { equal } from '../../database/read/filter.ts';
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

/** SQL of midnight in the time zone, `days` after the date. */
const midnightAfter = (days: number) => `((:date::date + ${days})::timestamp at time zone :timeZone::text)`;

const toDayFilters = (column: string) => ({
  date: { sql: `t.${column} >= ${midnightAfter(0)} and t.${column} < ${midnightAfter(1)}` },
  /** Parameter of `date`. */
  timeZone: { sql: 'true' },
});

export const visits = new Reader(SignOnVisit, {
  ...summaries,
  filters: {
    ...equal('builderId', 'projectId', 'workerId'),
    ...toDayFilters('signed_on_at'),
    open: { sql: OPEN.replace(/\b\w+_at\b/g, 't.$&') },
    notArchived: { sql: 't.archived_at is null' },
  },
});

export const signOnEvents = new Reader(SignOnEvent, {
  ...summariesWithIntegrator,
  filters: {
    ...equal('builderId', 'projectId', 'workerId', 'visitId'),
    ...toDayFilters('occurred_at'),
    // The second condition is that of the partial index, for the planner.
    unsettledStatus: { sql: `t.status = :unsettledStatus and t.status <> 'APPLIED'` },
  },
  exclude: ['received'],
});

export const signOnConflicts = new Reader(SignOnConflict, {
  ...summariesWithIntegrator,
  filters: equal('builderId', 'projectId', 'workerId', 'code'),
  exclude: ['digest'],
});
