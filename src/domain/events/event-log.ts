import type { Database } from '../../database/database.ts';
import { statement } from '../../database/pool/pg-pipeline.ts';
import type { StatementRunner } from '../../database/pool/statement-runner.ts';
import type { ReadDatabase } from '../../database/read/read-database.ts';
import { runSlowStatement } from '../../database/read/slow-read.ts';

/** The connections of a regional database that the log is read and numbered on. */
export interface LogDatabase {
  readonly runner: StatementRunner;
  readonly backgroundRunner: StatementRunner;
}

/** The connections that pages of the log are read on. Without those for slow reads, `runner` reads everything. */
type LogReader = Pick<LogDatabase, 'runner'> & Partial<Pick<ReadDatabase, 'slowRunner' | 'limits'>>;

/** Position in a region's log: of an event, or the one before the first. Days do not decrease with the numbers. */
export interface LogPosition {
  /** UTC day on which the event was numbered, such as `2026-11-22`. */
  day: string;
  number: number;
}

/** State of a region's log. */
export interface LogHead extends LogPosition {
  /** Renewed by a restore (EVT-12), with the secret: positions of another epoch mean other events. */
  epoch: string;
  /** UUID from which cursors and the ids of events are computed. */
  secret: string;
  /** Highest number of the dropped days. */
  droppedNumber: number;
}

/** A numbered change of a record. It contains no data of the record. */
export interface LoggedEvent extends LogPosition {
  /** `evt_…`, unique in all epochs. */
  id: string;
  /** `<resource>.created`, `.updated`, `.archived` or `.restored`. */
  type: string;
  recordId: string;
  builderId: string;
  projectId: string | null;
  /** The subcontractor or meeting of the record; the source of a photo. */
  parentId: string | null;
  /** ISO 8601 in UTC with milliseconds. */
  occurredAt: string;
}

/** Which events a page contains, in the form that `SELECT_PAGE` evaluates. See `EventFilter`. */
export interface FilterParameters {
  /** JSON object: scope by type. */
  types: string;
  /** JSON object: allowed scopes by builder id; null for every builder. */
  builders: string | null;
}

export interface LogPage {
  events: LoggedEvent[];
  /** Position after the events that were read, including those that do not match. */
  next: LogPosition;
  /** Whether the log has events after `next`. */
  hasMore: boolean;
}

const SELECT_HEAD = statement('events.head')`
  select epoch, secret, to_char(last_day, 'YYYY-MM-DD'), last_number, dropped_number from event_log where id`;

const NUMBER = statement('events.number')`select number_events($1::int, $2::jsonb),
  (select json_build_object('origin', origin, 'epoch', epoch, 'number', last_number) from event_log where id),
  exists (select from webhook_endpoint where status = 'ACTIVE' and deleted_at is null)`;

const COLUMNS = `to_char(day, 'YYYY-MM-DD') as day, number, id, type, record_id, builder_id, project_id, parent_id,
  to_char(occurred_at, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as occurred_at`;

/**
 * Partitions are scanned in their order, and only as many as the page needs. The last row is the position of the last scanned event, with
 * the number of scanned events as its id. `given` parses the parameters once.
 */
const SELECT_PAGE = statement('events.page')`with scanned as materialized (
    select ${COLUMNS} from event
    where day >= $1::date and (event.day, event.number) > ($1::date, $2::bigint)
    order by event.day, event.number limit $3::int),
  given as materialized (select $4::jsonb as types, $5::jsonb as builders),
  matching as (
    select scanned.* from scanned, given
    where types ? type and (builders is null or builders -> builder_id ? (types ->> type))
    order by number limit $6::int)
  select * from matching
  union all select max(day), max(number), count(*)::text, null, null, null, null, null, null from scanned`;

/** Maximum events that one page scans. It bounds the cost of a page when the caller may see few of them (EVT-9). */
export const MAX_SCANNED = 5_000;

/** Maximum events that are numbered in one transaction. */
const BATCH_SIZE = 1_000;

/** State of a process that has not seen the log before. */
export const UNSEEN = '{}';

/** Result of one numbering. */
interface Numbering {
  /** Events that were numbered; null when another process is numbering. */
  numbered: number | null;
  /** State of the log before. */
  state: string | null;
  /** Whether events are delivered to an endpoint. */
  hasEndpoints: boolean;
}

