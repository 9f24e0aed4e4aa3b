import { Entity, Enum, Index, Property } from '@mikro-orm/decorators/legacy';
import { ProfileType } from '../schema/enums.ts';
import { Builder } from './builder.entity.ts';
import { Id, Reference, SearchIndex } from './columns.ts';
import { PersonalData } from './personal-data.ts';

/** A person who hands in timesheets, the `profile` of a timesheet (RED-23). */
@Entity({ tableName: 'person_profile' })
@PersonalData<Profile>({ of: { profile: 'id' }, name: ['fullName'] })
@Index({ properties: ['builderId'] })
@SearchIndex('person_profile', 'full_name')
export class Profile {
  @Id()
  id!: string;

  @Reference(() => Builder)
  builderId!: string;

  @Property({ type: 'text' })
  fullName!: string;

  @Enum({ items: () => ProfileType })
  type!: ProfileType;
}
