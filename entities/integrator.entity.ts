import { Entity, Property } from '@mikro-orm/decorators/legacy';
import { Id, Timestamped } from './columns.ts';
import { PersonalData } from './personal-data.ts';

/** An approved application vendor, which owns what its clients write (ACC-1). */
@Entity()
@PersonalData<Integrator>({ none: ['deepLinkSchemes'], mentions: ['name'] })
export class Integrator extends Timestamped {
  @Id()
  id!: string;

  @Property({ type: 'text' })
  name!: string;

  /** Schemes of `sourceDeepLink` beyond `https`, without the colon. */
  @Property({ type: 'text[]', default: [] })
  deepLinkSchemes!: string[];
}
