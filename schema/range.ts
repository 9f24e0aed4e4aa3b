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

/**
 * Returns the filters of a range of days, with the instants between which its records are in every time zone. Throws 400 when its end
 * precedes its start.
 */
export function toDayRange({ firstDay, lastDay, timeZone }: DayRangeArgs) {
  if (firstDay && lastDay && lastDay < firstDay) {
    throw new ValidationError([{ fieldName: 'lastDay', message: 'must not be before firstDay' }]);
  }
  const midnightAfter = (day: string, days: number) => Date.parse(`${day}T00:00:00Z`) + days * 86_400_000;
  return {
    ...(firstDay && { firstDay, earliest: new Date(midnightAfter(firstDay, -1)).toISOString() }),
    ...(lastDay && { lastDay, latest: new Date(midnightAfter(lastDay, 2) - 1).toISOString() }),
    ...((firstDay || lastDay) && { timeZone: timeZone ?? 'UTC' }),
  };
}