/**
 * Numbers committed events, up to a batch. After the promotion of a synchronous standby the epoch is kept for a process that saw the log
 * before, and finds it no shorter.
 *
 * @param lastState The state that the previous call of this process returned. Before the first call: null to leave the log to another
 *   process after a promotion, as a reader does who need not wait for the sequencer, and `UNSEEN` to renew the epoch then.
 */
export async function numberNextEvents(
  { backgroundRunner }: LogDatabase,
  lastState: string | null,
  batchSize = BATCH_SIZE,
): Promise<Numbering> {
  const [row] = await backgroundRunner.run(NUMBER, [String(batchSize), lastState]);
  return { numbered: row![0] === null ? null : Number(row![0]), state: row![1]!, hasEndpoints: row![2] === 't' };
}

/** Numbers committed events, up to a batch. Returns their count; null when another process is numbering. */
export const numberEvents = async (database: LogDatabase, batchSize?: number): Promise<number | null> =>
  (await numberNextEvents(database, UNSEEN, batchSize)).numbered;

/** Whether more events probably wait. A batch takes a part of each open transaction, so that it may end before `BATCH_SIZE`. */
export const mayHaveMore = (numbered: number | null): boolean => numbered !== null && numbered >= BATCH_SIZE / 10;

/** Returns the state of the log, with the position of its last event. */
export async function readHead(database: LogDatabase): Promise<LogHead> {
  let [row] = await database.runner.run(SELECT_HEAD, []);
  if (!row) {
    // The first numbering creates it.
    await numberEvents(database);
    [row] = await database.runner.run(SELECT_HEAD, []);
  }
  const [epoch, secret, day, number, droppedNumber] = row as string[];
  return { epoch: epoch!, secret: secret!, day: day!, number: Number(number), droppedNumber: Number(droppedNumber) };
}

/** Returns up to `limit` matching events after the position. It passes over a bounded number of events that do not match. */
export async function readLogPage(
  { runner, slowRunner, limits = null }: LogReader,
  after: LogPosition,
  filter: FilterParameters,
  limit: number,
): Promise<LogPage> {
  const events: LoggedEvent[] = [];
  let next = after;
  // Most pages are full after few events, so that the first scan is short.
  const rest = MAX_SCANNED - 2 * limit;
  for (const scan of [2 * limit, rest]) {
    const values = [
      next.day,
      String(next.number),
      String(scan),
      filter.types,
      filter.builders,
      String(limit - events.length),
    ];
    const rows = await (scan === rest && slowRunner
      ? runSlowStatement({ slowRunner, limits }, SELECT_PAGE, values)
      : runner.run(SELECT_PAGE, values));
    const [day, number, scanned] = rows.pop()!;
    events.push(...rows.map(toEvent));
    const isEnd = Number(scanned) < scan;
    if (events.length === limit) {
      next = { day: events.at(-1)!.day, number: events.at(-1)!.number };
      return { events, next, hasMore: !isEnd || Number(number) > next.number };
    }
    if (number !== null) next = { day: day!, number: Number(number) };
    if (isEnd) return { events, next, hasMore: false };
  }
  return { events, next, hasMore: true };
}

function toEvent([day, number, id, type, recordId, builderId, projectId, parentId, occurredAt]: (string | null)[]) {
  return {
    day: day!,
    number: Number(number),
    id: id!,
    type: type!,
    recordId: recordId!,
    builderId: builderId!,
    projectId: projectId!,
    parentId: parentId!,
    occurredAt: occurredAt!,
  } satisfies LoggedEvent;
}

const SELECT_POSITION_BEFORE = statement('events.position-before')`
  select to_char(day, 'YYYY-MM-DD'), number - 1 from event
  where day >= ($1::timestamptz at time zone 'UTC')::date and occurred_at >= $1::timestamptz order by day, number limit 1`;

/** Returns the position before the first kept event of the instant or later; that of the last event where there is none. */
export async function findPositionBefore(database: LogDatabase, instant: string): Promise<LogPosition> {
  const [row] = await database.backgroundRunner.run(SELECT_POSITION_BEFORE, [instant]);
  if (row) return { day: row[0]!, number: Number(row[1]) };
  const { day, number } = await readHead(database);
  return { day, number };
}

/** Renews the epoch of the log: every cursor expires, and readers copy the lists again (EVT-12). Returns the new epoch. */
export async function renewEpoch(database: Pick<Database, 'fork'>): Promise<string> {
  const [row] = await database.fork().execute<{ epoch: string }[]>('select public.renew_event_epoch() as epoch');
  return row!.epoch;
}
