import { ArgsType, Field } from 'type-graphql';
import { type FieldError, ValidationError } from '../src/shared/errors.ts';
import { RangeEnd, RangeStart } from './scalars.ts';

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
