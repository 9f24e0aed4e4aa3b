import { Field, InputType, Int, ObjectType } from 'type-graphql';
import { AttachmentType, RegionId } from '../../schema/enums.ts';
import { StorageKey } from '../../schema/photo.scalars.ts';
import { UploadHeaders } from '../../schema/scalars.ts';
import { SIGNED_URL_SECONDS } from '../../src/storage/storage.ts';

/** Response of `presignAttachment` (UPL-3). */
@ObjectType({ description: 'Permission to upload one file.', simpleResolvers: true })
export class UploadIntent {
  @Field(() => String, { description: 'Storage key, which a photo refers to after the upload.' })
  key!: string;

  @Field(() => AttachmentType)
  type!: AttachmentType;

  @Field(() => String, { description: 'Media type that the upload must have.' })
  contentType!: string;

  @Field(() => String, { description: 'Name of the file, from the request.' })
  fileName!: string;

  @Field(() => Int, { description: 'Maximum size of an attachment in bytes.' })
  maxSize!: number;

  @Field(() => UploadHeaders, { description: 'Headers to send unchanged with the upload.' })
  uploadHeaders!: Record<string, string>;

  @Field(() => String, { description: `Where to PUT the file, for ${SIGNED_URL_SECONDS / 60} minutes.` })
  uploadUrl!: string;

  @Field(() => RegionId, { description: 'Region whose storage takes the file.' })
  regionId!: RegionId;
}

/** Reference to an upload, as an upload operation returned it (UPL-10, UPL-15). */
@InputType({ description: 'A file that was uploaded before.' })
export class AttachmentReference {
  @Field(() => StorageKey, { description: 'The `key` that the upload operation returned.' })
  key!: string;

  @Field(() => RegionId, { description: 'The `regionId` that the upload operation returned.' })
  regionId!: RegionId;

  @Field(() => AttachmentType, { description: 'The `type` that the upload operation returned.' })
  type!: AttachmentType;
}
