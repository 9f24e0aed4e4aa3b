import { Index, Property, Unique } from '@mikro-orm/decorators/legacy';
import { PhotoSource } from '../schema/enums.ts';
import { AttachmentId, JsonObject } from '../schema/scalars.ts';
import { Builder } from './builder.entity.ts';
import {
  ChangeIndex,
  EnumField,
  FileKeyPrefix,
  IdField,
  InstantField,
  ListIndex,
  Reference,
  SqlTrigger,
  TextField,
  Tracked,
} from './columns.ts';
import { ColumnField, EntityType, ReferenceField } from './entity-type.ts';
import { Integrator } from './integrator.entity.ts';
import { KeepsTotal } from './list-total.entity.ts';
import { PersonalData } from './personal-data.ts';
import { PhotoFolder } from './photo-folder.entity.ts';
import { Project } from './project.entity.ts';
import { Publishes } from './published.ts';

const ACTIVE = 'archived_at is null';

/** A photo of a builder. Its id is its attachment id (PHO-1). */
@EntityType({ scope: 'read:photos', description: 'A photo of a builder.' })
@FileKeyPrefix({ table: 'photo', column: 'key', prefix: 'photos', owner: 'builder_id' })
@PersonalData<Photo>({
  none: ['contentType', 'sourceApp', 'pageExternalSourceId', 'externalSourceId'],
  mentions: ['fileName', 'description', 'metadata'],
  addresses: ['key'],
})
@Publishes('photo', 'photo', {
  path: '/builders/{builderId}/photos/{id}?source={parentId}',
  parent: 'source',
  project: true,
  archivable: true,
})
@KeepsTotal('photo', 'source', { parent: 'folder_id', active: ACTIVE })
// They add and renew the rows of `photo_rendition`. A migration creates their function.
@SqlTrigger(
  `create trigger "photo_rendition_insert" after insert on "photo" referencing new table as changed for each statement execute function "photo_rendition_queue"()`,
)
@SqlTrigger(
  `create trigger "photo_rendition_update" after update on "photo" for each row when (old.key is distinct from new.key) execute function "photo_rendition_queue"()`,
)
// The indexes include the filter columns, for index-only scans of pages and totals.
@ListIndex('builderId', { include: ['projectId', 'folderId', 'source'], where: ACTIVE })
@ListIndex('builderId', { secondFilter: 'source', include: ['projectId', 'folderId'], where: ACTIVE })
@ListIndex('projectId', { include: ['builderId', 'folderId', 'source'], where: ACTIVE })
@ListIndex('folderId', { include: ['builderId', 'projectId', 'source'], where: ACTIVE })
@ChangeIndex('builderId', { where: ACTIVE })
@Index({ properties: ['key'] })
// Identity of a photo that was created singly, and of one that was synced with its page. MikroORM has no option for either.
@Unique({
  name: 'photo_source_unique',
  expression: `create unique index "photo_source_unique" on "photo" ("builder_id", "integrator_id", "external_source_id")
    nulls not distinct
    where "external_source_id" is not null and "page_external_source_id" is null and "archived_at" is null`,
})
@Unique({
  name: 'photo_page_source_unique',
  expression: `create unique index "photo_page_source_unique" on "photo"
    ("builder_id", "integrator_id", "source_app", "page_external_source_id", "external_source_id") nulls not distinct
    where "page_external_source_id" is not null and "archived_at" is null`,
})
export class Photo extends Tracked {
  @IdField(() => AttachmentId, {
    description: 'Identifies the photo in paths; also its attachment id, which `IMAGE` blocks of a photo report carry.',
  })
  id!: string;

  @ReferenceField(() => Builder, { description: 'The builder that the photo belongs to.' })
  builderId!: string;

  @ReferenceField(() => Project, {
    nullable: true,
    description: 'The project that the photo was taken on; null when it belongs to no single project.',
  })
  projectId!: string | null;

  @EnumField(() => PhotoSource, { description: 'The area that owns the photo.' })
  source!: PhotoSource;

  @ReferenceField(() => PhotoFolder, {
    nullable: true,
    description: 'The gallery folder that holds the photo; null when it is in none.',
  })
  folderId!: string | null;

  @TextField({ description: 'Name of the file, also of a download.' })
  fileName!: string;

  @TextField({ description: 'Media type, detected from the bytes.' })
  contentType!: string;

  @TextField({ description: 'Storage key.' })
  key!: string;

  @ColumnField(() => String, 'integer', { description: 'Size in bytes, as decimal digits.' })
  fileSize!: number;

  @TextField({ nullable: true, description: 'Text about the photo.' })
  description!: string | null;

  @InstantField({ nullable: true, description: 'When it was taken, if that is known.' })
  photoTakenDate!: string | null;

  @InstantField({ description: '`photoTakenDate`, or else `createdAt`.' })
  sortDate!: string;

  @ColumnField(() => JsonObject, 'jsonb', {
    default: '{}',
    description:
      '`externalSourceId` and `sourceApp`; of a synced photo also `pageExternalSourceId`, `sequenceId`, `width` and `height`.',
  })
  metadata!: Record<string, unknown>;

  @InstantField({ nullable: true, description: 'When it was archived; null while it is active.' })
  archivedAt!: string | null;

  /** Integrator that created it; the columns below identify the photo there. */
  @Reference(() => Integrator, { nullable: true })
  integratorId!: string | null;

  @Property({ type: 'text', nullable: true })
  sourceApp!: string | null;

  @Property({ type: 'text', nullable: true })
  pageExternalSourceId!: string | null;

  @Property({ type: 'text', nullable: true })
  externalSourceId!: string | null;
}
