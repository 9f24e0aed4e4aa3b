import { Unique } from '@mikro-orm/decorators/legacy';
import { Field, ObjectType } from 'type-graphql';
import { SubcontractorStatus } from '../schema/enums.ts';
import { SubcontractorId } from '../schema/scalars.ts';
import { Address } from './address.type.ts';
import { Builder } from './builder.entity.ts';
import { ChangesRoster } from './change-list.ts';
import { ChangeIndex, IdField, Instant, ListIndex, Reference, SearchIndex, TextField, Tracked } from './columns.ts';
import { ColumnField, EntityType } from './entity-type.ts';
import { Integration } from './integration.type.ts';
import { KeepsTotal } from './list-total.entity.ts';
import { PersonalData } from './personal-data.ts';
import { Publishes } from './published.ts';

/** A company that works for a builder, or the builder's own company record (RED-6, RED-7). */
@EntityType({ scope: 'read:subcontractors', description: 'A company that works for a builder.' })
@PersonalData<Subcontractor>({ none: ['abn', 'integrations'], mentions: ['name', 'address', 'tags'] })
@Publishes('subcontractor', 'subcontractor', { path: '/subcontractors/{id}', archivable: true })
@ChangesRoster('subcontractor', ['subcontractor_id', 'id'], ['name', 'archived_at'])
@KeepsTotal('subcontractor', 'is_builder', { project: null, active: 'archived_at is null' })
// The index includes the filter column, for index-only scans of pages and totals.
@ListIndex('builderId', { include: ['isBuilder'], where: 'archived_at is null' })
@ChangeIndex('builderId', { where: 'archived_at is null' })
@SearchIndex('subcontractor', 'name')
@Unique({
  name: 'subcontractor_company_unique',
  properties: ['builderId'],
  where: 'is_builder and archived_at is null',
})
export class Subcontractor extends Tracked {
  @IdField(() => SubcontractorId, { description: 'Identifies the subcontractor in paths.' })
  id!: string;

  @Reference(() => Builder)
  builderId!: string;

  @TextField({ description: 'Name of the company.' })
  name!: string;

  @TextField({ nullable: true, description: 'Australian Business Number: digits.' })
  abn!: string | null;

  @ColumnField(() => Boolean, 'boolean', {
    default: false,
    description: "Whether it is the builder's internal company record, of which there is one.",
  })
  isBuilder!: boolean;

  @ColumnField(() => Address, 'jsonb', { default: '{}' })
  address!: Address;

  @Field(() => [SubcontractorStatus], {
    description: 'Statuses of the subcontractor: on the requested project, otherwise on all of its projects.',
  })
  statuses!: SubcontractorStatus[];

  @ColumnField(() => [String], 'text[]', { default: [], description: "The builder's own labels." })
  tags!: string[];

  @ColumnField(() => [Integration], 'jsonb', { default: '[]', description: 'The same company in other platforms.' })
  integrations!: Integration[];

  /** An archived subcontractor and its records are not found (RED-9, RED-11). */
  @Instant({ nullable: true })
  archivedAt!: string | null;
}

/** A record of a subcontractor, which has the builder of the subcontractor. */
@ObjectType({ simpleResolvers: true })
export abstract class SubcontractorRecord extends Tracked {
  @Reference(() => Builder)
  builderId!: string;

  @Reference(() => Subcontractor)
  subcontractorId!: string;
}
