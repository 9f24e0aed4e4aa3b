import { Index, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Field } from 'type-graphql';
import { SignOnConflictCode, SignOnEventStatus, SignOnType } from '../schema/enums.ts';
import { SignOnEventId } from '../schema/scalars.ts';
import { Builder } from './builder.entity.ts';
import { ListedAt, ListsChanges } from './change-list.ts';
import { EnumField, IdField, InstantField, Reference, TextField, Timestamped } from './columns.ts';
import { EntityType } from './entity-type.ts';
import { Integrator } from './integrator.entity.ts';
import { PersonalData } from './personal-data.ts';
import { Project } from './project.entity.ts';
import { SignOnVisit } from './sign-on-visit.entity.ts';
import { IntegratorSummary, ProjectSummary, WorkerSummary } from './summaries.type.ts';
import { Worker } from './worker.entity.ts';

/** A sign-on or sign-off that a gate sent, and what came of it (ATT-10). */
@EntityType({ scope: 'read:attendance', description: 'A sign-on or sign-off that a gate reported.' })
@PersonalData<SignOnEvent>({ of: { worker: 'workerId' }, none: ['sourceEventId', 'sourceSignOnEventId', 'deviceId'] })
// Identity of the physical event; it does not depend on the client's credentials.
@Unique({ name: 'sign_on_event_source_key', properties: ['integratorId', 'builderId', 'projectId', 'sourceEventId'] })
@Index({
  name: 'sign_on_event_waiting',
  properties: ['integratorId', 'builderId', 'projectId', 'sourceSignOnEventId'],
  where: `status = 'PENDING_SIGN_ON'`,
})
@Index({
  name: 'sign_on_event_not_applied_on_project',
  properties: ['projectId', 'status', 'createdAt', 'id'],
  where: `status <> 'APPLIED'`,
})
@Index({
  name: 'sign_on_event_not_applied_of_builder',
  properties: ['builderId', 'status', 'createdAt', 'id'],
  where: `status <> 'APPLIED'`,
})
@Index({ properties: ['visitId'] })
@ListsChanges('sign_on_event', 'integratorId', 'projectId', 'id')
export class SignOnEvent extends Timestamped {
  @IdField(() => SignOnEventId)
  id!: string;

  /** Order of receipt, finer than the clock. The first of several waiting sign-offs ends the visit. */
  @Property({ type: 'bigint', autoincrement: true })
  received!: string;

  @Reference(() => Integrator)
  integratorId!: string;

  @Reference(() => Builder)
  builderId!: string;

  @Reference(() => Project)
  projectId!: string;

  @Reference(() => Worker)
  workerId!: string;

  @TextField({ description: 'Identity of the physical event at the gate.' })
  sourceEventId!: string;

  @TextField({ nullable: true, description: 'On a sign-off: identity of the sign-on that it ends.' })
  sourceSignOnEventId!: string | null;

  @EnumField(() => SignOnType)
  type!: SignOnType;

  @InstantField({ description: 'Time of the event at the gate.' })
  occurredAt!: string;

  @TextField({ nullable: true, description: 'Identifier of the gate.' })
  deviceId!: string | null;

  @EnumField(() => SignOnEventStatus)
  status!: SignOnEventStatus;

  @EnumField(() => SignOnConflictCode, { nullable: true, description: 'Why a rejected sign-off could not be applied.' })
  rejection!: SignOnConflictCode | null;

  /** The visit that it began or ended. */
  @Reference(() => SignOnVisit, { nullable: true })
  visitId!: string | null;

  @ListedAt()
  listedAt?: string | null;

  @Field(() => IntegratorSummary, { description: 'The integrator that operates the gate.' })
  integrator!: IntegratorSummary;

  @Field(() => WorkerSummary)
  worker!: WorkerSummary;

  @Field(() => ProjectSummary)
  project!: ProjectSummary;
}
