import { Property, Unique } from '@mikro-orm/decorators/legacy';
import { Field, Int, ObjectType } from 'type-graphql';
import { PhotoReportStatus } from '../schema/enums.ts';
import { PhotoReportId, UserId } from '../schema/scalars.ts';
import { Builder } from './builder.entity.ts';
import { EnumField, IdField, InstantField, ListIndex, Reference, TextField, Tracked } from './columns.ts';
import { ColumnField, EntityType, ReferenceField } from './entity-type.ts';
import { Integrator } from './integrator.entity.ts';
import { PersonalData } from './personal-data.ts';
import { Project } from './project.entity.ts';
import { Publishes } from './published.ts';
import { User } from './user.entity.ts';

@ObjectType({ description: 'Who made a report in its application.', simpleResolvers: true })
class SourceAuthor {
  @Field(() => String)
  externalId!: string;

  @Field(() => String)
  name!: string;

  @Field(() => String, { nullable: true })
  email?: string | null;
}

/** A report of a site walk, as last synced (PRP-1). */
@EntityType({ scope: 'read:photos', description: 'A report of a site walk, synced from another application.' })
@PersonalData<PhotoReport>({
  of: { user: 'mappedAdminUserId' },
  none: ['sourceApp', 'sourceExternalId', 'fingerprint'],
  people: ['sourceAuthor'],
  // Its author is erased like `sourceAuthor`.
  mentions: ['title', 'content'],
  addresses: ['sourceDeepLink'],
})
@Publishes('photo_report', 'photo_report', { project: true, archivable: true })
@Unique({ properties: ['builderId', 'sourceApp', 'sourceExternalId'] })
@ListIndex('builderId')
@ListIndex('projectId')
export class PhotoReport extends Tracked {
  @IdField(() => PhotoReportId)
  id!: string;

  @ReferenceField(() => Builder)
  builderId!: string;

  /** Integrator that synced it first, which owns it. */
  @Reference(() => Integrator)
  integratorId!: string;

  @ReferenceField(() => Project, { nullable: true })
  projectId!: string | null;

  @TextField({ description: 'Application that the report comes from.' })
  sourceApp!: string;

  @TextField({ description: 'Identifier of the report there.' })
  sourceExternalId!: string;

  @ColumnField(() => Int, 'integer', { description: 'The revision that was synced last.' })
  sourceRevision!: number;

  @EnumField(() => PhotoReportStatus)
  status!: PhotoReportStatus;

  @TextField({ description: 'Title of the root page.' })
  title!: string;

  @InstantField({ description: 'When the report was made there.' })
  sourceCreatedAt!: string;

  @InstantField({ description: 'When the site was walked.' })
  walkthroughDate!: string;

  @ColumnField(() => SourceAuthor, 'jsonb')
  sourceAuthor!: SourceAuthor;

  @Field(() => UserId, { nullable: true, description: 'The member of the builder who is the author.' })
  @Reference(() => User, { nullable: true })
  mappedAdminUserId!: string | null;

  @TextField({ nullable: true, description: 'Opens the report in its application.' })
  sourceDeepLink!: string | null;

  /** SHA-256 of the content in canonical JSON, in hexadecimal. Distinguishes a retry from a changed content. */
  @Property({ type: 'text' })
  fingerprint!: string;

  /** The request without its revision. Not compressed: compression would dominate the duration of a large sync. */
  @Property({ type: 'jsonb', columnType: 'jsonb storage external', ignoreSchemaChanges: ['type'] })
  content!: Record<string, unknown>;

  @InstantField({ nullable: true, description: 'When it was archived; null while it is active.' })
  archivedAt!: string | null;
}
