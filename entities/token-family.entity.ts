import { Entity, Index, Property } from '@mikro-orm/decorators/legacy';
import { Builder } from './builder.entity.ts';
import { Id, Instant, Reference } from './columns.ts';
import { OAuthClient } from './oauth-client.entity.ts';
import { User } from './user.entity.ts';

/**
 * What one consent gave: the code, and every access and refresh token that descends from it. They end together when it is
 * revoked. OAU-33, OAU-36. The id is the first half of the access tokens' `jti`.
 */
@Entity({ tableName: 'oauth_token_family' })
@Index({ properties: ['expiresAt'] })
export class TokenFamily {
  @Id()
  id!: string;

  @Reference(() => OAuthClient)
  clientId!: string;

  @Reference(() => User)
  userId!: string;

  @Reference(() => Builder)
  builderId!: string;

  /** What the user consented to. A refresh may narrow an access token, never the family. */
  @Property({ type: 'text[]' })
  scopes!: string[];

  @Instant()
  createdAt!: string;

  /** When the last of its codes and tokens has expired. */
  @Instant()
  expiresAt!: string;

  @Instant({ nullable: true })
  revokedAt!: string | null;
}
