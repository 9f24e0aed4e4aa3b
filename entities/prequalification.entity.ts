import { PrequalificationStatus } from '../schema/enums.ts';
import { PrequalificationId } from '../schema/scalars.ts';
import { ChangeIndex, EnumField, IdField, ListIndex, TextField } from './columns.ts';
import { EntityType } from './entity-type.ts';
import { PersonalData } from './personal-data.ts';
import { Publishes } from './published.ts';
import { SubcontractorRecord } from './subcontractor.entity.ts';

/** A builder's check of a subcontractor before it may work (RED-13). */
@EntityType({
  scope: 'read:prequalifications',
  description: "A builder's check of a subcontractor before it may work.",
})
@PersonalData<Prequalification>({ mentions: ['reviewComments'] })
@Publishes('prequalification', 'prequalification', {
  path: '/subcontractors/{parentId}/prequalifications/{id}',
  parent: 'subcontractor_id',
})
@ListIndex('subcontractorId')
@ChangeIndex('subcontractorId')
export class Prequalification extends SubcontractorRecord {
  @IdField(() => PrequalificationId, { description: 'Identifies the prequalification in paths.' })
  id!: string;

  @EnumField(() => PrequalificationStatus)
  status!: PrequalificationStatus;

  @TextField({ nullable: true, description: "The reviewer's comments." })
  reviewComments!: string | null;
}
