import { Field, ObjectType } from 'type-graphql';
import { CallerType, RegionId } from '../../schema/enums.ts';
import { BuilderId } from '../../schema/scalars.ts';

@ObjectType({ description: 'A builder that the caller reaches.', simpleResolvers: true })
export class IdentityMembership {
  @Field(() => BuilderId, { description: 'Identifies the builder in paths and in `X-Service-Builder-Id`.' })
  builderId!: string;

  @Field(() => String, { description: 'Name of the company.' })
  builderName!: string;

  @Field(() => String, { nullable: true, description: 'Signed URL of the company logo.' })
  builderLogoUrl!: string | null;

  @Field(() => String, {
    nullable: true,
    description: "The builder's own word for what the user does; null for a client.",
  })
  role!: string | null;
}

/** Response of `GET /me` (ACC-14, RED-1). */
@ObjectType({ description: 'Who calls.', simpleResolvers: true })
export class Identity {
  @Field(() => CallerType)
  type!: CallerType;

  @Field(() => String, { description: 'Of the user; of the client when it calls for itself.' })
  id!: string;

  @Field(() => String, { description: 'Full name of the user; name of the client when it calls for itself.' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'Null for a client.' })
  email!: string | null;

  @Field(() => String, { nullable: true, description: 'Signed URL of the picture; null for a client.' })
  profilePictureUrl!: string | null;

  @Field(() => String, { description: 'The OAuth client that the access token was issued to.' })
  clientId!: string;

  @Field(() => [String], { description: 'What the access token allows.' })
  scopes!: string[];

  @Field(() => RegionId)
  regionId!: RegionId;

  @Field(() => [IdentityMembership], {
    description: "A client's connected builders; of a user's builders, those that the access token reaches.",
  })
  memberships!: IdentityMembership[];
}
