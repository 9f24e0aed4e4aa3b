import { formatTime, offsetAt, toCalendarDate } from './format.ts';

const HOUR_MS = 3_600_000;

/** Formats an instant for `<input type="datetime-local">`, in a time zone. */
export const toLocalInput = (instant: string | number, timeZone: string): string =>
  `${toCalendarDate(instant, timeZone)}T${formatTime(instant, timeZone)}`;

/**
 * Returns the instant of a local time. Of a time that occurs twice when clocks go back, it is the first. A time that clocks leave out when
 * they go forward is as much later as they go forward: 02:30 is 03:30.
 */
export function fromLocalInput(local: string, timeZone: string): string {
  const localAsUtc = Date.parse(`${local}:00Z`);
  const toInstant = (near: number) => localAsUtc - offsetAt(near, timeZone);
  // The offset of hours before is right, except after a change of clocks, where the one of hours after it is.
  const [before, after] = [toInstant(localAsUtc - 14 * HOUR_MS), toInstant(localAsUtc + 14 * HOUR_MS)] as const;
  const instant = toInstant(after) === after && toInstant(before) !== before ? after : before;
  return new Date(instant).toISOString();
}
