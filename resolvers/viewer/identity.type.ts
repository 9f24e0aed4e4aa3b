import { Field, ObjectType } from 'type-graphql';
import { CallerType, RegionId } from '../../schema/enums.ts';
import { BuilderId } from '../../schema/scalars.ts';

@ObjectType({ description: 'A builder that the caller has access to.', simpleResolvers: true })
export class IdentityMembership {
  @Field(() => BuilderId, { description: 'Identifies the builder in paths and in `X-Service-Builder-Id`.' })
  builderId!: string;

  @Field(() => String, { description: 'Name of the company.' })
  builderName!: string;

  @Field(() => String, { nullable: true, description: 'Signed URL of the company logo.' })
  builderLogoUrl!: string | null;

  @Field(() => String, {
    nullable: true,
    description: 'Role of the user, as the builder names it; null for a client.',
  })
  role!: string | null;
}

/** Response of `GET /me` (ACC-14, RED-1). */
@ObjectType({ description: 'The authenticated caller.', simpleResolvers: true })
export class Identity {
  @Field(() => CallerType)
  type!: CallerType;

  @Field(() => String, { description: 'Identifier of the user, or of the client for a client-credentials token.' })
  id!: string;

  @Field(() => String, { description: 'Full name of the user, or name of the client for a client-credentials token.' })
  name!: string;

  @Field(() => String, { nullable: true, description: 'Null for a client.' })
  email!: string | null;

  @Field(() => String, { nullable: true, description: 'Signed URL of the picture; null for a client.' })
  profilePictureUrl!: string | null;

  @Field(() => String, { description: 'The OAuth client that the access token was issued to.' })
  clientId!: string;

  @Field(() => [String], { description: 'Scopes of the access token.' })
  scopes!: string[];

  @Field(() => RegionId)
  regionId!: RegionId;

  @Field(() => [IdentityMembership], {
    description: 'Builders that the access token gives access to.',
  })
  memberships!: IdentityMembership[];
}
