import { Entity, Enum, Property, Unique } from '@mikro-orm/decorators/legacy';
import { FileKeyPrefix, Id, Instant, SearchIndex, Timestamped } from './columns.ts';
import { PersonalData } from './personal-data.ts';

/** Role of a user who works for the operator (ACC-26). */
export const StaffRole = { VIEWER: 'VIEWER', OPERATOR: 'OPERATOR', ADMIN: 'ADMIN' } as const;
export type StaffRole = keyof typeof StaffRole;

/** A user of one or more builders, who can sign in and to whom records can be linked; or a staff user, who belongs to no builder. */
@Entity({ tableName: 'app_user' })
@FileKeyPrefix({ table: 'app_user', column: 'picture_key', prefix: 'pictures', owner: 'id' })
@PersonalData<User>({
  of: { user: 'id' },
  name: ['name'],
  email: ['email'],
  file: ['pictureKey'],
  secret: ['passwordHash', 'oidcIssuer', 'oidcSubject'],
})
@SearchIndex('app_user', "name || ' ' || email", "''")
@Unique({ properties: ['email'] })
@Unique({ properties: ['oidcIssuer', 'oidcSubject'] })
@Unique({
  name: 'app_user_email_comparable',
  expression: 'create unique index "app_user_email_comparable" on "app_user" (comparable_text("email"))',
})
export class User extends Timestamped {
  @Id()
  id!: string;

  @Property({ type: 'text' })
  name!: string;

  /** Lower case. Unique also in its comparable form: see `toComparableText`. */
  @Property({ type: 'text' })
  email!: string;

  /** argon2id in PHC form; null until a password is set. */
  @Property({ type: 'text', nullable: true })
  passwordHash!: string | null;

  /** Storage key of the profile picture. */
  @Property({ type: 'text', nullable: true })
  pictureKey!: string | null;

  /** Null for a user of builders. */
  @Enum({ items: () => StaffRole, nullable: true })
  staffRole!: StaffRole | null;

  /** OpenID Connect provider of the identity that a staff user signs in with; null until the first such sign-in. */
  @Property({ type: 'text', nullable: true })
  oidcIssuer!: string | null;

  /** The identity's `sub`. */
  @Property({ type: 'text', nullable: true })
  oidcSubject!: string | null;

  @Instant({ nullable: true })
  disabledAt!: string | null;
}
