import { fromLocalTime } from '../../schema/time-zone.ts';

export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export const iso = (milliseconds: number) => new Date(milliseconds).toISOString();

/** Days of a time zone, counted from the day of an instant. */
export class LocalCalendar {
  readonly #timeZone: string;
  /** Midnight UTC of the first day's date. */
  readonly #today: number;

  constructor(now: number, timeZone: string) {
    this.#timeZone = timeZone;
    // `2026-03-02`
    this.#today = Date.parse(new Intl.DateTimeFormat('en-CA', { dateStyle: 'short', timeZone }).format(now));
  }

  /** Returns midnight UTC of a day's date, the date of its timesheets. Negative numbers are before today. */
  dateOf = (day: number): number => this.#today + day * DAY;

  isWeekday = (day: number): boolean => new Date(this.dateOf(day)).getUTCDay() % 6 !== 0;

  /** Returns the instant at which clocks show these minutes after midnight, in milliseconds. */
  instantOf = (day: number, minutes: number): number =>
    fromLocalTime(this.dateOf(day) + minutes * MINUTE, this.#timeZone);
}
