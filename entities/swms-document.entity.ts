import { Property } from '@mikro-orm/decorators/legacy';
import { SwmsStatus } from '../schema/enums.ts';
import { SwmsId } from '../schema/scalars.ts';
import { ChangeIndex, EnumField, FileKeyPrefix, IdField, ListIndex, Reference, TextField } from './columns.ts';
import { EntityType } from './entity-type.ts';
import { PersonalData } from './personal-data.ts';
import { Project } from './project.entity.ts';
import { Publishes } from './published.ts';
import { SubcontractorRecord } from './subcontractor.entity.ts';

/** A safe work method statement that a subcontractor handed in (RED-12). */
@EntityType({ scope: 'read:swms', description: 'A safe work method statement document of a subcontractor.' })
@FileKeyPrefix({ table: 'swms_document', column: 'document_key', prefix: 'documents', owner: 'builder_id' })
@PersonalData<SwmsDocument>({ addresses: ['url', 'documentKey'], mentions: ['name'] })
@Publishes('swms_document', 'swms_document', {
  path: '/subcontractors/{parentId}/swms/{id}',
  parent: 'subcontractor_id',
  project: true,
})
@ListIndex('subcontractorId')
@ChangeIndex('subcontractorId')
export class SwmsDocument extends SubcontractorRecord {
  @IdField(() => SwmsId, { description: 'Identifies the document in paths.' })
  id!: string;

  /** Null if the document is valid for all projects. */
  @Reference(() => Project, { nullable: true })
  projectId!: string | null;

  @TextField({ description: 'Title of the document.' })
  name!: string;

  @EnumField(() => SwmsStatus)
  status!: SwmsStatus;

  @TextField({ nullable: true, description: 'HTTPS address of the document.' })
  url!: string | null;

  /** Key of the document in the storage; takes precedence over `url`. */
  @Property({ type: 'text', nullable: true })
  documentKey!: string | null;
}
