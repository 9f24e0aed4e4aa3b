import { Entity, Index } from '@mikro-orm/decorators/legacy';
import { Expiring, Id, Instant, Reference } from './columns.ts';
import { TokenFamily } from './token-family.entity.ts';

/** A refresh token: 30 days, rotated on each use. OAU-32. */
@Entity({ tableName: 'oauth_refresh_token' })
@Index({ properties: ['familyId'] })
export class RefreshToken extends Expiring {
  /** SHA-256 of the token, in lower-case hexadecimal. */
  @Id()
  digest!: string;

  @Reference(() => TokenFamily, { deleteRule: 'cascade' })
  familyId!: string;

  /** When a new token replaced it. The row is kept, so that later use is detected. */
  @Instant({ nullable: true })
  rotatedAt!: string | null;
}
