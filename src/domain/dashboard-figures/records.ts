import type { InductionStatus, InsuranceStatus, InsuranceType } from '../../../schema/enums.ts';
import { statement } from '../../database/pool/pg-pipeline.ts';
import type { ReadDatabase } from '../../database/read/read-database.ts';
import { runSlowStatement } from '../../database/read/slow-read.ts';
import { toZoneDaySql } from '../../database/read/zone-day.ts';
import { type DayRange, type FigureFilter, OF_BUILDER, toMidnightSql } from './figure-query.ts';

const INDUCTIONS = statement('figures.inductions-by-status')`
  select status, count(*) from induction where ${OF_BUILDER} group by status order by status`;

/** SQL condition of insurances of active subcontractors, as in the list of a builder's insurances. */
const OF_ACTIVE_SUBCONTRACTOR = `exists (select from subcontractor s where s.id = subcontractor_id and s.archived_at is null)`;

/**
 * SQL of the days on which insurances that meet a condition end between two days, both inclusive. The index scan is a day longer at both
 * ends. RED-31.
 */
const toEndingDaysSql = (first: string, last: string, condition = 'true') => `select day from (
    select ${toZoneDaySql('expiry', '$2')} as day from insurance
    where builder_id = $1 and expiry >= ${toMidnightSql(`${first} - 1`, "'UTC'")} and expiry < ${toMidnightSql(`${last} + 2`, "'UTC'")}
      and ${OF_ACTIVE_SUBCONTRACTOR} and ${condition}) dated
  where day between ${first} and ${last}`;

const OF_TYPE_AND_STATUS = '($5::text is null or type = $5) and ($6::text is null or status = $6)';

const INSURANCES = statement('figures.insurances-by-month')`select to_char(month, 'YYYY-MM-DD'), coalesce(insurances, 0)
  from generate_series(date_trunc('month', $3::date::timestamp), $4::date::timestamp, interval '1 month') month
    left join (
      select date_trunc('month', day::timestamp) as month, count(*) as insurances from (
        ${toEndingDaysSql('$3::date', '$4::date', OF_TYPE_AND_STATUS)}) ending group by 1) counted using (month) order by month`;

const AWAITING = statement('figures.items-awaiting-action')`select
  (select count(*) from sign_on_conflict where builder_id = $1 and resolved_at is null),
  (select count(*) from sign_on_event where builder_id = $1 and status = 'PENDING_SIGN_ON' and status <> 'APPLIED'),
  (select count(*) from sign_on_event where builder_id = $1 and status = 'REJECTED' and status <> 'APPLIED'),
  (select coalesce(sum(added), 0) from list_total where list = 'timesheet' and builder_id = $1 and kind = 'WAITING_REVIEW'),
  (select count(*) from induction where builder_id = $1 and status = 'WAITING_REVIEW'),
  (select count(*) from (${toEndingDaysSql('today', 'today + $4::int')}) ending),
  (select count(*) from connection c join webhook_endpoint e on e.integrator_id = c.integrator_id
    join webhook_progress p on p.endpoint_id = e.id
    where c.builder_id = $1 and c.status = 'ACTIVE' and e.deleted_at is null and p.failing_since is not null
      and (e.builder_ids is null or $1 = any(e.builder_ids)))
  from (select ($3::timestamptz at time zone $2)::date as today) days`;

/** Returns the number of inductions of each status that there is. */
export async function readInductionsByStatus(database: ReadDatabase, { builderId, projectId }: FigureFilter) {
  const rows = await runSlowStatement(database, INDUCTIONS, [builderId, projectId]);
  return rows.map(([status, inductions]) => ({ status: status as InductionStatus, inductions: Number(inductions) }));
}

/** Filter of the insurances of a builder. */
export interface InsuranceFilter extends FigureFilter {
  /** Absent or null for all. */
  type?: InsuranceType | null;
  status?: InsuranceStatus | null;
}

/**
 * Returns the insurances of active subcontractors that end in each month of the range, also for months without any. The first and the
 * last month are counted within the range.
 */
export async function readInsurancesByMonth(
  database: ReadDatabase,
  { builderId, timeZone, type = null, status = null }: InsuranceFilter,
  { startDate, endDate }: DayRange,
) {
  const rows = await runSlowStatement(database, INSURANCES, [builderId, timeZone, startDate, endDate, type, status]);
  return rows.map(([month, insurances]) => ({ month: month!, insurances: Number(insurances) }));
}

/**
 * Returns how many records of the builder wait for a person.
 *
 * @param now ISO 8601
 * @param insuranceDays days from today in which an insurance ends
 */
export async function readItemsAwaitingAction(
  database: ReadDatabase,
  { builderId, timeZone }: FigureFilter,
  now: string,
  insuranceDays: number,
) {
  const [row] = await runSlowStatement(database, AWAITING, [builderId, timeZone, now, insuranceDays]);
  const [conflicts, pending, rejected, timesheets, inductions, insurances, endpoints] = row!.map(Number);
  return {
    signOnConflicts: conflicts!,
    pendingSignOffs: pending!,
    rejectedSignOffs: rejected!,
    timesheets: timesheets!,
    inductions: inductions!,
    insurances: insurances!,
    failingWebhookEndpoints: endpoints!,
  };
}
