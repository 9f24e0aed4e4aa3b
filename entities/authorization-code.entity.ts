import { Entity, Enum, Index, Property } from '@mikro-orm/decorators/legacy';
import { Id, Instant, Reference } from './columns.ts';
import { PersonalData } from './personal-data.ts';
import { TokenFamily } from './token-family.entity.ts';

/** How the code challenge is derived from the code verifier. `PLAIN` is RFC 7636's `plain`. OAU-21, OAU-30. */
export const ChallengeMethod = { S256: 'S256', PLAIN: 'PLAIN' } as const;
export type ChallengeMethod = keyof typeof ChallengeMethod;

/** An authorization code: valid once, for 10 minutes. */
@Entity({ tableName: 'oauth_authorization_code' })
@PersonalData<AuthorizationCode>({ none: ['redirectUri', 'codeChallenge'] })
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

  /** Null until it is exchanged. The row is kept, so that a second use is detected. */
  @Instant({ nullable: true })
  usedAt!: string | null;
}
