import type { Random } from './random.ts';

/** End of the demo data's history; planned records are later. Fixed, so that ids and dates are reproducible. */
export const BASE = Date.parse('2026-06-01T00:00:00.000Z');

/** Days of history before the base date. */
export const HISTORY_DAYS = 730;

/** Milliseconds. */
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export const iso = (milliseconds: number) => new Date(milliseconds).toISOString();

/** Returns midnight of a day relative to the base date; negative numbers are before it. */
export const toBaseDay = (days: number) => iso(BASE + days * DAY);

/** Picks a time in working hours between two days relative to the base date, inclusive. */
export function pickWorkingTime(random: Random, firstDay: number, lastDay: number): string {
  const day = random.between(firstDay, lastDay);
  return iso(BASE + day * DAY + random.between(0, 9 * 60) * MINUTE + random.between(0, MINUTE - 1));
}

/** Returns the day of an instant relative to the base date. */
export const toDay = (instant: string) => Math.floor((Date.parse(instant) - BASE) / DAY);

/** Picks when a record was created, between two days, and when it was last updated: often later, never after the base date. */
export function pickTimestamps(
  random: Random,
  firstDay: number,
  lastDay: number,
): { createdAt: string; updatedAt: string } {
  const last = Math.min(lastDay, -1);
  const createdAt = pickWorkingTime(random, Math.min(firstDay, last), last);
  const updatedAt = random.chance(0.6) ? createdAt : pickLater(random, createdAt, 60);
  return { createdAt, updatedAt };
}

/** Picks an instant within so many days after another and before the base date. */
export function pickLater(random: Random, instant: string, days: number): string {
  const from = Date.parse(instant);
  const until = Math.min(from + days * DAY, BASE - MINUTE);
  return iso(random.between(from, Math.max(from, until)));
}
