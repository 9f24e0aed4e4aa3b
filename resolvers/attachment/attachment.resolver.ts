import { Arg, Args, ArgsType, Ctx, Field, Mutation, Resolver } from 'type-graphql';
import { AttachmentType } from '../../schema/enums.ts';
import { Rule } from '../../schema/input-rules.ts';
import { Rest } from '../../schema/rest.ts';
import { BuilderId, FileName, FileSize } from '../../schema/scalars.ts';
import type { RequestContext } from '../../src/auth/request-context.ts';
import { createUploadIntent, findTypeErrors } from '../../src/domain/uploads/uploads.ts';
import { IMAGE_TYPES } from '../../src/images/types.ts';
import { UploadIntent } from './attachment.type.ts';

@ArgsType()
class PresignArgs {
  @Field(() => String, {
    description: `Media type of the image: ${IMAGE_TYPES.map((type) => `\`${type}\``).join(', ')}.`,
  })
  @Rule(({ contentType }: PresignArgs) => (contentType === undefined ? [] : findTypeErrors('contentType', contentType)))
  contentType!: string;

  @Field(() => FileName, { description: 'Name of the file without a path, 1 to 255 characters.' })
  fileName!: string;

  @Field(() => FileSize, { description: 'Size of the image in bytes; the upload must have exactly this size.' })
  size!: number;

  @Field(() => AttachmentType, { description: 'Purpose of the upload.' })
  type!: AttachmentType;
}

@Resolver()
export class AttachmentResolver {
  @Mutation(() => UploadIntent, {
    description:
      'Returns a signed URL to upload one image with a PUT of its bytes. They are checked when a photo refers to them: one photo, within 7 days. Until then its bytes count against the quota of uploads of the integrator: 429 `UPLOAD_QUOTA`.',
  })
  @Rest('POST /builders/{builderId}/attachments/presign', { scope: null, tag: 'Attachments' })
  presignAttachment(
    @Arg('builderId', () => BuilderId) builderId: string,
    @Args() { contentType, fileName, size }: PresignArgs,
    @Ctx() context: RequestContext,
  ): Promise<UploadIntent> {
    context.caller.requireIntegrator();
    return createUploadIntent(context, builderId, { contentType, fileName, size });
  }
}
