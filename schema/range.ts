import { ArgsType, Field } from 'type-graphql';
import { type FieldError, ValidationError } from '../src/shared/errors.ts';
import { RangeEnd, RangeStart } from './scalars.ts';
import { CalendarDate, TimeZone } from './time-zone.ts';

/** Range of dates, both ends inclusive. LST-11. */
@ArgsType()
export class DateRangeArgs {
  @Field(() => RangeStart, { nullable: true, description: 'Earliest date or date-time, inclusive.' })
  startDate?: string | null;

  @Field(() => RangeEnd, {
    nullable: true,
    description: 'Latest date or date-time, inclusive; a bare date is the whole UTC day.',
  })
  endDate?: string | null;
}

/** Returns the error of a range whose end precedes its start. */
export function findRangeErrors({ startDate, endDate }: DateRangeArgs): FieldError[] {
  const isReversed = startDate && endDate && endDate < startDate;
  return isReversed ? [{ fieldName: 'endDate', message: 'must not be before startDate' }] : [];
}

/** Returns the filters of a range; throws 400 when its end precedes its start. */
export function toDateRange(range: DateRangeArgs) {
  const errors = findRangeErrors(range);
  if (errors.length > 0) throw new ValidationError(errors);
  return { startDate: range.startDate, endDate: range.endDate };
}

/** Range of days in a time zone, both ends inclusive. GraphQL alone has it. RED-31. */
@ArgsType()
export class DayRangeArgs {
  @Field(() => CalendarDate, { nullable: true, description: 'Earliest day, inclusive.' })
  firstDay?: string | null;

  @Field(() => CalendarDate, { nullable: true, description: 'Latest day, inclusive.' })
  lastDay?: string | null;

  @Field(() => TimeZone, {
    nullable: true,
    description: 'Where it is these days. Default UTC. Midnight UTC is a day everywhere.',
  })
  timeZone?: string | null;
}

const DAY_MS = 86_400_000;
/** The first and the last instant in years of four digits, which PostgreSQL accepts as text. */
const [FIRST_INSTANT, LAST_INSTANT] = [Date.parse('0001-01-01T00:00:00.000Z'), Date.parse('9999-12-31T23:59:59.999Z')];

const toPlainInstant = (time: number) => new Date(Math.min(Math.max(time, FIRST_INSTANT), LAST_INSTANT)).toISOString();

/**
 * Returns the filters of a range of days, with the instants between which its records are in every time zone. Throws 400 when its end
 * precedes its start.
 */
export function toDayRange({ firstDay, lastDay, timeZone }: DayRangeArgs) {
  if (firstDay && lastDay && lastDay < firstDay) {
    throw new ValidationError([{ fieldName: 'lastDay', message: 'must not be before firstDay' }]);
  }
  return {
    ...(firstDay && { firstDay, earliest: toPlainInstant(Date.parse(firstDay) - DAY_MS) }),
    ...(lastDay && { lastDay, latest: toPlainInstant(Date.parse(lastDay) + 2 * DAY_MS - 1) }),
    ...((firstDay || lastDay) && { timeZone: timeZone ?? 'UTC' }),
  };
}
