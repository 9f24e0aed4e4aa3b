import type { FilterQuery } from '@mikro-orm/core';
import { LoggedRequest } from '../../../entities/usage.entity.ts';
import type { Database } from '../../database/database.ts';
import { statement } from '../../database/pool/pg-pipeline.ts';
import { decodeListCursor, encodeListCursor, readAfter } from '../../database/read/list-cursor.ts';
import { runSlowStatement } from '../../database/read/slow-read.ts';
import { DAY_MS } from '../../shared/clock.ts';

/** Days for which failed requests are kept. REQ-1. */
export const LOG_DAYS = 7;

/** Conditions of which all must hold; absent ones do not restrict. */
export interface LogFilter {
  integratorId?: string | null;
  requestId?: string | null;
  status?: number | null;
  code?: string | null;
  /** Instants, both included. */
  startDate?: string | null;
  endDate?: string | null;
}

/** Returns a page of the failed requests of the last seven days, the newest first. It may have to pass over many that do not match. */
export async function readRequestLog(
  database: Database,
  filter: LogFilter,
  { cursor, limit, now }: { cursor: string | null; limit: number; now: number },
): Promise<{ data: LoggedRequest[]; meta: { nextCursor: string | null } }> {
  const { startDate, endDate, ...equal } = filter;
  const scope = { list: 'request-log', filters: { ...filter } };
  const position = decodeListCursor(scope, cursor ?? '');
  const oldest = new Date(now - LOG_DAYS * DAY_MS).toISOString();
  const where: FilterQuery<LoggedRequest>[] = [
    Object.fromEntries(Object.entries(equal).filter(([, value]) => value != null)),
    { at: { $gte: startDate && startDate > oldest ? startDate : oldest, ...(endDate && { $lte: endDate }) } },
  ];
  if (position) {
    const { afterValue: at, afterId } = position;
    where.push({ $or: [{ at: { $lt: at } }, { at, id: { $lt: Number(afterId) } }] });
  }
  const read = () =>
    database.fork().find(LoggedRequest, { $and: where }, { orderBy: { at: 'desc', id: 'desc' }, limit: limit + 1 });
  const rows = await readAfter(position, database.limits ? database.limits.runSlowRead(read) : read());
  const last = rows.length > limit ? rows[limit - 1]! : null;
  const nextCursor = last && encodeListCursor(scope, { afterValue: last.at, afterId: String(last.id), total: '' });
  return { data: rows.slice(0, limit), meta: { nextCursor } };
}

/** A day's requests are purged together, so that the two counts are of the same requests. */
const COUNT_DROPPED = statement('request-log.dropped')`
  select coalesce(sum(rejections + failures), 0) - (select count(*) from request_log
    where integrator_id = $1 and at >= $2::date and at < $3::date + 1)
  from usage_day where integrator_id = $1 and date between $2::date and $3::date`;

/** Returns how many failed requests of an integrator the log does not hold, of the days of the range. REQ-2. */
export async function countDropped(
  database: Database,
  integratorId: string,
  { startDate, endDate, now }: Pick<LogFilter, 'startDate' | 'endDate'> & { now: number },
): Promise<number> {
  const [oldest, today] = [now - LOG_DAYS * DAY_MS, now].map((at) => new Date(at).toISOString().slice(0, 10));
  const since = startDate?.slice(0, 10) ?? oldest!;
  const values = [integratorId, since > oldest! ? since : oldest, endDate?.slice(0, 10) ?? today];
  const [[count]] = (await runSlowStatement(database, COUNT_DROPPED, values)) as [[string]];
  return Number(count);
}
