import { ArgsType, Field } from 'type-graphql';
import { SignOnType } from '../../schema/enums.ts';
import { Rule } from '../../schema/input-rules.ts';
import { CalendarDate, TimeZone } from '../../schema/time-zone.ts';
import type { EventPayload } from '../../src/domain/attendance/decision-table.ts';
import type { FieldError } from '../../src/shared/errors.ts';
import { describeDuration } from './duration.ts';
import { GateInstant, GateText, GateWorkerId } from './gate.scalars.ts';

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

/** Returns the payload to compare and store. */
export function toEventPayload(args: SignOnEventArgs): EventPayload {
  const { sourceEventId, sourceSignOnEventId = null, workerId, type, occurredAt, deviceId = null } = args;
  return { sourceEventId, sourceSignOnEventId, workerId, type, occurredAt, deviceId };
}

@ArgsType()
export class DayArgs {
  @Field(() => CalendarDate, { description: 'The day on which the visits began.' })
  date!: string;

  @Field(() => TimeZone, { nullable: true, description: 'Where it is that day. Default UTC.' })
  timeZone?: string | null;
}
