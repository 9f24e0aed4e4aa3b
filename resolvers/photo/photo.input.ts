import { ArgsType, Field } from 'type-graphql';
import { PhotoSource } from '../../schema/enums.ts';
import { Default, NotNull, Rule } from '../../schema/input-rules.ts';
import { ImageUrl, PhotoDescription } from '../../schema/photo.scalars.ts';
import { ExternalSourceId, FileName, FolderId, ProjectId, Timestamp } from '../../schema/scalars.ts';
import { findImageErrors } from '../../src/domain/photos/photo-inputs.ts';
import { AttachmentReference } from '../attachment/attachment.type.ts';

/** Filter by area; default is the gallery. */
@ArgsType()
export class PhotoSourceArgs {
  @Field(() => [PhotoSource], { nullable: true, description: 'Any of these areas. Default `GALLERY`.' })
  @Default([PhotoSource.GALLERY])
  source?: PhotoSource[] | null;
}

export const toSources = ({ source }: PhotoSourceArgs): PhotoSource[] => source ?? [PhotoSource.GALLERY];

/** Body of `createPhoto` (PHO-5). */
@ArgsType()
export class CreatePhotoArgs {
  @Field(() => FileName, { description: 'Name of the file without a path, 1 to 255 characters.' })
  fileName!: string;

  @Field(() => ProjectId, {
    nullable: true,
    description: 'The project that the photo was taken on. Default: the project of the folder.',
  })
  projectId?: string | null;

  @Field(() => FolderId, { nullable: true, description: 'A folder of the project.' })
  folderId?: string | null;

  @Field(() => ImageUrl, {
    nullable: true,
    description: 'HTTPS address of the image on an approved host, in place of `imageAttachment`.',
  })
  imageUrl?: string | null;

  @Field(() => String, { nullable: true, description: 'Media type; when given, it must match the bytes.' })
  contentType?: string | null;

  @Field(() => Timestamp, { nullable: true, description: 'When it was taken. Default: taken from its EXIF data.' })
  capturedAt?: string | null;

  @Field(() => PhotoDescription, { nullable: true, description: 'Text about the photo, at most 20000 characters.' })
  description?: string | null;

  @Field(() => ExternalSourceId, {
    nullable: true,
    description: 'Your own identifier: a repeated request while the photo is active returns that photo.',
  })
  externalSourceId?: string | null;

  @Field(() => AttachmentReference, { nullable: true, description: 'An uploaded image, which a photo may use once.' })
  @Rule((values: CreatePhotoArgs) => findImageErrors(values), { ifAbsent: true })
  imageAttachment?: AttachmentReference | null;
}

/** Body of `updatePhoto`; absent fields stay unchanged. */
@ArgsType()
export class UpdatePhotoArgs {
  @Field(() => FileName, { nullable: true, description: 'New name of the file, without a path.' })
  @NotNull()
  fileName?: string;

  @Field(() => PhotoDescription, { nullable: true, description: 'Null removes the description.' })
  description?: string | null;

  @Field(() => Timestamp, {
    nullable: true,
    description: 'When the photo was taken; becomes its `photoTakenDate` and `sortDate`.',
  })
  @NotNull()
  capturedAt?: string;

  @Field(() => FolderId, { nullable: true, description: 'Null removes the photo from its folder.' })
  folderId?: string | null;
}
