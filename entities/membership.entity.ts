import { Entity, Index, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Builder } from './builder.entity.ts';
import { Reference, SerialId, Timestamped } from './columns.ts';
import { PersonalData } from './personal-data.ts';
import { User } from './user.entity.ts';

/** A user's membership in a builder. */
@Entity()
@PersonalData<Membership>({ of: { user: 'userId' }, erase: 'delete', mentions: ['role'] })
@Unique({ properties: ['userId', 'builderId'] })
@Index({ properties: ['builderId'] })
export class Membership extends Timestamped {
  @SerialId()
  id!: number;

  @Reference(() => User)
  userId!: string;

  @Reference(() => Builder)
  builderId!: string;

  /** The user's role, as the builder names it, such as `ADMIN`. */
  @Property({ type: 'text' })
  role!: string;
}
