/** Locale of dates and numbers: the console is in English for both regions, with the day before the month. */
const LOCALE = 'en-AU';

const formatters = new Map<string, Intl.DateTimeFormat>();

function formatter(timeZone: string, options: Intl.DateTimeFormatOptions, locale = LOCALE): Intl.DateTimeFormat {
  const key = `${timeZone} ${locale} ${JSON.stringify(options)}`;
  const found = formatters.get(key) ?? new Intl.DateTimeFormat(locale, { timeZone, ...options });
  formatters.set(key, found);
  return found;
}

/** Formats the time of day, such as `06:42` or, with seconds, `06:42:07`. */
export const formatTime = (instant: string | number | Date, timeZone: string, seconds = false): string =>
  formatter(timeZone, {
    hour: '2-digit',
    minute: '2-digit',
    ...(seconds && { second: '2-digit' }),
    hourCycle: 'h23',
  }).format(new Date(instant));

/** Formats an hour of the day as `06:00`. */
export const formatHour = (hour: number): string => `${String(hour).padStart(2, '0')}:00`;

/** Names of months with three letters each: those of the locale have three to five. */
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Formats a calendar date as `22 Nov`. */
export const formatShortDay = (date: string): string =>
  `${Number(date.slice(8, 10))} ${MONTHS[Number(date.slice(5, 7)) - 1]}`;

/** Formats a month (`2026-11` or a date in it) as `Nov 2026`. */
export const formatMonth = (month: string): string => `${MONTHS[Number(month.slice(5, 7)) - 1]} ${month.slice(0, 4)}`;

/** Formats a day, such as `22 Nov 2026`. */
export function formatDay(instant: string | number | Date, timeZone: string): string {
  const date = toCalendarDate(instant, timeZone);
  return `${formatShortDay(date)} ${date.slice(0, 4)}`;
}

/** Formats a calendar date (`2026-11-22`) as `Sunday 22 November`. */
export const formatCalendarDay = (date: string): string =>
  formatter('UTC', { weekday: 'long', day: 'numeric', month: 'long' }).format(new Date(`${date}T00:00:00Z`));

/** Formats a day and a time, such as `22 Nov 2026, 06:42`. */
export const formatInstant = (instant: string | number | Date, timeZone: string, seconds?: boolean): string =>
  `${formatDay(instant, timeZone)}, ${formatTime(instant, timeZone, seconds)}`;

/** Returns the offset of a time zone in milliseconds. Its text, such as `GMT+10:00`, is the same in every year, unlike that of a date. */
export function offsetAt(instant: number, timeZone: string): number {
  const text = formatter(timeZone, { timeZoneName: 'longOffset' }, 'en').format(instant);
  const [, sign, ...parts] = /GMT([+-])(\d{2}):(\d{2})(?::(\d{2}))?$/.exec(text) ?? [];
  const [hours, minutes, seconds] = parts.map((part) => Number(part ?? 0)) as [number, number, number];
  return sign ? Number(`${sign}1`) * ((hours * 60 + minutes) * 60 + seconds) * 1000 : 0;
}

/** Returns the calendar date (`2026-11-22`) of an instant in a time zone, at most the last of a year of four digits. Those of Sweden are ISO 8601. */
export const toCalendarDate = (instant: string | number | Date, timeZone: string): string =>
  formatter(timeZone, {}, 'sv-SE')
    .format(new Date(instant))
    .padStart(10, '0')
    .replace(/^\d{5}.*/, '9999-12-31');

/** Returns the calendar date of an instant in a time zone. Midnight UTC is a day without a time zone. RED-31. */
export const toRecordedDay = (instant: string, timeZone: string): string =>
  /T00:00(:00(\.0+)?)?Z$/.test(instant) ? instant.slice(0, 10) : toCalendarDate(instant, timeZone);

/** Returns the number of days from one calendar date to another. */
export const countDays = (from: string, until: string): number => (Date.parse(until) - Date.parse(from)) / 86_400_000;

/** Returns the calendar date a number of days later. */
export const addDays = (date: string, days: number): string =>
  new Date(Date.parse(`${date}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, -'T00:00:00.000Z'.length);

/** Returns milliseconds since midnight of a calendar date in a time zone; negative before it, above 24 hours after it. */
export const millisecondsIntoDay = (instant: string | number | Date, date: string, timeZone: string): number =>
  Date.parse(`${toCalendarDate(instant, timeZone)}T${formatTime(instant, timeZone, true)}Z`) - Date.parse(date);

/** Formats a duration as `7 h 05 min`. */
export function formatDuration(milliseconds: number): string {
  const minutes = Math.max(0, Math.round(milliseconds / 60_000));
  const hours = Math.floor(minutes / 60);
  return hours === 0 ? `${minutes} min` : `${hours} h ${String(minutes % 60).padStart(2, '0')} min`;
}

/** Formats how long ago something was, such as `5 min ago`. */
export function formatAge(instant: string, now: number): string {
  const seconds = Math.max(0, (now - Date.parse(instant)) / 1000);
  if (seconds < 60) return 'just now';
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`;
  const days = Math.floor(seconds / 86_400);
  return days === 1 ? 'yesterday' : `${days} days ago`;
}

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

const integers = new Intl.NumberFormat(LOCALE);
const decimals = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 2 });

export const formatCount = (count: number): string => integers.format(count);
export const formatNumber = (value: number): string => decimals.format(value);

/** Rounds a number to the digits that `formatNumber` shows, for files. */
export const roundNumber = (value: number): number => Number(formatNumber(value).replaceAll(',', ''));

/** Formats `WAITING_REVIEW` as `Waiting review`. */
export function formatEnum(value: string): string {
  const words = value.toLowerCase().replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Formats the name of a property or type as words: `redirectUris` as `Redirect URIs`. */
export const formatName = (name: string): string =>
  formatEnum(name.replaceAll(/(?<=[a-z])(?=[A-Z])|\./g, '_')).replace(
    /\b(ur[il])(s?)\b/i,
    (_, word, plural) => word.toUpperCase() + plural,
  );

/** Formats a time zone such as `Australia/Sydney` as `Sydney time`. */
export const formatTimeZone = (timeZone: string): string =>
  timeZone === 'UTC' ? 'UTC' : `${timeZone.split('/').at(-1)!.replaceAll('_', ' ')} time`;

const REGIONS: Record<string, string> = { au1: 'Australia', us1: 'United States' };

/** Formats a region as `Australia (au1)`. */
export const formatRegion = (id: string): string => `${REGIONS[id] ?? 'Region'} (${id})`;

/** Formats a builder's name of a role: `SITE_MANAGER` as `site manager`, others as they are. */
export const formatRole = (role: string): string => (/^[A-Z_]+$/.test(role) ? formatEnum(role).toLowerCase() : role);

/** Formats a count with its noun, such as `1 visit` or `3 visits`. */
export const formatPlural = (count: number, noun: string): string =>
  `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;
