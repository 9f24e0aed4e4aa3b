import { Entity, Enum, Index, Property } from '@mikro-orm/decorators/legacy';
import { Id, Instant, Reference } from './columns.ts';
import { TokenFamily } from './token-family.entity.ts';

/** How the challenge is made of the verifier. `PLAIN` is RFC 7636's `plain`. OAU-21. */
export const ChallengeMethod = { S256: 'S256', PLAIN: 'PLAIN' } as const;
export type ChallengeMethod = keyof typeof ChallengeMethod;

/** A code of the authorization-code grant: single use, 10 minutes. OAU-30. */
@Entity({ tableName: 'oauth_authorization_code' })
@Index({ properties: ['familyId'] })
export class AuthorizationCode {
  /** SHA-256 of the code, in lower-case hexadecimal. */
  @Id()
  digest!: string;

  @Reference(() => TokenFamily, { deleteRule: 'cascade' })
  familyId!: string;

  @Property({ type: 'text' })
  redirectUri!: string;

  @Property({ type: 'text' })
  codeChallenge!: string;

  @Enum({ items: () => ChallengeMethod })
  codeChallengeMethod!: ChallengeMethod;

  @Instant()
  createdAt!: string;

  @Instant()
  expiresAt!: string;

  /** It stays known, so that a second use is noticed. */
  @Instant({ nullable: true })
  usedAt!: string | null;
}
