import { Index } from '@mikro-orm/decorators/legacy';
import { Id, Instant, Table } from './columns.ts';

/** A single revoked access token, stored until its expiry (RFC 7009). */
@Table({ tableName: 'oauth_revoked_token' })
@Index({ properties: ['expiresAt'] })
export class RevokedToken {
  @Id()
  jti!: string;

  @Instant()
  expiresAt!: string;
}
