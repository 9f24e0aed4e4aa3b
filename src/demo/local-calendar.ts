export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export const iso = (milliseconds: number) => new Date(milliseconds).toISOString();

/** Days and times of a time zone, counted from the day of an instant. */
export class LocalCalendar {
  readonly #format: Intl.DateTimeFormat;
  /** Midnight UTC of the first day's date. */
  readonly #today: number;
  /** Minutes from midnight to the instant, as clocks show them. */
  readonly minutes: number;

  constructor(now: number, timeZone: string) {
    const options = { dateStyle: 'short', timeStyle: 'short', hourCycle: 'h23', timeZone } as const;
    this.#format = new Intl.DateTimeFormat('en-CA', options);
    const shown = this.#shownAt(now);
    this.#today = shown - (shown % DAY);
    this.minutes = (shown % DAY) / MINUTE;
  }

  /** Returns midnight UTC of a day's date, the date of its timesheets. Negative numbers are before today. */
  dateOf = (day: number): number => this.#today + day * DAY;

  isWeekday = (day: number): boolean => new Date(this.dateOf(day)).getUTCDay() % 6 !== 0;

  /** Returns the instant at which clocks show these minutes after midnight, in milliseconds. */
  instantOf(day: number, minutes: number): number {
    const shown = this.dateOf(day) + minutes * MINUTE;
    const near = 2 * shown - this.#shownAt(shown);
    return shown + near - this.#shownAt(near);
  }

  /** Returns the instant at which clocks of UTC show what those of the zone show at a full minute. */
  #shownAt(at: number): number {
    // `2026-03-02, 07:30`
    return Date.parse(`${this.#format.format(at).replace(', ', 'T')}Z`);
  }
}
