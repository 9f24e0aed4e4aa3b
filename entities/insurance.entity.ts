import { Index, Property } from '@mikro-orm/decorators/legacy';
import { Field } from 'type-graphql';
import { InsuranceStatus, InsuranceType } from '../schema/enums.ts';
import { GraphOnly } from '../schema/rest.ts';
import { InsuranceId } from '../schema/scalars.ts';
import { ChangeIndex, EnumField, FileKeyPrefix, IdField, InstantField, ListIndex, TextField } from './columns.ts';
import { EntityType } from './entity-type.ts';
import { PersonalData } from './personal-data.ts';
import { Publishes } from './published.ts';
import { SubcontractorRecord } from './subcontractor.entity.ts';
import { SubcontractorSummary } from './summaries.type.ts';

/** An insurance document of a subcontractor (RED-14). */
@EntityType({ scope: 'read:insurances', description: 'An insurance document of a subcontractor.' })
@FileKeyPrefix({ table: 'insurance', column: 'document_key', prefix: 'documents', owner: 'builder_id' })
@PersonalData<Insurance>({ addresses: ['url', 'documentKey'], mentions: ['name', 'customType'] })
@Publishes('insurance', 'insurance', { path: '/subcontractors/{parentId}/insurances/{id}', parent: 'subcontractor_id' })
@ListIndex('subcontractorId')
@Index({ properties: ['builderId', 'expiry', 'id'] })
@ListIndex('builderId')
@ChangeIndex('subcontractorId')
export class Insurance extends SubcontractorRecord {
  @IdField(() => InsuranceId, { description: 'Identifies the insurance in paths.' })
  id!: string;

  @TextField({ description: 'Name of the document.' })
  name!: string;

  @EnumField(() => InsuranceType)
  type!: InsuranceType;

  @TextField({ nullable: true, description: "The builder's own name of a type `OTHER`." })
  customType!: string | null;

  @EnumField(() => InsuranceStatus)
  status!: InsuranceStatus;

  @InstantField({ nullable: true, description: 'When the cover ends.' })
  expiry!: string | null;

  @TextField({ nullable: true, description: 'HTTPS address of the document.' })
  url!: string | null;

  /** Key of the document in the storage; takes precedence over `url`. */
  @Property({ type: 'text', nullable: true })
  documentKey!: string | null;

  @Field(() => SubcontractorSummary, { description: 'The subcontractor that it covers.' })
  @GraphOnly()
  subcontractor!: SubcontractorSummary;
}
