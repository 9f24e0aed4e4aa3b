import { Entity, Index, Property } from '@mikro-orm/decorators/legacy';
import { Id, Instant, Reference } from './columns.ts';
import { PersonalData } from './personal-data.ts';
import { User } from './user.entity.ts';

/** Sign-in of a staff user to the console (CON-1). */
@Entity()
@PersonalData<ConsoleSession>({ of: { user: 'userId' }, erase: 'delete', secret: ['passwordDigest'] })
@Index({ properties: ['userId'] })
@Index({ properties: ['expiresAt'] })
export class ConsoleSession {
  /** SHA-256 of the cookie's value, in lower-case hexadecimal. */
  @Id()
  digest!: string;

  @Reference(() => User, { deleteRule: 'cascade' })
  userId!: string;

  /** SHA-256 of the user's password hash at sign-in, so that a password change ends the session. */
  @Property({ type: 'text' })
  passwordDigest!: string;

  @Instant()
  createdAt!: string;

  @Instant()
  expiresAt!: string;
}
