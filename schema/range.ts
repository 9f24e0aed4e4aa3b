import { ArgsType, Field } from 'type-graphql';
import { Rule } from './input-rules.ts';
import { RangeEnd, RangeStart } from './scalars.ts';
import { CalendarDate, fromLocalTime, TimeZone } from './time-zone.ts';

/** Declares that this argument, the end of a range, must not be before its start. */
export const NotBefore = (start: string, end: string) =>
  Rule((values: Record<string, string | null | undefined>) =>
    values[start] && values[end] && isBefore(values[end], values[start], values.timeZone)
      ? [{ fieldName: end, message: `must not be before ${start}` }]
      : [],
  );

/** Declares the time zone of a range of days. */
const ZoneField = () =>
  Field(() => TimeZone, {
    nullable: true,
    description:
      'Time zone of days without a time. Default UTC. A value at midnight UTC counts as that calendar day in every time zone.',
  });

/** Range of dates in UTC, both ends inclusive. */
@ArgsType()
export class UtcRangeArgs {
  @Field(() => RangeStart, { nullable: true, description: 'Earliest date or date-time, inclusive.' })
  startDate?: string | null;

  @Field(() => RangeEnd, {
    nullable: true,
    description: 'Latest date or date-time, inclusive; a bare date is the whole day, in UTC by default.',
  })
  @NotBefore('startDate', 'endDate')
  endDate?: string | null;
}

/** Range of dates, both ends inclusive. LST-11. */
@ArgsType()
export class DateRangeArgs extends UtcRangeArgs {
  @ZoneField()
  timeZone?: string | null;
}

/** Range of days, both ends inclusive. GraphQL alone has it. RED-31. */
@ArgsType()
export class DayRangeArgs {
  @Field(() => CalendarDate, { nullable: true, description: 'Earliest day, inclusive.' })
  firstDay?: string | null;

  @Field(() => CalendarDate, { nullable: true, description: 'Latest day, inclusive.' })
  @NotBefore('firstDay', 'lastDay')
  lastDay?: string | null;

  @ZoneField()
  timeZone?: string | null;
}

const DAY_MS = 86_400_000;
/** The first and the last instant in years of four digits, which PostgreSQL accepts as text. */
const [FIRST_INSTANT, LAST_INSTANT] = [Date.parse('0001-01-01T00:00:00.000Z'), Date.parse('9999-12-31T23:59:59.999Z')];

/** Returns the instant as text that PostgreSQL accepts: in a year of four digits. */
export const toPlainInstant = (time: number) =>
  new Date(Math.min(Math.max(time, FIRST_INSTANT), LAST_INSTANT)).toISOString();

/** Returns the day of a bound that is one: a date, or that of `RangeStart` and `RangeEnd` in microseconds. Null for an instant. */
const findDay = (bound?: string | null) => (bound && !/T.{8}\.\d{3}Z$/.test(bound) ? bound.slice(0, 10) : null);

/** Filters of a reader, which adds the last two to those of its own. */
export interface DateRange {
  startDate?: string | null;
  endDate?: string | null;
  dayBegin?: string;
  nextDay?: string;
}

/**
 * Returns the filters of a range whose bare dates are days of the time zone, by default UTC (LST-16). Midnight UTC is a day without a time zone
 * and counts on that day in every one (RED-31): where a day begins after it, it is the only instant before the day that counts on it, and where
 * a day ends after the next one, the only instant in it that does not.
 */
export function toDateRange({ startDate, endDate, timeZone }: DateRangeArgs): DateRange {
  const toInstant = (midnight: number) => (timeZone ? fromLocalTime(midnight, timeZone) : midnight);
  const range: DateRange = { startDate, endDate };
  const [firstDay, lastDay] = [findDay(startDate), findDay(endDate)];
  if (firstDay) {
    const midnight = Date.parse(firstDay);
    const begin = toInstant(midnight);
    range.startDate = toPlainInstant(Math.min(begin, midnight));
    if (begin > midnight) range.dayBegin = toPlainInstant(begin);
  }
  if (lastDay) {
    const midnight = Date.parse(lastDay) + DAY_MS;
    const end = toInstant(midnight) - 1;
    range.endDate = toPlainInstant(end);
    if (end >= midnight && midnight <= LAST_INSTANT) range.nextDay = toPlainInstant(midnight);
  }
  return range;
}

/** Returns the same for a range of days. */
export const toDayRange = ({ firstDay, lastDay, timeZone }: DayRangeArgs): DateRange =>
  toDateRange({ startDate: firstDay, endDate: lastDay, timeZone });

function isBefore(end: string, start: string, timeZone?: string | null): boolean {
  if (Boolean(findDay(end)) === Boolean(findDay(start))) return end < start;
  const { startDate, endDate } = toDateRange({ startDate: start, endDate: end, timeZone });
  return endDate! < startDate!;
}
