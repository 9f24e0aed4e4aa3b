import { MAX_SITES, readAttendanceChanges } from '../../../domain/attendance/attendance-changes.ts';
import { decodeEventCursor, encodeEventCursor } from '../../../domain/events/event-cursor.ts';
import { type LogHead, readHead, readLogPage } from '../../../domain/events/event-log.ts';
import { EVERY_EVENT } from '../../../domain/events/event-tail.ts';
import { ApiError, invalidField } from '../../../shared/errors.ts';
import type { ConsoleContext } from '../console-area.ts';

/** Events that one poll reads at most; with more, everything is to be read again. */
const MAX_EVENTS = 500;

/** Milliseconds after which a cursor is not continued: a hidden page does not poll. */
const MAX_AGE_MS = 600_000;

/** Position of a poll: the cursor of the event log, the snapshot of attendance, and the time in milliseconds. */
type Cursor = [events: string, snapshot: string, at: number];

/**
 * Returns what changed since the cursor of the poll before: records by the event log, and attendance, which is not published, by the rows
 * that were committed since. CON-8.
 */
export async function readChanges(
  // A snapshot of a standby does not name the transactions that are open.
  { primary: database, region, clock }: ConsoleContext,
  { after, projectId }: { after?: string | null; projectId?: string | null },
) {
  const now = clock.now();
  const head = await readHead(database);
  const previous = after == null ? null : parseCursor(after);
  const isContinued = previous !== null && Math.abs(now - previous[2]) <= MAX_AGE_MS;
  const attendance = await readAttendanceChanges(
    database,
    isContinued ? previous[1] : null,
    isContinued ? previous[2] : now,
  );
  const position = isContinued ? positionOf(previous[0], region, head) : null;
  const page = position && (await readLogPage(database, position, EVERY_EVENT, MAX_EVENTS));
  const events = page?.events ?? [];
  const changed = [...attendance.sites, ...events].filter((each) => !projectId || each.projectId === projectId);
  const projectIds = changed.map((each) => each.projectId).filter((id) => id !== null);
  return {
    cursor: encodeCursor([encodeEventCursor(region, head, page?.next ?? head), attendance.snapshot, now]),
    projectIds: [...new Set(projectIds)],
    builderIds: [...new Set(changed.map(({ builderId }) => builderId))],
    reset: !page || page.hasMore || attendance.sites.length === MAX_SITES,
  };
}

/** Returns null for a cursor of an earlier epoch of the log, after which everything is to be read again. */
function positionOf(cursor: string, region: ConsoleContext['region'], head: LogHead) {
  try {
    return decodeEventCursor(region, head, cursor);
  } catch (error) {
    if (error instanceof ApiError && error.status === 410) return null;
    throw error;
  }
}

const encodeCursor = (cursor: Cursor) => Buffer.from(JSON.stringify(cursor)).toString('base64url');

/** Throws 400 for a text that is no cursor. */
function parseCursor(text: string): Cursor {
  try {
    const [events, snapshot, at] = JSON.parse(Buffer.from(text, 'base64url').toString()) as Cursor;
    if (typeof events === 'string' && /^\d{1,19}:\d{1,19}:[\d,]*$/.test(snapshot) && Number.isSafeInteger(at)) {
      return [events, snapshot, at];
    }
  } catch {
    // Reported below.
  }
  throw invalidField('after', 'must be the cursor of an earlier poll');
}
