import { Entity, Index, Property } from '@mikro-orm/decorators/legacy';
import { Builder } from './builder.entity.ts';
import { Expiring, Id, Instant, Reference } from './columns.ts';
import { OAuthClient } from './oauth-client.entity.ts';
import { PersonalData } from './personal-data.ts';
import { User } from './user.entity.ts';

/**
 * The authorization code of one consent and every access and refresh token issued from it, which are revoked together. OAU-33,
 * OAU-36. The id is the first half of the access tokens' `jti`. It expires with its last code or token.
 */
@Entity({ tableName: 'oauth_token_family' })
@PersonalData<TokenFamily>({ of: { user: 'userId' }, erase: 'delete', kept: ['scopes'], none: ['resource'] })
@Index({ properties: ['userId'] })
export class TokenFamily extends Expiring {
  @Id()
  id!: string;

  @Reference(() => OAuthClient)
  clientId!: string;

  @Reference(() => User)
  userId!: string;

  @Reference(() => Builder)
  builderId!: string;

  /** The consented scopes. A refresh can narrow those of an access token, never those of the family. */
  @Property({ type: 'text[]' })
  scopes!: string[];

  /** Audience of the access tokens (OAU-48); null for the API. */
  @Property({ type: 'text', nullable: true })
  resource!: string | null;

  @Instant({ nullable: true })
  revokedAt!: string | null;
}
