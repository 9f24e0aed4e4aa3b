import { Entity, Index } from '@mikro-orm/decorators/legacy';
import { Id, Instant } from './columns.ts';

/** A single revoked access token, stored until its expiry (RFC 7009). */
@Entity({ tableName: 'oauth_revoked_token' })
@Index({ properties: ['expiresAt'] })
export class RevokedToken {
  @Id()
  jti!: string;

  @Instant()
  expiresAt!: string;
}
