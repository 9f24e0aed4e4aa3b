import { Property, Unique } from '@mikro-orm/decorators/legacy';
import { FolderId } from '../schema/scalars.ts';
import { Builder } from './builder.entity.ts';
import { ChangeIndex, IdField, Instant, ListIndex, Reference, TextField, Tracked } from './columns.ts';
import { EntityType, ReferenceField } from './entity-type.ts';
import { Integrator } from './integrator.entity.ts';
import { PersonalData } from './personal-data.ts';
import { Project } from './project.entity.ts';
import { Publishes } from './published.ts';

/** A folder of the gallery (PHO-15). */
@EntityType({ scope: 'read:photos', description: 'A folder of photos in the gallery.' })
@PersonalData<PhotoFolder>({ none: ['sourceApp', 'pageExternalSourceId'], mentions: ['name'] })
@Publishes('photo_folder', 'photo_folder', {
  path: '/builders/{builderId}/photo-folders/{id}',
  project: true,
  archivable: true,
})
@ListIndex('builderId')
@ListIndex('projectId')
@ListIndex('parentId')
@ChangeIndex('builderId')
// One folder per synced page and project.
@Unique({
  name: 'photo_folder_page_unique',
  expression: `create unique index "photo_folder_page_unique" on "photo_folder"
    ("builder_id", "project_id", "integrator_id", "source_app", "page_external_source_id") nulls not distinct
    where "page_external_source_id" is not null and "archived_at" is null`,
})
export class PhotoFolder extends Tracked {
  @IdField(() => FolderId, { description: 'Identifies the folder in paths and filters.' })
  id!: string;

  @ReferenceField(() => Builder, { description: 'The builder that the folder belongs to.' })
  builderId!: string;

  @ReferenceField(() => Project, {
    nullable: true,
    description: 'The project of the folder; null when it is not about a single project.',
  })
  projectId!: string | null;

  @ReferenceField(() => PhotoFolder, { nullable: true, description: 'The folder that holds it; null at the top.' })
  parentId!: string | null;

  @TextField({ description: 'Name of the folder.' })
  name!: string;

  /** Integrator, application and page of a folder that a sync created. */
  @Reference(() => Integrator, { nullable: true })
  integratorId!: string | null;

  @Property({ type: 'text', nullable: true })
  sourceApp!: string | null;

  @Property({ type: 'text', nullable: true })
  pageExternalSourceId!: string | null;

  /** A deleted folder remains stored: archived photos refer to it, and a repeated sync may name it. */
  @Instant({ nullable: true })
  archivedAt!: string | null;
}
