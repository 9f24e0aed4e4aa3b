import { Entity, Index, Property } from '@mikro-orm/decorators/legacy';
import { Id, Instant } from './columns.ts';

/** Failed sign-ins of late from one address, or from one address to one account. OAU-27. */
@Entity({ tableName: 'oauth_sign_in_attempt' })
@Index({ properties: ['expiresAt'] })
export class SignInAttempt {
  /** SHA-256 of the address, or of the address and the e-mail address, so that neither is stored. */
  @Id()
  key!: string;

  @Property({ type: 'integer' })
  failures!: number;

  /** Attempts before this instant are rejected without a password check. */
  @Instant()
  retryAt!: string;

  /** When the counter is reset. */
  @Instant()
  expiresAt!: string;
}
