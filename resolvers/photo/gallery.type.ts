import { Field, ObjectType } from 'type-graphql';
import { BulkDeleteStatus } from '../../schema/enums.ts';
import { AttachmentId, FolderId } from '../../schema/scalars.ts';

@ObjectType({ description: 'A photo of the page and its id in the gallery.', simpleResolvers: true })
class SyncedPhoto {
  @Field(() => String, { description: 'Identifier of the photo within its page, as it was sent.' })
  externalSourceId!: string;

  @Field(() => AttachmentId, { description: 'Identifies the photo; what `IMAGE` blocks of a photo report carry.' })
  attachmentId!: string;
}

@ObjectType({ description: 'A photo of the page that could not be stored; the others were.', simpleResolvers: true })
class FailedPhoto {
  @Field(() => String, { description: 'Identifier of the photo within its page, as it was sent.' })
  externalSourceId!: string;

  @Field(() => String, {
    description:
      '`INVALID_REFERENCE`, `INVALID_IMAGE`, `INVALID_IMAGE_URL`, `HOST_NOT_APPROVED`, `DOWNLOAD_FAILED` or `TIMEOUT`.',
  })
  code!: string;

  @Field(() => String, {
    description: 'Description of the failure; begins with the name of the field that caused it, if any.',
  })
  message!: string;
}

/** Response of `bulkUpsertPhotos` (PHO-24, PHO-25). */
@ObjectType({ description: 'The result for each photo of the page.', simpleResolvers: true })
export class BulkUpsertResult {
  @Field(() => FolderId, { nullable: true, description: 'Null when no photo is in any folder.' })
  folderId!: string | null;

  @Field(() => [AttachmentId], { description: 'Ids of the photos that this call has created.' })
  createdAttachmentIds!: string[];

  @Field(() => [SyncedPhoto], { description: 'The photos that this call has created.' })
  createdPhotos!: SyncedPhoto[];

  @Field(() => [String], { description: 'Identifiers of the photos that were there already.' })
  skippedExternalSourceIds!: string[];

  @Field(() => [SyncedPhoto], { description: 'Those that were there already.' })
  skippedPhotos!: SyncedPhoto[];

  @Field(() => [FailedPhoto], {
    description: 'The photos that could not be stored; send them again once the cause is removed.',
  })
  failedPhotos!: FailedPhoto[];
}

/** Response of `bulkDeletePhotos`. */
@ObjectType({ description: 'What was removed of the page.', simpleResolvers: true })
export class BulkDeleteResult {
  @Field(() => BulkDeleteStatus)
  status!: BulkDeleteStatus;

  @Field(() => FolderId, { nullable: true, description: 'The folder that the page was in.' })
  folderId!: string | null;

  @Field(() => [AttachmentId], {
    description: 'Ids of the photos that this call has archived; empty when all were archived before.',
  })
  deletedAttachmentIds!: string[];
}
