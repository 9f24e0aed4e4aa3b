import { Field, Int, ObjectType } from 'type-graphql';
import { SubcontractorSummary } from '../../entities/summaries.type.ts';
import {
  ConflictResolution,
  InductionStatus,
  SignOnConflictCode,
  SignOnEventStatus,
  SignOnType,
  SiteAccessStatus,
} from '../../schema/enums.ts';
import { ListCursor } from '../../schema/list-cursor.scalar.ts';
import { createPageType } from '../../schema/page.ts';
import { RosterEntryId, SignOnEventId, SignOnVisitId, Timestamp, WorkerId } from '../../schema/scalars.ts';

/** Time by which the lists of this file are ordered. */
const ChangeTime = () =>
  Field(() => Timestamp, {
    description: 'Time of the last change in the order of the list: shortly after its commit.',
  });

/** A worker whom a gate may see (ATT-35). */
@ObjectType({
  description: 'A worker who has or had access to the site of a project. It informs; it does not decide who may enter.',
  simpleResolvers: true,
})
export class RosterEntry {
  @Field(() => RosterEntryId, { description: 'Identifies the entry in the roster of its project.' })
  id!: string;

  @Field(() => WorkerId, { description: 'The worker, as sign-on events name them.' })
  workerId!: string;

  @Field(() => String, { description: 'First and last name of the worker.' })
  fullName!: string;

  @Field(() => SubcontractorSummary, {
    nullable: true,
    description: 'The company that the worker works for; null once it is archived.',
  })
  subcontractor!: SubcontractorSummary | null;

  @Field(() => SiteAccessStatus)
  status!: SiteAccessStatus;

  @Field(() => InductionStatus, {
    nullable: true,
    description:
      "Status of the worker's newest induction to the project; null without one, and unless token and connection have `read:inductions`.",
  })
  inductionStatus!: InductionStatus | null;

  @Field(() => Timestamp, { description: 'When the present or last access began.' })
  grantedAt!: string;

  @Field(() => Timestamp, { nullable: true, description: 'When the access was revoked; null while it is valid.' })
  revokedAt!: string | null;

  @ChangeTime()
  updatedAt!: string;
}

@ObjectType({ description: 'A sign-on event as it was sent.', simpleResolvers: true })
class SentSignOnEvent {
  @Field(() => String, { description: 'Identifier of the physical event.' })
  sourceEventId!: string;

  @Field(() => String, { nullable: true, description: 'On a SIGN_OFF: the `sourceEventId` of its sign-on.' })
  sourceSignOnEventId!: string | null;

  @Field(() => String, { description: 'The worker who passed the gate.' })
  workerId!: string;

  @Field(() => SignOnType)
  type!: SignOnType;

  @Field(() => Timestamp, { description: 'Time of the event at the gate.' })
  occurredAt!: string;

  @Field(() => String, { nullable: true, description: 'Identifier of the gate.' })
  deviceId!: string | null;
}

@ObjectType({ description: 'The visit that an event began or ended.', simpleResolvers: true })
class OwnVisit {
  @Field(() => Timestamp, { description: 'When the worker signed on.' })
  signedOnAt!: string;

  @Field(() => Timestamp, { nullable: true, description: 'When the worker signed off.' })
  signedOffAt!: string | null;

  @Field(() => Timestamp, { nullable: true, description: 'When the worker left, as stated by a person.' })
  closedAt!: string | null;
}

/** An event of the calling integrator, and what became of it (ATT-37). */
@ObjectType({ description: 'A sign-on event that the integrator sent, and what became of it.', simpleResolvers: true })
export class OwnSignOnEvent extends SentSignOnEvent {
  @Field(() => SignOnEventId, { description: 'Identifies the event in this service.' })
  id!: string;

  @Field(() => SignOnEventStatus)
  status!: SignOnEventStatus;

  @Field(() => SignOnConflictCode, { nullable: true, description: 'Why a sign-off that waited was rejected.' })
  rejection!: SignOnConflictCode | null;

  @Field(() => SignOnVisitId, { nullable: true, description: 'The visit that it began or ended.' })
  signOnId!: string | null;

  @Field(() => Timestamp, { description: 'When the event was received first.' })
  receivedAt!: string;

  @ChangeTime()
  updatedAt!: string;

  @Field(() => OwnVisit, { nullable: true, description: 'The visit that it began or ended.' })
  visit!: OwnVisit | null;
}

/** An event of the calling integrator that was rejected with 409 (ATT-38). */
@ObjectType({ description: 'A sign-on event of the integrator that was rejected with 409.', simpleResolvers: true })
export class OwnSignOnConflict {
  @Field(() => SignOnConflictCode, { description: 'Code of the latest response.' })
  code!: SignOnConflictCode;

  @Field(() => SentSignOnEvent, { description: 'The event as it was sent.' })
  event!: SentSignOnEvent;

  @Field(() => Timestamp, { description: 'When the event was received first.' })
  firstReceivedAt!: string;

  @Field(() => Timestamp, { description: 'When the event was received last.' })
  lastReceivedAt!: string;

  @Field(() => Int, { description: 'Number of times that the event was received and rejected.' })
  count!: number;

  @Field(() => Timestamp, {
    nullable: true,
    description: 'When a person resolved the conflict; null while it is open.',
  })
  resolvedAt!: string | null;

  @Field(() => ConflictResolution, { nullable: true, description: 'What the person decided; null while it is open.' })
  resolution!: ConflictResolution | null;

  @ChangeTime()
  updatedAt!: string;
}

@ObjectType({ description: 'Cursor of a page of changes.', simpleResolvers: true })
class ChangePageMeta {
  @Field(() => ListCursor, {
    description: 'The value of `cursor` for what follows: the next page, or later changes. Also on an empty page.',
  })
  nextCursor!: string;

  @Field(() => Boolean, { description: 'Whether to request the next page at once.' })
  hasMore!: boolean;
}

export const RosterEntryPage = createPageType(RosterEntry, ChangePageMeta, 'time of change');
export const OwnSignOnEventPage = createPageType(OwnSignOnEvent, ChangePageMeta, 'time of change');
export const OwnSignOnConflictPage = createPageType(OwnSignOnConflict, ChangePageMeta, 'time of change');
