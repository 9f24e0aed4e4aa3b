import { PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { Table } from './columns.ts';

/** Requests that the instances have leased from a budget in one window. The table is unlogged: a crash may empty it. */
@Table()
export class RateBudget {
  @PrimaryKey({ type: 'text' })
  key!: string;

  @PrimaryKey({ type: 'datetime', length: 3 })
  windowEnd!: Date;

  @Property({ type: 'integer' })
  leased!: number;
}
