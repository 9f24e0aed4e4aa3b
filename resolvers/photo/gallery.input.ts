import { ArgsType, Field, InputType } from 'type-graphql';
import { ItemCount, Rule } from '../../schema/input-rules.ts';
import { FolderName, ImageUrl, PhotoDescription, SequenceId } from '../../schema/photo.scalars.ts';
import {
  ExternalSourceId,
  FileName,
  FolderId,
  PixelCount,
  ProjectId,
  SourceApp,
  Timestamp,
} from '../../schema/scalars.ts';
import { findGalleryErrors } from '../../src/domain/photos/photo-inputs.ts';
import { AttachmentReference } from '../attachment/attachment.type.ts';

const MAX_PHOTOS = 100;

@InputType({ description: 'A photo of the page, with `imageAttachment` or `imageUrl`.' })
export class GalleryPhoto {
  @Field(() => ExternalSourceId, { description: 'Identifier of the photo within its page.' })
  externalSourceId!: string;

  @Field(() => FileName, { nullable: true, description: "Default: the upload's, else that of the URL, or `photo`." })
  fileName?: string | null;

  @Field(() => String, { nullable: true, description: 'Media type; when given, it must match the bytes.' })
  contentType?: string | null;

  @Field(() => SequenceId, { nullable: true, description: 'Place of the photo in its page.' })
  sequenceId?: number | string | null;

  @Field(() => AttachmentReference, {
    nullable: true,
    description: 'An uploaded image; give either this or `imageUrl`.',
  })
  imageAttachment?: AttachmentReference | null;

  @Field(() => ImageUrl, {
    nullable: true,
    description: 'HTTPS address of the image on an approved host; give either this or `imageAttachment`.',
  })
  imageUrl?: string | null;

  @Field(() => PixelCount, { nullable: true, description: 'Width in pixels. Default: detected from the bytes.' })
  width?: number | null;

  @Field(() => PixelCount, { nullable: true, description: 'Height in pixels. Default: detected from the bytes.' })
  height?: number | null;

  @Field(() => Timestamp, { nullable: true, description: 'When it was taken. Default: taken from its EXIF data.' })
  capturedAt?: string | null;

  @Field(() => PhotoDescription, { nullable: true, description: 'Text about the photo, at most 20000 characters.' })
  description?: string | null;
}

@ArgsType()
class SourcePageArgs {
  @Field(() => ExternalSourceId, { description: 'Identifier of the page.' })
  externalSourceId!: string;

  @Field(() => SourceApp, {
    description: 'Name of the application that the page comes from, part of the identity of the page.',
  })
  sourceApp!: string;
}

/** Body of `bulkUpsertPhotos` (PHO-21). */
@ArgsType()
export class BulkUpsertArgs extends SourcePageArgs {
  @Field(() => ProjectId, { description: 'The project whose gallery takes the photos.' })
  projectId!: string;

  @Field(() => FolderName, { nullable: true, description: 'Required when the photos need a new folder.' })
  folderName?: string | null;

  @Field(() => FolderId, {
    nullable: true,
    description: 'Folder for the photos; an identifier that an earlier call returned.',
  })
  folderId?: string | null;

  @Field(() => [GalleryPhoto], { description: `Photos of the page, 1 to ${MAX_PHOTOS} in one call.` })
  @ItemCount({ minItems: 1, maxItems: MAX_PHOTOS })
  @Rule(({ photos }: BulkUpsertArgs) => findGalleryErrors(photos))
  photos!: GalleryPhoto[];
}

/** Body or query parameters of `bulkDeletePhotos`. */
@ArgsType()
export class BulkDeleteArgs extends SourcePageArgs {
  @Field(() => ProjectId, { nullable: true, description: 'Not needed: the page is found wherever it is now.' })
  projectId?: string | null;

  @Field(() => FolderId, { nullable: true, description: 'Not used.' })
  folderId?: string | null;
}
