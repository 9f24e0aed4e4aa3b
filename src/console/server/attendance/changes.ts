import { createHmac } from 'node:crypto';
import type { Database } from '../../../database/database.ts';
import { MAX_SITES, readAttendanceChanges } from '../../../domain/attendance/attendance-changes.ts';
import { decodeEventCursor, encodeEventCursor } from '../../../domain/events/event-cursor.ts';
import { EVERY_EVENT } from '../../../domain/events/event-filter.ts';
import { type LogHead, readHead, readLogPage } from '../../../domain/events/event-log.ts';
import { ApiError, invalidField } from '../../../shared/errors.ts';
import type { RegionId } from '../../../shared/regions.ts';
import { hashSecret, isSecretOf } from '../../../shared/secrets.ts';

/** Events that one poll reads at most; with more, everything is to be read again. */
const MAX_EVENTS = 500;

/** Maximum age of a cursor that is continued, in milliseconds. A page does not poll while it is hidden, and may be older. */
const MAX_AGE_MS = 600_000;

/** Bytes of a cursor's signature. A client that could forge cursors could make each poll read the changes of ten minutes. */
const SIGNATURE_BYTES = 16;

/** Position of a poll: the cursor of the event log, the snapshot of attendance, and the time in milliseconds. */
type Cursor = [events: string, snapshot: string, at: number];

/**
 * Returns what changed since the cursor of the poll before: records by the event log, and attendance, which is not published, by the rows
 * that were committed since. CON-8.
 *
 * @param now milliseconds since the epoch
 */
export async function readChanges(database: Database, after: string | null, now: number) {
  const { region } = database;
  const head = await readHead(database);
  const previous = after === null ? null : verifyCursor(after, region, head);
  const isContinued = previous !== null && Math.abs(now - previous.at) <= MAX_AGE_MS;
  const [snapshot, since] = isContinued ? [previous.snapshot, previous.at] : [null, now];
  const attendance = await readAttendanceChanges(database, snapshot, since);
  const page = isContinued && (await readLogPage(database, previous.position, EVERY_EVENT, MAX_EVENTS));
  // With more events everything is read again, after the head was read.
  const events = encodeEventCursor(region, head, page && !page.hasMore ? page.next : head);
  const changed: { builderId: string; projectId: string | null }[] = [
    ...attendance.sites,
    ...(page ? page.events : []),
  ];
  return {
    cursor: encodeCursor(region, head, [events, attendance.snapshot, now]),
    projectIds: [...new Set(changed.map(({ projectId }) => projectId).filter((id) => id !== null))],
    builderIds: [...new Set(changed.map(({ builderId }) => builderId))],
    reset: !page || page.hasMore || attendance.sites.length === MAX_SITES,
  };
}

/**
 * Returns null for a cursor of an earlier epoch of the log, after which everything is to be read again. Throws 400 for a text that is no
 * cursor.
 */
function verifyCursor(after: string, region: RegionId, head: LogHead) {
  try {
    const [content = '', signature = ''] = after.split('.');
    const [events, snapshot, at] = JSON.parse(Buffer.from(content, 'base64url').toString()) as Cursor;
    const position = decodeEventCursor(region, head, events);
    const expected = signCursor(region, head, [events, snapshot, at]);
    if (isSecretOf(signature, [hashSecret(expected)])) return { position, snapshot, at };
  } catch (error) {
    if (error instanceof ApiError && error.status === 410) return null;
  }
  throw invalidField('after', 'must be the cursor of an earlier poll of this region');
}

const encodeCursor = (region: RegionId, head: LogHead, cursor: Cursor): string =>
  `${Buffer.from(JSON.stringify(cursor)).toString('base64url')}.${signCursor(region, head, cursor)}`;

const signCursor = (region: RegionId, { secret }: LogHead, cursor: Cursor): string =>
  createHmac('sha256', secret)
    .update(`changes ${region} ${JSON.stringify(cursor)}`)
    .digest()
    .subarray(0, SIGNATURE_BYTES)
    .toString('base64url');
