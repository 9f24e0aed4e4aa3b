import { Entity, Index, Property } from '@mikro-orm/decorators/legacy';
import { Builder } from './builder.entity.ts';
import { Id, Instant, Reference } from './columns.ts';
import { OAuthClient } from './oauth-client.entity.ts';
import { PersonalData } from './personal-data.ts';
import { User } from './user.entity.ts';

/**
 * The authorization code of one consent and every access and refresh token issued from it, which are revoked together. OAU-33,
 * OAU-36. The id is the first half of the access tokens' `jti`.
 */
@Entity({ tableName: 'oauth_token_family' })
@PersonalData<TokenFamily>({ of: { user: 'userId' }, erase: 'delete', kept: ['scopes'] })
@Index({ properties: ['expiresAt'] })
@Index({ properties: ['userId'] })
export class TokenFamily {
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

  @Instant()
  createdAt!: string;

  /** When its last code or token expires. */
  @Instant()
  expiresAt!: string;

  @Instant({ nullable: true })
  revokedAt!: string | null;
}
