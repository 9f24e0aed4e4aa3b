import { Field, ObjectType } from 'type-graphql';
import { SignOnStatus } from '../../schema/enums.ts';
import { SignOnEventId, SignOnVisitId } from '../../schema/scalars.ts';

/** Result for an accepted event (ATT-15). */
@ObjectType({ description: 'Result of a sign-on event.', simpleResolvers: true })
class SignOnEventResult {
  @Field(() => SignOnEventId, { description: 'Identifies the event in this service.' })
  id!: string;

  @Field(() => String, { description: 'The `sourceEventId` of the request.' })
  sourceEventId!: string;

  @Field(() => SignOnStatus)
  status!: SignOnStatus;

  @Field(() => SignOnVisitId, { nullable: true, description: 'The visit that it began or ended; null while it waits.' })
  signOnId!: string | null;

  @Field(() => Boolean, { description: 'Whether the same event was accepted before.' })
  duplicate!: boolean;
}

@ObjectType({ description: 'Result of the event.', simpleResolvers: true })
export class SignOnEventAnswer {
  @Field(() => SignOnEventResult)
  data!: SignOnEventResult;
}
