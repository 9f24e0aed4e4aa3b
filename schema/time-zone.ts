import type { RegionId } from '../src/shared/regions.ts';
import { fail, STANDARDS, scalar } from './scalar.ts';
import { toInstant } from './scalars.ts';

const ZONES = new Set(['UTC', ...Intl.supportedValuesOf('timeZone')]);

/** Returns whether the name is a time zone of the IANA database, in its usual spelling. */
export const isTimeZone = (name: string): boolean => ZONES.has(name);

/** Time zone of a builder that has none of its own, by region. */
export const DEFAULT_TIME_ZONES: Record<RegionId, string> = { au1: 'Australia/Sydney', us1: 'America/New_York' };

/** Returns the time zone of a builder of the region (RED-30). */
export const getTimeZone = ({ timeZone }: { timeZone?: string | null }, region: RegionId): string =>
  timeZone ?? DEFAULT_TIME_ZONES[region];

export const TimeZone = scalar<string>({
  name: 'TimeZone',
  description: 'Name of a time zone in the IANA database.',
  jsonSchema: { type: 'string', examples: ['Australia/Sydney'] },
  specifiedBy: STANDARDS.timeZone,
  parse: (value) =>
    typeof value === 'string' && isTimeZone(value) ? value : fail('must be a time zone such as Australia/Sydney'),
});

export const CalendarDate = scalar<string>({
  name: 'CalendarDate',
  description: 'Day of the calendar, such as `2026-03-02`.',
  jsonSchema: { type: 'string', format: 'date', examples: ['2026-03-02'] },
  specifiedBy: STANDARDS.dateTime,
  parse: (value) =>
    typeof value === 'string' && toInstant(`${value}T00:00:00Z`) ? value : fail('must be an ISO 8601 date'),
});
