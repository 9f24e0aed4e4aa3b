import { Index, Property } from '@mikro-orm/decorators/legacy';
import { Field, Int, ObjectType } from 'type-graphql';
import { ByteCount, SnapshotId, SnapshotResource, SnapshotStatus } from '../schema/snapshot.scalars.ts';
import { Builder } from './builder.entity.ts';
import { EnumField, IdField, Instant, InstantField, Reference, TextField } from './columns.ts';
import { ColumnField, EntityType, ReferenceField } from './entity-type.ts';
import { Integrator } from './integrator.entity.ts';
import { OAuthClient } from './oauth-client.entity.ts';
import { PersonalData } from './personal-data.ts';

@ObjectType({ description: 'How much of a snapshot is written.', simpleResolvers: true })
export class SnapshotProgress {
  @Field(() => Int, { description: 'Records that are written.' })
  done!: number;

  @Field(() => Int, { description: 'Records that there were when it began; 0 before.' })
  total!: number;
}

@ObjectType({ description: 'A file of a snapshot: gzip of newline-delimited JSON.', simpleResolvers: true })
export class SnapshotFile {
  @Field(() => SnapshotResource, { description: 'What the records are.' })
  resource!: SnapshotResource;

  @Field(() => Int, { description: 'Lines of the file.' })
  records!: number;

  @Field(() => ByteCount, { description: 'Bytes of the file, compressed.' })
  bytes!: number;

  @Field(() => String, { description: 'SHA-256 of these bytes, in hexadecimal.' })
  sha256!: string;

  @Field(() => String, {
    nullable: true,
    description: 'Signed URL to download the file, for 15 minutes; null in lists.',
  })
  url!: string | null;

  /** Storage key. */
  key!: string;
}

/** A copy of a builder's records for an integrator (SNP-1). Its files are below `snapshots/{builder}/{id}` in the storage. */
@EntityType({ description: "A copy of a builder's records, as files." })
@PersonalData<Snapshot>({ none: ['resources', 'scopes', 'eventCursor', 'progress', 'files', 'erasures'] })
@Index({ properties: ['integratorId', 'createdAt', 'id'] })
@Index({ properties: ['status', 'hasFiles'] })
export class Snapshot {
  @IdField(() => SnapshotId, { description: 'Identifies the snapshot in paths.' })
  id!: string;

  @Reference(() => Integrator)
  integratorId!: string;

  /** The client that created it, whose scopes it needs while it is written. */
  @Reference(() => OAuthClient)
  clientId!: string;

  @ReferenceField(() => Builder, { description: 'The builder whose records it has.' })
  builderId!: string;

  @EnumField(() => SnapshotStatus)
  status!: SnapshotStatus;

  @ColumnField(() => [SnapshotResource], 'text[]', { description: 'What it has, in the order of the files.' })
  resources!: SnapshotResource[];

  /** Scopes of the resources. */
  @Property({ type: 'text[]' })
  scopes!: string[];

  @ColumnField(() => SnapshotProgress, 'jsonb', { default: '{"done": 0, "total": 0}' })
  progress!: SnapshotProgress;

  @TextField({
    nullable: true,
    description:
      '`after` of `GET /events`: the files, then the events after it, are an exact copy. Null before it begins.',
  })
  eventCursor!: string | null;

  @ColumnField(() => [SnapshotFile], 'jsonb', { default: '[]', description: 'The files that are complete.' })
  files!: SnapshotFile[];

  @InstantField({ description: 'When it was requested.' })
  createdAt!: string;

  @InstantField({ nullable: true, description: 'When it was complete or failed.' })
  finishedAt!: string | null;

  @InstantField({ nullable: true, description: 'When its files are deleted; null before it is complete.' })
  expiresAt!: string | null;

  /** When the integrator cancelled or removed it. */
  @Instant({ nullable: true })
  deletedAt!: string | null;

  /** When the audit log last recorded that it was downloaded. */
  @Instant({ nullable: true })
  downloadedAt!: string | null;

  /** Processes that began to write it. The number identifies the one that may change it. */
  @Property({ type: 'integer', default: 0 })
  attempts!: number;

  /** By the clock of the database: another process may write it afterwards. */
  @Instant({ nullable: true })
  leasedUntil!: string | null;

  /** Erasures of people in the builder's records that its transaction has seen. A later one, or one that is repeated, ends the snapshot. */
  @Property({ type: 'text', nullable: true })
  erasures!: string | null;

  /** Whether the storage may have files of it. */
  @Property({ type: 'boolean', default: false })
  hasFiles!: boolean;
}
