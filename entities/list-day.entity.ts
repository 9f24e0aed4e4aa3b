import { Entity, Index, PrimaryKey, Property, Unique } from '@mikro-orm/decorators/legacy';
import { Instant } from './columns.ts';
import { PersonalData } from './personal-data.ts';
import { declareFunctionTrigger } from './published.ts';

const KEY = 'list, builder_id, project_id, parent_id, kind';

/** Columns that the totals of days are divided by. */
export const DAY_KEY = `${KEY}, created_on, dated_on`;

/** Columns that the totals of months are divided by. */
export const MONTH_KEY = `${KEY}, created_in, dated_in`;

/** Columns that all totals by time have. */
abstract class ListPeriod {
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

  @Property({ type: 'integer' })
  added!: number;
}

/** Columns of the totals by day. A row counts records of a large list by the day of creation and the day of their date, both in UTC. */
abstract class ListDay extends ListPeriod {
  /** Begin of the day on which the rows were created. */
  @Instant()
  createdOn!: string;

  /** Begin of the day of the rows' dates; null in lists that are not filtered by date. */
  @Instant({ nullable: true })
  datedOn!: string | null;
}

/**
 * The totals by day, added up by the month of creation and the month of the rows' dates, both in UTC: a page in a list of years finds its month
 * before its day. Triggers of `list_day_total` write here. The declaration precedes that of `ListDayTotal`, so that the rows of an erased builder are
 * deleted after those that their triggers subtract.
 */
@Entity()
@PersonalData<ListMonthTotal>({ none: ['list', 'builderId', 'projectId', 'parentId', 'kind'] })
@Index({ properties: ['list'], where: 'added = 0' })
@Unique({
  name: 'list_month_total_key',
  expression: `create unique index "list_month_total_key" on "list_month_total"
    ("builder_id", "list", "project_id", "parent_id", "kind", "created_in", "dated_in") include ("added") nulls not distinct`,
})
export class ListMonthTotal extends ListPeriod {
  /** Begin of the month in which the rows were created. */
  @Instant()
  createdIn!: string;

  /** Begin of the month of the rows' dates; null in lists that are not filtered by date. */
  @Instant({ nullable: true })
  datedIn!: string | null;
}

/** Returns SQL of the begin of an instant's month in UTC. */
export const toMonthSql = (instant: string) => `date_trunc('month', ${instant}, 'UTC')`;

/** Adds up the changed rows of `list_day_total` by month. */
function AddsUpMonths() {
  const body = (changes: string) => `insert into public.list_month_total as total (${MONTH_KEY}, added)
      select ${KEY}, ${toMonthSql('created_on')}, ${toMonthSql('dated_on')}, sum(added) from (${changes}) changes
      group by 1, 2, 3, 4, 5, 6, 7 having sum(added) <> 0 order by 1, 2, 3, 4, 5, 6, 7
      on conflict (builder_id, list, project_id, parent_id, kind, created_in, dated_in) do update set added = total.added + excluded.added;`;
  const removed = `select ${DAY_KEY}, -added as added from`;
  const added = `select ${DAY_KEY}, added from`;
  const triggers = {
    insert: ['new table as changed', `${added} changed`],
    update: ['old table as former new table as changed', `${removed} former union all ${added} changed`],
    delete: ['old table as former', `${removed} former`],
  };
  return (owner: new () => object) => {
    for (const [event, [tables, changes]] of Object.entries(triggers)) {
      const scope = `${event} on TABLE referencing ${tables} for each statement`;
      declareFunctionTrigger(owner, {
        ...{ table: 'list_day_total', name: `month_${event}`, timing: 'after', scope, body: body(changes!) },
      });
    }
  };
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
@AddsUpMonths()
@Entity()
@PersonalData<ListDayTotal>({ none: ['list', 'builderId', 'projectId', 'parentId', 'kind'] })
@Index({ properties: ['list'], where: 'added = 0' })
@Unique({
  name: 'list_day_total_key',
  expression: `create unique index "list_day_total_key" on "list_day_total"
    ("builder_id", "list", "project_id", "parent_id", "kind", "dated_on", "created_on") include ("added") nulls not distinct`,
})
export class ListDayTotal extends ListDay {}
