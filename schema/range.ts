import { ArgsType, Field } from 'type-graphql';
import { invalidField } from '../src/errors.ts';
import { RangeEnd, RangeStart } from './scalars.ts';

/** Range of dates, both ends inclusive. Part 5 of the decisions. */
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

/** The filters of a range; throws 400 when its end lies before its start. */
export function rangeOf({ startDate, endDate }: DateRangeArgs) {
  if (startDate && endDate && endDate < startDate) throw invalidField('endDate', 'must not be before startDate');
  return { startDate, endDate };
}
