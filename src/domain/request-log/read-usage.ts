import type { UsageDay } from '../../../entities/usage.entity.ts';
import { type DateRange, toPlainInstant } from '../../../schema/range.ts';
import { statement } from '../../database/pool/pg-pipeline.ts';
import type { ReadDatabase } from '../../database/read/read-database.ts';
import { parseObjects } from '../../database/read/select-objects.ts';
import { runSlowStatement } from '../../database/read/slow-read.ts';
import { DAY_MS } from '../../shared/clock.ts';
import { invalidField } from '../../shared/errors.ts';

/** Numbers of requests. */
type Usage = Pick<UsageDay, 'requests' | 'rejections' | 'failures'>;

/** Days of the usage that an integrator reads at once. REQ-6. */
const MAX_DAYS = 31;

/** Days in UTC, both included. */
export interface UsageRange {
  since: string;
  until: string;
}

/** Throws 400 on the field for a range of no days or of more than the maximum. */
export function requireFewDays({ since, until }: UsageRange, maxDays: number, field: string): void {
  const days = (Date.parse(until) - Date.parse(since)) / DAY_MS + 1;
  if (days < 1 || days > maxDays) throw invalidField(field, `must be at most ${maxDays} days after the first day`);
}

/** Returns the days of a range of instants, by default the last 31. Throws 400 for more. */
export function toUsageRange({ startDate, endDate }: DateRange, now: number): UsageRange {
  const toDay = (time: number) => toPlainInstant(time).slice(0, 10);
  const afterStart = startDate ? Date.parse(startDate) + (MAX_DAYS - 1) * DAY_MS : now;
  const until = toDay(endDate ? Date.parse(endDate) : Math.min(now, afterStart));
  const since = toDay(startDate ? Date.parse(startDate) : Date.parse(until) - (MAX_DAYS - 1) * DAY_MS);
  if (endDate) requireFewDays({ since, until }, MAX_DAYS, 'endDate');
  return { since, until };
}

const SUMS = `'requests', sum(requests), 'rejections', sum(rejections), 'failures', sum(failures)`;

const SELECT_BY_DAY = statement('usage.by-day')`select json_build_object('date', date, ${SUMS}) from usage_day
  where date between $1::date and $2::date and ($3::text is null or integrator_id = $3) group by date order by date`;

const SELECT_BY_INTEGRATOR = statement('usage.by-integrator')`
  select json_build_object('id', integrator_id, ${SUMS}) from usage_day
  where date between $1::date and $2::date and integrator_id = any($3::text[]) group by integrator_id`;

/** Returns the days with requests, each with the sums of all integrators or of one. */
export const readUsageByDay = async (
  database: ReadDatabase,
  { since, until }: UsageRange,
  integratorId: string | null,
): Promise<(Usage & { date: string })[]> =>
  parseObjects(await runSlowStatement(database, SELECT_BY_DAY, [since, until, integratorId]));

/** Returns the sums of each integrator. */
export async function readUsageOf(
  database: ReadDatabase,
  integratorIds: readonly string[],
  { since, until }: UsageRange,
): Promise<Map<string, Usage>> {
  const rows = await runSlowStatement(database, SELECT_BY_INTEGRATOR, [since, until, integratorIds]);
  const sums = new Map(integratorIds.map((id) => [id, { requests: 0, rejections: 0, failures: 0 }]));
  for (const { id, ...sum } of parseObjects<Usage & { id: string }>(rows)) sums.set(id, sum);
  return sums;
}

const SELECT_OPERATIONS = statement('usage.by-operation')`
  select json_build_object('date', date, 'clientId', client_id, 'operation', operation, 'requests', requests,
    'rejections', rejections, 'failures', failures)
  from usage_day where integrator_id = $1 and date between $2::date and $3::date order by date, client_id, operation`;

/** Returns the requests of an integrator by day, client and operation. */
export const readUsageByOperation = async (
  database: ReadDatabase,
  integratorId: string,
  { since, until }: UsageRange,
): Promise<UsageDay[]> =>
  parseObjects(await runSlowStatement(database, SELECT_OPERATIONS, [integratorId, since, until]));
