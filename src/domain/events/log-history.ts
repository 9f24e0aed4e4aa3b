import type { Database } from '../../database/database.ts';
import type { LogHead, LogPosition } from './event-log.ts';

/** Milliseconds after which events are read from a standby. Its data may be up to five seconds old. */
const OLD_MS = 60_000;

/** Milliseconds between two recorded ends of the log. */
const INTERVAL_MS = 1_000;

/** Ends of the log in the last minute, from which the age of a position follows without a query. */
export class LogHistory {
  /** Oldest first. The first one is old, once the process has run for a minute. */
  readonly #heads: { at: number; number: number }[] = [];

  /** @param now Milliseconds of a clock that does not jump. */
  add({ number }: Pick<LogHead, 'number'>, now: number): void {
    const last = this.#heads.at(-1);
    if (last && now - last.at < INTERVAL_MS) return;
    this.#heads.push({ at: now, number });
    while (this.#heads.length > 1 && now - this.#heads[1]!.at >= OLD_MS) this.#heads.shift();
  }

  /** Whether the next event after the position is at least a minute old. False while that is unknown. */
  isOld({ number }: Pick<LogPosition, 'number'>, now: number): boolean {
    const [oldest] = this.#heads;
    return oldest !== undefined && now - oldest.at >= OLD_MS && number < oldest.number;
  }
}

/** By epoch: numbers of another epoch mean other events. */
const histories = new Map<string, LogHistory>();

/** Maximum epochs in memory: those of the regions, and a few earlier ones. */
const MAX_HISTORIES = 10;

/**
 * Returns the database from which events after the position are read: a standby when they are older than a minute.
 *
 * @param head of the log, which has just been read from the primary
 */
export function selectLogDatabase(database: Database, head: LogHead, position: LogPosition): Database {
  if (!database.replicas) return database;
  let history = histories.get(head.epoch);
  if (!history) {
    const [oldest] = histories.keys();
    if (histories.size === MAX_HISTORIES) histories.delete(oldest!);
    history = new LogHistory();
    histories.set(head.epoch, history);
  }
  const now = performance.now();
  history.add(head, now);
  return history.isOld(position, now) ? database.onReplica() : database;
}
