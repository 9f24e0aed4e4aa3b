import { ArgsType, Field } from 'type-graphql';
import { Rule } from './input-rules.ts';
import { RangeEnd, RangeStart } from './scalars.ts';
import { CalendarDate, TimeZone } from './time-zone.ts';

/** Declares that this argument, the end of a range, must not be before its start. */
export const NotBefore = (start: string, end: string) =>
  Rule((values: Record<string, string | null | undefined>) =>
    values[start] && values[end] && values[end] < values[start]
      ? [{ fieldName: end, message: `must not be before ${start}` }]
      : [],
  );

/** Range of dates, both ends inclusive. LST-11. */
@ArgsType()
export class DateRangeArgs {
  @Field(() => RangeStart, { nullable: true, description: 'Earliest date or date-time, inclusive.' })
  startDate?: string | null;

  @Field(() => RangeEnd, {
    nullable: true,
    description: 'Latest date or date-time, inclusive; a bare date is the whole UTC day.',
  })
  @NotBefore('startDate', 'endDate')
  endDate?: string | null;
}

/** Range of days in a time zone, both ends inclusive. GraphQL alone has it. RED-31. */
@ArgsType()
export class DayRangeArgs {
  @Field(() => CalendarDate, { nullable: true, description: 'Earliest day, inclusive.' })
  firstDay?: string | null;

  @Field(() => CalendarDate, { nullable: true, description: 'Latest day, inclusive.' })
  @NotBefore('firstDay', 'lastDay')
  lastDay?: string | null;

  @Field(() => TimeZone, {
    nullable: true,
    description:
      'Time zone of the days. Default UTC. A value at midnight UTC counts as that calendar day in every time zone.',
  })
  timeZone?: string | null;
}

const DAY_MS = 86_400_000;
/** The first and the last instant in years of four digits, which PostgreSQL accepts as text. */
const [FIRST_INSTANT, LAST_INSTANT] = [Date.parse('0001-01-01T00:00:00.000Z'), Date.parse('9999-12-31T23:59:59.999Z')];

const toPlainInstant = (time: number) => new Date(Math.min(Math.max(time, FIRST_INSTANT), LAST_INSTANT)).toISOString();

/** Returns the filters of a range of days, with the instants between which its records are in every time zone. */
export function toDayRange({ firstDay, lastDay, timeZone }: DayRangeArgs) {
  return {
    ...(firstDay && { firstDay, earliest: toPlainInstant(Date.parse(firstDay) - DAY_MS) }),
    ...(lastDay && { lastDay, latest: toPlainInstant(Date.parse(lastDay) + 2 * DAY_MS - 1) }),
    ...((firstDay || lastDay) && { timeZone: timeZone ?? 'UTC' }),
  };
}
