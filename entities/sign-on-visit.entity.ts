import { Index, Property } from '@mikro-orm/decorators/legacy';
import { VisitAnomaly } from '../schema/enums.ts';
import { SignOnVisitId } from '../schema/scalars.ts';
import { EnumField, IdField, InstantField, ListIndex, TextField } from './columns.ts';
import { EntityType } from './entity-type.ts';
import { GateRecord } from './gate-record.ts';
import { PersonalData } from './personal-data.ts';
import { FunctionTrigger } from './published.ts';

/** SQL condition of a visit that is not signed off, closed or archived. */
export const OPEN = 'signed_off_at is null and closed_at is null and archived_at is null';

/** A worker's visit to a site, from a sign-on to the sign-off that names it (ATT-15, ATT-16). */
@EntityType({ scope: 'read:attendance', description: 'One visit of a worker to a site, as gates reported it.' })
@PersonalData<SignOnVisit>({ of: { worker: 'workerId' }, people: ['closedBy'], mentions: ['closingReason'] })
@Index({ properties: ['projectId', 'signedOnAt'] })
@ListIndex('workerId')
// Includes what figures of attendance read, for index-only scans.
@Index({ properties: ['builderId', 'signedOnAt'], include: ['projectId', 'workerId'], where: 'archived_at is null' })
@Index({ name: 'sign_on_visit_open_on_project', properties: ['projectId', 'createdAt', 'id'], where: OPEN })
@Index({ name: 'sign_on_visit_open_of_builder', properties: ['builderId', 'createdAt', 'id'], where: OPEN })
// The end of a visit is a change of its sign-on, which shows it to its integrator (ATT-40).
@FunctionTrigger({
  table: 'sign_on_visit',
  name: 'end',
  scope: `after update on TABLE for each row
      when ((old.signed_off_at, old.closed_at) is distinct from (new.signed_off_at, new.closed_at))`,
  body: `update public.sign_on_event set listed_at = null where visit_id = new.id and type = 'SIGN_ON';`,
})
export class SignOnVisit extends GateRecord {
  @IdField(() => SignOnVisitId)
  id!: string;

  @InstantField({ description: 'When the worker signed on, as the gate reported.' })
  signedOnAt!: string;

  @InstantField({ nullable: true, description: 'When the worker signed off, as the gate reported.' })
  signedOffAt!: string | null;

  @InstantField({
    nullable: true,
    description: 'When the worker left, as stated by the person who closed the visit.',
  })
  closedAt!: string | null;

  @TextField({ nullable: true, description: 'Who closed the visit by hand.' })
  closedBy!: string | null;

  /** Why a person closed it in the console, whose schema alone has it. */
  @Property({ type: 'text', nullable: true })
  closingReason!: string | null;

  @InstantField({
    nullable: true,
    description: 'When the visit was archived; attendance no longer counts it.',
  })
  archivedAt!: string | null;

  @EnumField(() => VisitAnomaly, {
    nullable: true,
    description: 'Why the visit needs a review; null if it does not.',
  })
  anomaly!: VisitAnomaly | null;
}
