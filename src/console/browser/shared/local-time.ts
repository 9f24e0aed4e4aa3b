import { formatTime, toCalendarDate } from './format.ts';

/** Formats an instant for `<input type="datetime-local">`, in a time zone. */
export const toLocalInput = (instant: string | number, timeZone: string): string =>
  `${toCalendarDate(instant, timeZone)}T${formatTime(instant, timeZone)}`;

/** Returns the instant of a local time. Of a time that occurs twice when clocks go back, it is the first. */
export function fromLocalInput(local: string, timeZone: string): string {
  const wanted = Date.parse(`${local}:00Z`);
  // The offset before the time is right except after a change of clocks, where the one after it is.
  for (const guess of [wanted - 14 * 3_600_000, wanted, wanted + 14 * 3_600_000]) {
    const offset = Date.parse(`${toLocalInput(guess, timeZone)}:00Z`) - Math.floor(guess / 60_000) * 60_000;
    const instant = wanted - offset;
    if (toLocalInput(instant, timeZone) === local) return new Date(instant).toISOString();
  }
  // A time that clocks leave out when they go forward.
  return new Date(wanted).toISOString();
}
