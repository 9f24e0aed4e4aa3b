import { Entity, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Id, Instant, Timestamped } from './columns.ts';
import { PersonalData } from './personal-data.ts';

/** A user of one or more builders, who can sign in and to whom records can be linked. */
@Entity({ tableName: 'app_user' })
@PersonalData<User>({
  of: { user: 'id' },
  name: ['name'],
  email: ['email'],
  file: ['pictureKey'],
  secret: ['passwordHash'],
})
@Unique({ properties: ['email'] })
export class User extends Timestamped {
  @Id()
  id!: string;

  @Property({ type: 'text' })
  name!: string;

  /** Lower case. */
  @Property({ type: 'text' })
  email!: string;

  /** argon2id in PHC form; null until a password is set. */
  @Property({ type: 'text', nullable: true })
  passwordHash!: string | null;

  /** Storage key of the profile picture. */
  @Property({ type: 'text', nullable: true })
  pictureKey!: string | null;

  @Instant({ nullable: true })
  disabledAt!: string | null;
}
