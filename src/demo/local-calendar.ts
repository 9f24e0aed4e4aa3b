import { DAY, MINUTE } from './dates.ts';

/** Days and times of a time zone, counted from the day of an instant. */
export class LocalCalendar {
  readonly #format: Intl.DateTimeFormat;
  /** Midnight UTC of the first day's date. */
  readonly #today: number;
  /** Minutes from midnight to the instant, as clocks show them. */
  readonly minutes: number;

  constructor(now: number, timeZone: string) {
    const parts = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' } as const;
    this.#format = new Intl.DateTimeFormat('en-CA', { ...parts, hourCycle: 'h23', timeZone });
    const shown = this.#shownAt(now);
    this.#today = shown - (shown % DAY);
    this.minutes = (shown % DAY) / MINUTE;
  }

  /** Returns midnight UTC of a day's date, the date of its timesheets. Negative numbers are before today. */
  dateOf = (day: number): number => this.#today + day * DAY;

  isWeekday(day: number): boolean {
    return new Date(this.dateOf(day)).getUTCDay() % 6 !== 0;
  }

  /** Returns the instant at which clocks show these minutes after midnight, in milliseconds. */
  instantOf(day: number, minutes: number): number {
    const shown = this.dateOf(day) + minutes * MINUTE;
    const guess = shown - this.#offsetAt(shown);
    return shown - this.#offsetAt(guess);
  }

  #offsetAt = (at: number): number => this.#shownAt(at) - Math.floor(at / MINUTE) * MINUTE;

  /** Returns the instant at which clocks of UTC show what those of the zone show, to the minute. */
  #shownAt(at: number): number {
    // `2026-03-02, 07:30`
    const [date, time] = this.#format.format(at).split(', ');
    return Date.parse(`${date}T${time}Z`);
  }
}
