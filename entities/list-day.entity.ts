import { Entity, Index, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Instant } from './columns.ts';
import { PersonalData } from './personal-data.ts';

/** Columns that the totals of days are divided by. */
export const DAY_KEY = 'list, builder_id, project_id, parent_id, kind, created_on, dated_on';

/** Columns of the totals by day. A row counts records of a large list by the day of creation and the day of their date, both in UTC. */
abstract class ListDay {
  @PrimaryKey({ type: 'bigint', autoincrement: true })
  id!: string;

  /** Table whose rows are counted. */
  @Property({ type: 'text' })
  list!: string;

  @Property({ type: 'text' })
  builderId!: string;

  @Property({ type: 'text', nullable: true })
  projectId!: string | null;

  /** Folder of a photo, subcontractor of an induction. */
  @Property({ type: 'text', nullable: true })
  parentId!: string | null;

  /** Status or source, as in `list_total`. */
  @Property({ type: 'text' })
  kind!: string;

  /** Begin of the day on which the rows were created. */
  @Instant()
  createdOn!: string;

  /** Begin of the day of the rows' dates; null in lists that are not filtered by date, and of rows without a date. */
  @Instant({ nullable: true })
  datedOn!: string | null;

  @Property({ type: 'integer' })
  added!: number;
}

/** Changes of totals by day. Triggers append them, and `compactCounters` adds them to `list_day_total`. */
@Entity()
@PersonalData<ListDayChange>({ none: ['list', 'builderId', 'projectId', 'parentId', 'kind'] })
@Index({ properties: ['builderId', 'list'] })
export class ListDayChange extends ListDay {}

/**
 * Rows by day, so that a page finds the day of its offset without reading the rows before it. A `*` as project, parent or kind is the sum
 * over all of them. Only `compactCounters` writes here: a total is the sum of both tables.
 */
@Entity()
@PersonalData<ListDayTotal>({ none: ['list', 'builderId', 'projectId', 'parentId', 'kind'] })
@Index({ properties: ['list'], where: 'added = 0' })
@Unique({
  name: 'list_day_total_key',
  expression: `create unique index "list_day_total_key" on "list_day_total"
    ("builder_id", "list", "project_id", "parent_id", "kind", "dated_on", "created_on") include ("added") nulls not distinct`,
})
export class ListDayTotal extends ListDay {}
