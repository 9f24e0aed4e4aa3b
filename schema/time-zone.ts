import type { RegionId } from '../src/shared/regions.ts';
import { fail, STANDARDS, scalar } from './scalar.ts';
import { toInstant } from './scalars.ts';

/** Names that `Intl` knows and PostgreSQL does not, or takes for abbreviations: those of Java, and withdrawn ones. */
const OTHER_NAMES =
  /^(?:A[CEGRS]T|BET|BST|C[ANS]T|CTT|EAT|ECT|I[ES]T|JST|MIT|N[ES]T|PLT|P[NRS]T|[SV]ST|SystemV\/.*|US\/Pacific-New|Canada\/East-Saskatchewan)$/;
/** Each part begins with a capital letter; offsets such as `+10:00` are no names. */
const NAME = /^[A-Z][\w+-]*(?:\/[A-Z][\w+-]*)*$/;

/**
 * Returns whether the name, an old or a new one, is a time zone of the IANA database that PostgreSQL and `Intl` know. A stored name is not
 * checked again.
 */
export function isTimeZone(name: string): boolean {
  if (!NAME.test(name) || OTHER_NAMES.test(name)) return false;
  try {
    return Boolean(getOffsetFormat(name));
  } catch {
    return false;
  }
}

const MAX_FORMATS = 50;
const offsetFormats = new Map<string, Intl.DateTimeFormat>();

/** Returns the format of the offsets of a time zone, whose creation takes a fifth of a millisecond. Throws for an unknown one. */
function getOffsetFormat(timeZone: string): Intl.DateTimeFormat {
  let format = offsetFormats.get(timeZone);
  if (!format) {
    // The text of an offset is the same in every year, unlike that of a date before the year 1 or after 9999.
    format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
    if (offsetFormats.size === MAX_FORMATS) offsetFormats.clear();
    offsetFormats.set(timeZone, format);
  }
  return format;
}

/** Names that PostgreSQL takes for abbreviations of an offset without summer time, and zones with their rules. */
const ABBREVIATIONS: Record<string, string> = {
  CET: 'Europe/Brussels',
  EET: 'Europe/Athens',
  MET: 'Europe/Brussels',
  WET: 'Europe/Lisbon',
};

/** Returns the name by which PostgreSQL knows the rules of the time zone. */
export const toDatabaseTimeZone = (name: string): string => ABBREVIATIONS[name] ?? name;

/** Time zone of a builder that has none of its own, by region. */
export const DEFAULT_TIME_ZONES: Record<RegionId, string> = { au1: 'Australia/Sydney', us1: 'America/New_York' };

/** Returns the time zone of a builder of the region (RED-30). */
export const getTimeZone = ({ timeZone }: { timeZone?: string | null }, region: RegionId): string =>
  timeZone ?? DEFAULT_TIME_ZONES[region];

const HOUR_MS = 3_600_000;
/** Offset as `Intl` writes it, such as `GMT+10:00`, or `GMT+10:04:52` before 1895; `GMT` alone is none. */
const OFFSET = /GMT([+-])(\d{2}):(\d{2})(?::(\d{2}))?$/;

/**
 * Returns the instant at which clocks of a time zone show a local time, both in milliseconds since 1970, as if the local time were UTC. Of a
 * time that occurs twice when clocks go back, it is the first. A time that clocks leave out when they go forward is as much later.
 */
export function fromLocalTime(local: number, timeZone: string): number {
  const format = getOffsetFormat(timeZone);
  const offsetAt = (instant: number) => {
    const [, sign, ...parts] = OFFSET.exec(format.format(instant)) ?? [];
    const [hours, minutes, seconds] = parts.map((part) => Number(part ?? 0)) as [number, number, number];
    return sign ? Number(`${sign}1`) * ((hours * 60 + minutes) * 60 + seconds) * 1000 : 0;
  };
  // The offset of hours before is right, except after a change of clocks, where the one of hours after it is.
  const [before, after] = [local - offsetAt(local - 14 * HOUR_MS), local - offsetAt(local + 14 * HOUR_MS)] as const;
  const isShownAt = (instant: number) => instant + offsetAt(instant) === local;
  return isShownAt(after) && !isShownAt(before) ? after : before;
}

export const TimeZone = scalar<string>({
  name: 'TimeZone',
  description: 'Name of a time zone in the IANA database.',
  jsonSchema: { type: 'string', examples: ['Australia/Sydney'] },
  specifiedBy: STANDARDS.timeZone,
  parse: (value) =>
    typeof value === 'string' && isTimeZone(value)
      ? toDatabaseTimeZone(value)
      : fail('must be a time zone such as Australia/Sydney'),
});

export const CalendarDate = scalar<string>({
  name: 'CalendarDate',
  description: 'Day of the calendar, such as `2026-03-02`.',
  jsonSchema: { type: 'string', format: 'date', examples: ['2026-03-02'] },
  specifiedBy: STANDARDS.dateTime,
  parse: (value) =>
    typeof value === 'string' && toInstant(`${value}T00:00:00Z`) ? value : fail('must be an ISO 8601 date'),
});
