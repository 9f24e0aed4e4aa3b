import { ArgsType, Field } from 'type-graphql';
import { SignOnType } from '../../schema/enums.ts';
import { Rule } from '../../schema/input-rules.ts';
import { fail, STANDARDS, scalar } from '../../schema/scalar.ts';
import { createTextScalar, toInstant } from '../../schema/scalars.ts';
import { CalendarDate, TimeZone } from '../../schema/time-zone.ts';
import type { FieldError } from '../../src/shared/errors.ts';
import { describeDuration } from './duration.ts';

const UTC_INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|\+00:00)$/;

/** Instant in UTC, to the millisecond or coarser (ATT-2). */
const GateInstant = scalar<string>({
  name: 'GateInstant',
  description: 'ISO 8601 date-time in UTC, ending in `Z` or `+00:00`, with at most three decimals of a second.',
  jsonSchema: { type: 'string', pattern: UTC_INSTANT.source, examples: ['2026-03-02T07:30:00.000Z'] },
  specifiedBy: STANDARDS.dateTime,
  parse: (value) =>
    (typeof value === 'string' && UTC_INSTANT.test(value) && toInstant(value)) ||
    fail(
      'must be a date-time in UTC such as 2026-03-02T07:30:00Z or 2026-03-02T07:30:00.000+00:00, with at most three decimals',
    ),
});

/** Maximum length of each text of a sign-on event (ATT-1). */
const MAX_LENGTH = 200;

/** Identifier or name that the gate assigns; stored unchanged. */
export const GateText = createTextScalar('GateText', 'Text', MAX_LENGTH, 'gate-2-20260302-000147');

const WORKER_ID = /^wkr_[a-zA-Z0-9]+$/;

/** Id of a worker in a sign-on event. Accepts more than `WorkerId` does (ATT-1). */
export const GateWorkerId = scalar<string>({
  name: 'GateWorkerId',
  description: 'Identifier of a worker, which begins with `wkr_`.',
  jsonSchema: {
    type: 'string',
    pattern: WORKER_ID.source,
    maxLength: MAX_LENGTH,
    examples: ['wkr_a0mkq3v8t2n4c7x1p9r5w6yzb'],
  },
  parse: (value) =>
    typeof value === 'string' && value.length <= MAX_LENGTH && WORKER_ID.test(value)
      ? value
      : fail(`must be an identifier like wkr_a0mkq3v8t2n4c7x1p9r5w6yzb, of at most ${MAX_LENGTH} characters`),
});

/** Milliseconds that an event may be ahead of the server's clock, because clocks of gates differ. */
const CLOCK_TOLERANCE_MS = 5_000;

/** Body of a sign-on event (ATT-1). */
@ArgsType()
export class SignOnEventArgs {
  @Field(() => GateText, {
    description:
      'Identifier of the physical event. After a network or server failure send the same identifier again, never a new one.',
  })
  sourceEventId!: string;

  @Field(() => GateText, {
    nullable: true,
    description: 'On a SIGN_OFF: the `sourceEventId` of the sign-on that it ends. Not on a SIGN_ON.',
  })
  @Rule(({ type, sourceSignOnEventId }: SignOnEventArgs) =>
    type === 'SIGN_ON' && sourceSignOnEventId != null
      ? [{ fieldName: 'sourceSignOnEventId', message: 'must not be on a SIGN_ON' }]
      : [],
  )
  sourceSignOnEventId?: string | null;

  @Field(() => GateWorkerId, { description: 'The worker who passed the gate.' })
  workerId!: string;

  @Field(() => SignOnType, { description: 'Direction of the event.' })
  type!: SignOnType;

  @Field(() => GateInstant, {
    description: `Time of the event at the gate; at most ${CLOCK_TOLERANCE_MS / 1000} seconds ahead of the server's clock. An event that is further ahead is 400 and may be sent again once the time has come.`,
  })
  @Rule(findClockErrors)
  occurredAt!: string;

  @Field(() => GateText, { nullable: true, description: 'Identifier of the gate.' })
  deviceId?: string | null;
}

/** Returns the error of an event that is too far ahead of the clock (ATT-3). */
function findClockErrors({ occurredAt }: Partial<SignOnEventArgs>, now: number): FieldError[] {
  const ahead = occurredAt === undefined ? 0 : Date.parse(occurredAt) - now;
  if (ahead <= CLOCK_TOLERANCE_MS) return [];
  const message = `is ${describeDuration(ahead)} ahead of the server's clock, of which ${describeDuration(CLOCK_TOLERANCE_MS)} are accepted; send it again in ${describeDuration(ahead - CLOCK_TOLERANCE_MS)}`;
  return [{ fieldName: 'occurredAt', message }];
}

@ArgsType()
export class DayArgs {
  @Field(() => CalendarDate, { description: 'The day on which the visits began.' })
  date!: string;

  @Field(() => TimeZone, { nullable: true, description: 'Where it is that day. Default UTC.' })
  timeZone?: string | null;
}
