import { Entity, Enum, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Field, Int, ObjectType } from 'type-graphql';
import { PhotoReportStatus } from '../schema/enums.ts';
import { Scoped } from '../schema/rest.ts';
import { BuilderId, PhotoReportId, ProjectId, Timestamp, UserId } from '../schema/scalars.ts';
import { Builder } from './builder.entity.ts';
import { Id, Instant, ListIndex, Reference, Timestamped } from './columns.ts';
import { Integrator } from './integrator.entity.ts';
import { Project } from './project.entity.ts';
import { User } from './user.entity.ts';

@ObjectType({ description: 'Who made a report in its application.', simpleResolvers: true })
export class SourceAuthor {
  @Field(() => String)
  externalId!: string;

  @Field(() => String)
  name!: string;

  @Field(() => String, { nullable: true })
  email?: string | null;
}

/** A report of a site walk, as last synced (PRP-1). */
@ObjectType({ description: 'A report of a site walk, synced from another application.', simpleResolvers: true })
@Scoped('read:photos')
@Entity()
@Unique({ properties: ['builderId', 'sourceApp', 'sourceExternalId'] })
@ListIndex('builderId')
@ListIndex('projectId')
export class PhotoReport extends Timestamped {
  @Field(() => PhotoReportId)
  @Id()
  id!: string;

  @Field(() => BuilderId)
  @Reference(() => Builder)
  builderId!: string;

  /** Integrator that synced it first, which owns it. */
  @Reference(() => Integrator)
  integratorId!: string;

  @Field(() => ProjectId, { nullable: true })
  @Reference(() => Project, { nullable: true })
  projectId!: string | null;

  @Field(() => String, { description: 'Application that the report comes from.' })
  @Property({ type: 'text' })
  sourceApp!: string;

  @Field(() => String, { description: 'Identifier of the report there.' })
  @Property({ type: 'text' })
  sourceExternalId!: string;

  @Field(() => Int, { description: 'The revision that was synced last.' })
  @Property({ type: 'integer' })
  sourceRevision!: number;

  @Field(() => PhotoReportStatus)
  @Enum({ items: () => PhotoReportStatus })
  status!: PhotoReportStatus;

  @Field(() => String, { description: 'Title of the root page.' })
  @Property({ type: 'text' })
  title!: string;

  @Field(() => Timestamp, { description: 'When the report was made there.' })
  @Instant()
  sourceCreatedAt!: string;

  @Field(() => Timestamp, { description: 'When the site was walked.' })
  @Instant()
  walkthroughDate!: string;

  @Field(() => SourceAuthor)
  @Property({ type: 'jsonb' })
  sourceAuthor!: SourceAuthor;

  @Field(() => UserId, { nullable: true, description: 'The member of the builder who is the author.' })
  @Reference(() => User, { nullable: true })
  mappedAdminUserId!: string | null;

  @Field(() => String, { nullable: true, description: 'Opens the report in its application.' })
  @Property({ type: 'text', nullable: true })
  sourceDeepLink!: string | null;

  /** SHA-256 of the content in canonical JSON, in hexadecimal. Distinguishes a retry from a changed content. */
  @Property({ type: 'text' })
  fingerprint!: string;

  /** The request without its revision. Not compressed: compression would dominate the duration of a large sync. */
  @Property({ type: 'jsonb', columnType: 'jsonb storage external', ignoreSchemaChanges: ['type'] })
  content!: Record<string, unknown>;

  @Field(() => Timestamp, { nullable: true, description: 'When it was archived; null while it is active.' })
  @Instant({ nullable: true })
  archivedAt!: string | null;
}
