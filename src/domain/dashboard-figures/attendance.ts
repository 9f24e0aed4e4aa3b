import { OPEN } from '../../../entities/sign-on-visit.entity.ts';
import { statement } from '../../database/pool/pg-pipeline.ts';
import type { ReadDatabase } from '../../database/read/read-database.ts';
import { runSlowStatement } from '../../database/read/slow-read.ts';
import {
  type DayRange,
  type FigureFilter,
  LIMIT_GROUPS,
  OF_BUILDER,
  requireFewGroups,
  toMidnightSql,
  toRangeParameters,
} from './figure-query.ts';

/** Weeks whose same weekday is typical of a day. */
const TYPICAL_WEEKS = 8;

/** SQL condition of the visits that began on a day of `toBoundsSql` and are not archived. */
const BEGAN_ON_DAY = `${OF_BUILDER} and archived_at is null and signed_on_at >= begins_at and signed_on_at < ends_at`;

/**
 * SQL of the bounds of a day, as columns. Behind `offset 0` they are computed once per day. The visits of each day are counted by an
 * aggregate inside `lateral`: PostgreSQL may otherwise read all visits of the builder, and compare each with the bounds of every day.
 */
const toBoundsSql = (day: string) =>
  `${toMidnightSql(day, '$3')} as begins_at, ${toMidnightSql(`${day} + 1`, '$3')} as ends_at`;

/** The inner `group by` may hash the workers, which `count(distinct worker_id)` would sort. */
const BY_DAY = statement('figures.attendance-by-day')`select to_char(day, 'YYYY-MM-DD'), visits, workers
  from (select $4::date + n as day, ${toBoundsSql('$4::date + n')}
      from generate_series(0, $5::date - $4::date) n offset 0) days
    cross join lateral (
      select coalesce(sum(visits), 0) as visits, count(*) as workers
      from (select worker_id, count(*) as visits from sign_on_visit where ${BEGAN_ON_DAY} group by worker_id) by_worker) counted
  order by day`;

/** An hour of any time zone is four quarters of an hour of UTC, so that the zone's hour is computed once per quarter. */
const BY_HOUR = statement('figures.sign-ons-by-hour')`with visits as (
    select week, extract(hour from quarter at time zone $3)::int as hour, sum(visits) as visits
    from (select week, ${toBoundsSql('$4::date - 7 * week')} from generate_series(0, ${TYPICAL_WEEKS}) week offset 0) days
      cross join lateral (
        select date_bin('15 minutes', signed_on_at, 'epoch') as quarter, count(*) as visits
        from sign_on_visit where ${BEGAN_ON_DAY} group by 1) by_quarter
    group by 1, 2)
  select hour, coalesce(sum(visits) filter (where week = 0), 0),
    coalesce(sum(visits) filter (where week > 0), 0)
      / greatest(1, (select count(distinct week) from visits where week > 0))
  from generate_series(0, 23) hour left join visits using (hour) group by hour order by hour`;

const ON_SITE = statement('figures.workers-on-site')`select project.id, project.name, on_site, count - on_site from (
    select project_id, count(*) as count,
      count(*) filter (where signed_on_at >= ${toMidnightSql('($3::timestamptz at time zone $2)::date', '$2')}) as on_site
    from sign_on_visit where builder_id = $1 and ${OPEN} group by project_id) visits
  join project on project.id = project_id order by project.name, project.id ${LIMIT_GROUPS}`;

/** Sign-offs of the four weeks before a day are usual. The index of the project's visits finds them. */
const USUAL_END = statement('figures.usual-end')`
  select to_char(($4::date + usual) at time zone $3, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') from (
    select percentile_disc(0.5) within group (order by (signed_off_at at time zone $3)::time) as usual from sign_on_visit
    where builder_id = $1 and project_id = $2 and archived_at is null and signed_off_at is not null
      and signed_on_at >= ${toMidnightSql('$4::date - 28', '$3')} and signed_on_at < ${toMidnightSql('$4::date', '$3')}) visits`;

const AWAITING = statement('figures.attendance-awaiting-action')`
  select (select count(*) from sign_on_conflict where ${OF_BUILDER} and resolved_at is null),
  (select count(*) from sign_on_event where ${OF_BUILDER} and status = 'PENDING_SIGN_ON' and status <> 'APPLIED'),
  (select count(*) from sign_on_visit where ${OF_BUILDER} and ${OPEN})`;

/** Returns the attendance of each day of the range, also of days without visits. */
export async function readAttendanceByDay(database: ReadDatabase, filter: FigureFilter, range: DayRange) {
  const rows = await runSlowStatement(database, BY_DAY, toRangeParameters(filter, range));
  return rows.map(([date, visits, workers]) => ({ date: date!, visits: Number(visits), workers: Number(workers) }));
}

/** Returns the sign-ons of each hour of the day, 0 to 23, with the average of that weekday in the eight weeks before. */
export async function readSignOnsByHour(database: ReadDatabase, filter: FigureFilter, date: string) {
  const { builderId, projectId, timeZone } = filter;
  const rows = await runSlowStatement(database, BY_HOUR, [builderId, projectId, timeZone, date]);
  return rows.map(([hour, signOns, typical]) => {
    return { hour: Number(hour), signOns: Number(signOns), typicalSignOns: Math.round(Number(typical) * 100) / 100 };
  });
}

/**
 * Returns the visits that have not ended, of each project that has any, by its name.
 *
 * @param now ISO 8601
 */
export async function readWorkersOnSite(database: ReadDatabase, filter: FigureFilter, now: string) {
  const { builderId, timeZone } = filter;
  const rows = await runSlowStatement(database, ON_SITE, [builderId, timeZone, now]);
  return requireFewGroups(rows).map(([id, name, onSite, earlier]) => {
    return { project: { id, name, builderId }, onSite: Number(onSite), fromEarlierDays: Number(earlier) };
  });
}

/** Returns when visits of a project usually end on a day: the median time of day of its sign-offs. Null without sign-offs. */
export async function readUsualEnd(database: ReadDatabase, filter: FigureFilter, date: string): Promise<string | null> {
  const { builderId, projectId, timeZone } = filter;
  const [row] = await runSlowStatement(database, USUAL_END, [builderId, projectId, timeZone, date]);
  return row![0]!;
}

/** Returns how many conflicts, sign-offs without sign-on and open visits wait for a person. */
export async function readAttendanceAwaitingAction(database: ReadDatabase, { builderId, projectId }: FigureFilter) {
  const [row] = await runSlowStatement(database, AWAITING, [builderId, projectId]);
  const [signOnConflicts, pendingSignOffs, openVisits] = row!.map(Number);
  return { signOnConflicts: signOnConflicts!, pendingSignOffs: pendingSignOffs!, openVisits: openVisits! };
}
