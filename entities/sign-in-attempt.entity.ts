import { Entity, Index, Property } from '@mikro-orm/decorators/legacy';
import { Id, Instant } from './columns.ts';

/** Recent failed sign-ins of an IP address, of an IP address for an account, and of an account (OAU-27). */
@Entity({ tableName: 'oauth_sign_in_attempt' })
@Index({ properties: ['expiresAt'] })
export class SignInAttempt {
  /** SHA-256 of the address, or of the address and the e-mail address, so that neither is stored. */
  @Id()
  key!: string;

  @Property({ type: 'integer' })
  failures!: number;

  /** Attempts before this time are rejected. */
  @Instant()
  retryAt!: string;

  /** When the row is deleted. */
  @Instant()
  expiresAt!: string;
}
