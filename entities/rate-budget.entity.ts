import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';

/** Requests that the instances have leased from a budget in one window. The table is unlogged: a crash may empty it. */
@Entity()
export class RateBudget {
  /** `<limiter>:<id of the client, or network>` */
  @PrimaryKey({ type: 'text' })
  key!: string;

  @PrimaryKey({ type: 'datetime', length: 3 })
  windowEnd!: Date;

  @Property({ type: 'integer' })
  leased!: number;
}
