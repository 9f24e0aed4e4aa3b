import { Index, Property, Unique } from '@mikro-orm/decorators/legacy';
import { SignOnConflictCode, SignOnEventStatus } from '../schema/enums.ts';
import { SignOnEventId } from '../schema/scalars.ts';
import { ListsChanges } from './change-list.ts';
import { EnumField, IdField, Reference } from './columns.ts';
import { EntityType } from './entity-type.ts';
import { GateEvent } from './gate-record.ts';
import { PersonalData } from './personal-data.ts';
import { SignOnVisit } from './sign-on-visit.entity.ts';

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
@ListsChanges('sign_on_event', ['integratorId', 'projectId'])
export class SignOnEvent extends GateEvent {
  @IdField(() => SignOnEventId)
  id!: string;

  /** Order of receipt, finer than the clock. The first of several waiting sign-offs ends the visit. */
  @Property({ type: 'bigint', autoincrement: true })
  received!: string;

  @EnumField(() => SignOnEventStatus)
  status!: SignOnEventStatus;

  @EnumField(() => SignOnConflictCode, { nullable: true, description: 'Why a rejected sign-off could not be applied.' })
  rejection!: SignOnConflictCode | null;

  /** The visit that it began or ended. */
  @Reference(() => SignOnVisit, { nullable: true })
  visitId!: string | null;
}
