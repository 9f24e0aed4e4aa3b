import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';

/** What the instances have leased of a request budget in one window. The table is unlogged: a crash may forget it. */
@Entity()
export class RateBudget {
  @PrimaryKey({ type: 'text' })
  key!: string;

  @PrimaryKey({ type: 'datetime', length: 3 })
  windowEnd!: Date;

  @Property({ type: 'integer' })
  leased!: number;
}
