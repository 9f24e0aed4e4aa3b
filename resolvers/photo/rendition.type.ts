import { Field, Int, ObjectType } from 'type-graphql';
import { SIGNED_URL_SECONDS } from '../../src/storage/storage.ts';

/** PHO-39. */
@ObjectType({ description: 'An upright copy of a photo without metadata, in sRGB.', simpleResolvers: true })
export class Rendition {
  @Field(() => String, { description: `Signed URL to download it, for ${SIGNED_URL_SECONDS / 60} minutes.` })
  url!: string;

  @Field(() => Int, { description: 'Width in pixels.' })
  width!: number;

  @Field(() => Int, { description: 'Height in pixels.' })
  height!: number;

  @Field(() => String, { description: 'Media type: `image/webp`.' })
  contentType!: string;

  @Field(() => Boolean, { description: 'Whether it is a plain grey image, because the photo cannot be rendered.' })
  isPlaceholder!: boolean;
}
