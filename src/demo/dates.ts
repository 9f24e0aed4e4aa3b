import type { Random } from './random.ts';

/** The day up to which the demo data reaches; what is planned lies after it. Fixed, so that ids and dates are too. */
export const BASE = Date.parse('2026-06-01T00:00:00.000Z');

/** Days before the base date on which the story begins. */
export const STORY_DAYS = 730;

const MINUTE = 60_000;
const DAY = 1440 * MINUTE;

export const iso = (milliseconds: number) => new Date(milliseconds).toISOString();

/** Midnight of the day that is so many days after the base date; before it where negative. */
export const baseDay = (days: number) => iso(BASE + days * DAY);

/** A moment in working hours of one of the days from the base date, the first and the last included. */
export function moment(random: Random, firstDay: number, lastDay: number): string {
  const day = random.between(firstDay, lastDay);
  return iso(BASE + day * DAY + random.between(0, 9 * 60) * MINUTE + random.between(0, MINUTE - 1));
}

/** Days from the base date to the day of the instant. */
export const dayOf = (instant: string) => Math.floor((Date.parse(instant) - BASE) / DAY);

/** When a record was made, in the days given, and when it last changed: often later, never past the base date. */
export function stamps(random: Random, firstDay: number, lastDay: number): { createdAt: string; updatedAt: string } {
  const last = Math.min(lastDay, -1);
  const createdAt = moment(random, Math.min(firstDay, last), last);
  const updatedAt = random.chance(0.6) ? createdAt : later(random, createdAt, 60);
  return { createdAt, updatedAt };
}

/** Another moment after the instant, within so many days and before the base date. */
export function later(random: Random, instant: string, days: number): string {
  const from = Date.parse(instant);
  const until = Math.min(from + days * DAY, BASE - MINUTE);
  return iso(random.between(from, Math.max(from, until)));
}
