import type { BoardQuery } from '../../graphql/generated.ts';
import { millisecondsIntoDay } from '../../shared/format.ts';

export type Visit = BoardQuery['visitsOfDay'][number];
export type PendingSignOff = BoardQuery['project']['pending']['data'][number];
export type Conflict = BoardQuery['conflicts']['data'][number];

/** What happened to one worker on the day. */
export interface BoardRow {
  workerId: string;
  fullName: string;
  visits: Visit[];
  pending: PendingSignOff[];
  conflicts: Conflict[];
}

const HOUR_MS = 3_600_000;

/** Milliseconds after which a visit is probably forgotten. */
const LONG_VISIT_MS = 14 * HOUR_MS;
/** Note of such visits. */
export const LONG = 'Longer than 14 hours';

/** Hours that a board shows at least, from 6 to 18. */
const USUAL = [6, 18] as const;

/** Returns one row per worker, by name, with what concerns the day. */
export function toBoardRows({ visitsOfDay, project, conflicts }: BoardQuery): BoardRow[] {
  const rows = new Map<string, BoardRow>();
  const getRow = ({ id, fullName }: Visit['worker']): BoardRow => {
    const row = rows.get(id) ?? { workerId: id, fullName, visits: [], pending: [], conflicts: [] };
    rows.set(id, row);
    return row;
  };
  for (const visit of visitsOfDay) getRow(visit.worker).visits.push(visit);
  for (const event of [...project.pending.data, ...project.morePending.data]) getRow(event.worker).pending.push(event);
  for (const conflict of conflicts.data) getRow(conflict.worker).conflicts.push(conflict);
  return [...rows.values()].sort((a, b) => a.fullName.localeCompare(b.fullName));
}

/** First and last hour of the board: the usual ones, and those of everything that happened. */
export function toHourRange(rows: readonly BoardRow[], date: string, timeZone: string, now: number): [number, number] {
  const instants: (string | number)[] = rows.flatMap(({ visits, pending, conflicts }) => [
    ...visits.flatMap(({ signedOnAt, signedOffAt, closedAt }) => [signedOnAt, signedOffAt ?? closedAt ?? now]),
    ...[...pending, ...conflicts].map(({ occurredAt }) => occurredAt),
  ]);
  const hours = instants.map((instant) =>
    Math.min(24, Math.max(0, millisecondsIntoDay(instant, date, timeZone) / HOUR_MS)),
  );
  return [Math.floor(Math.min(USUAL[0], ...hours)), Math.ceil(Math.max(USUAL[1], ...hours))];
}

/** Position of an instant on the board, in percent of its width. */
export function toPosition(
  instant: string | number,
  [from, until]: readonly [number, number],
  date: string,
  timeZone: string,
): number {
  const hour = millisecondsIntoDay(instant, date, timeZone) / HOUR_MS;
  return Math.min(100, Math.max(0, ((hour - from) / (until - from)) * 100));
}

/** When a visit ended; null while it is open. */
export const getEnd = ({ signedOffAt, closedAt }: Visit): string | null => closedAt ?? signedOffAt;

/** Milliseconds that a visit took, or has taken until now. */
export function getDuration(visit: Visit, now: number): number {
  const end = getEnd(visit);
  return (end === null ? now : Date.parse(end)) - Date.parse(visit.signedOnAt);
}

/** Whether a visit is longer than anybody works. */
export const isLong = (visit: Visit, now: number): boolean => getDuration(visit, now) > LONG_VISIT_MS;

/**
 * Returns when a worker who has not signed off has probably left: at the project's usual end after the sign-on, or now where that is to
 * come; null if it is too long after the sign-on.
 */
export function proposeEnd(signedOnAt: string, usualEnd: string | null, now: number): number | null {
  if (usualEnd === null) return null;
  const [begin, usual] = [Date.parse(signedOnAt), Date.parse(usualEnd)];
  const end = usual < begin ? usual + 24 * HOUR_MS : usual;
  return end - begin > LONG_VISIT_MS ? null : Math.min(end, now);
}

/** Words and tones of the states of a visit, each of which is also the class of its bar. */
export const VISIT_STATES = {
  open: ['On site', 'good'],
  ended: ['Signed off', 'brand'],
  closed: ['Closed by a person', 'warn'],
  anomaly: ['Sign-off before sign-on', 'bad'],
} as const;

export function getState(visit: Visit): keyof typeof VISIT_STATES {
  if (visit.anomaly) return 'anomaly';
  if (visit.closedAt) return 'closed';
  return visit.signedOffAt ? 'ended' : 'open';
}
