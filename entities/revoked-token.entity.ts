import { Entity, Index } from '@mikro-orm/decorators/legacy';
import { Id, Instant } from './columns.ts';

/** An access token that was revoked by itself, until it would have expired. RFC 7009. */
@Entity({ tableName: 'oauth_revoked_token' })
@Index({ properties: ['expiresAt'] })
export class RevokedToken {
  @Id()
  jti!: string;

  @Instant()
  expiresAt!: string;
}
