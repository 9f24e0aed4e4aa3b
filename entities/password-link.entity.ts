import { Entity, Enum, Index } from '@mikro-orm/decorators/legacy';
import { Expiring, Id, Reference } from './columns.ts';
import { PersonalData } from './personal-data.ts';
import { User } from './user.entity.ts';

/** Why a link was created: for a user without a password, or for one who has forgotten it. */
export const PasswordLinkPurpose = { INVITE: 'INVITE', RESET: 'RESET' } as const;
export type PasswordLinkPurpose = keyof typeof PasswordLinkPurpose;

/** A one-time link to the page for choosing a password (OAU-43). The row is deleted when the link is used. */
@Entity({ tableName: 'password_link' })
@PersonalData<PasswordLink>({ of: { user: 'userId' }, erase: 'delete' })
@Index({ properties: ['userId', 'createdAt'] })
export class PasswordLink extends Expiring {
  /** SHA-256 of the token in the link, in lower-case hexadecimal. */
  @Id()
  digest!: string;

  @Reference(() => User, { deleteRule: 'cascade' })
  userId!: string;

  @Enum({ items: () => PasswordLinkPurpose })
  purpose!: PasswordLinkPurpose;
}
