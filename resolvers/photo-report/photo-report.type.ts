import { Field, ObjectType } from 'type-graphql';
import { PhotoReportArchiveStatus, PhotoReportStatus } from '../../schema/enums.ts';
import { PageId, PhotoReportId, Timestamp } from '../../schema/scalars.ts';
import { SourceRevision } from '../../src/domain/photo-reports/photo-report.scalars.ts';

/** Response of a sync (PRP-7). */
@ObjectType({ description: 'The snapshot is committed.', simpleResolvers: true })
export class PhotoReportSync {
  @Field(() => PhotoReportStatus, { description: '`partial` when an image of the tree is `FAILED`, else `synced`.' })
  status!: PhotoReportStatus;

  @Field(() => Boolean, { description: 'Whether the same revision with the same content was committed before.' })
  idempotent!: boolean;

  @Field(() => PhotoReportId, { description: 'Identifies the report; it stays the same over all revisions.' })
  photoReportId!: string;

  @Field(() => PageId, { description: 'The root page.' })
  pageId!: string;

  @Field(() => SourceRevision, { description: 'The revision that is stored now.' })
  sourceRevision!: number;
}

/** Response of `archivePhotoReport` (PRP-16). */
@ObjectType({ description: 'The report is archived.', simpleResolvers: true })
export class PhotoReportArchive {
  @Field(() => PhotoReportArchiveStatus)
  status!: PhotoReportArchiveStatus;

  @Field(() => Boolean, { description: 'Whether it was archived before.' })
  idempotent!: boolean;

  @Field(() => PhotoReportId, { description: 'Identifies the report; a newer revision restores it under the same id.' })
  photoReportId!: string;

  @Field(() => PageId, { description: 'The root page.' })
  pageId!: string;

  @Field(() => SourceRevision, { description: 'The stored revision.' })
  sourceRevision!: number;

  @Field(() => Timestamp, { description: 'When the report was archived.' })
  archivedAt!: string;
}
