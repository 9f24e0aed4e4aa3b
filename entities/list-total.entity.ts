import { Entity, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { SqlTrigger } from './columns.ts';
import { PersonalData } from './personal-data.ts';

/**
 * How many rows of each kind a large list has, as changes to be added up: writers of one builder would wait for each other at a counter.
 * Triggers append them, and `compactCounters` keeps them few. The rows without a parent are the totals of builders and projects; those with
 * one have no project.
 */
@Entity()
@PersonalData<ListTotal>({ none: ['list', 'builderId', 'projectId', 'parentId', 'kind'] })
@Index({
  properties: ['builderId', 'list', 'projectId', 'kind'],
  include: ['added'],
  where: 'parent_id is null',
})
@Index({ properties: ['projectId', 'list', 'kind'], include: ['added'] })
@Index({ properties: ['parentId', 'list', 'kind'], include: ['added'], where: 'parent_id is not null' })
export class ListTotal {
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

  /** Status of a timesheet, source of a photo. */
  @Property({ type: 'text' })
  kind!: string;

  @Property({ type: 'integer' })
  added!: number;
}

/** A list with stored totals, and the columns that they are divided by. */
export interface CountedList {
  table: string;
  /** Column that the totals are divided by, beside builder and project or parent: `status` of timesheets, `source` of photos. */
  kindColumn: string;
  project: 'project_id' | null;
  /** Column of a second parent beside the project, such as `folder_id` of photos. */
  parent: string | null;
  /** SQL condition of the counted rows. */
  active: 'archived_at is null' | 'true';
}

/** All lists with stored totals. `KeepsTotal` adds them when the entities are loaded. */
export const countedLists: CountedList[] = [];

/** Stores totals of the table by builder, project or parent, and value of the column. A migration has the triggers, and their function `<table>_total`. */
export function KeepsTotal(table: string, kindColumn: string, options: Partial<CountedList> = {}) {
  const list: CountedList = { table, kindColumn, project: 'project_id', parent: null, active: 'true', ...options };
  const columns = (row: string) =>
    countedColumns(list).map((column) => `${row}.${column === 'archived_at' ? list.active : column}`);
  const key = (row: string) => `(${columns(row).join(', ')})`;
  return (owner: new () => object) => {
    countedLists.push(list);
    const scopes = {
      insert: 'referencing new table as changed for each statement',
      delete: 'referencing old table as changed for each statement',
      update: `for each row when (${key('old')} is distinct from ${key('new')})`,
    };
    for (const event of ['insert', 'delete', 'update'] as const) {
      const name = `${table}_total_${event}`;
      const expression = `create trigger "${name}" after ${event} on "${table}" ${scopes[event]} execute function "${table}_total"()`;
      SqlTrigger(expression)(owner);
    }
  };
}

/** Returns the columns that decide in which totals a row is counted. */
export const countedColumns = ({ kindColumn, project, parent, active }: CountedList): string[] =>
  ['builder_id', kindColumn, project, parent, active === 'true' ? null : 'archived_at'].filter((name) => name !== null);

/**
 * Returns SQL that adds up changed rows by total.
 *
 * @param changes SQL of rows with the columns of `countedColumns`, and `added`: 1 for an inserted row, -1 for a deleted one
 */
export function toTotalsSql({ table, kindColumn, project, parent, active }: CountedList, changes: string): string {
  const sumBy = (projectId: string, parentId: string, condition = '') =>
    `select '${table}' as list, builder_id, ${projectId} as project_id, ${parentId} as parent_id, ${kindColumn}::text as kind, sum(added) as added
      from (${changes}) changed where ${active}${condition} group by 2, 3, 4, 5 having sum(added) <> 0`;
  const ofProjects = sumBy(project ?? 'null::text', 'null::text');
  return parent ? `${ofProjects} union all ${sumBy('null::text', parent, ` and ${parent} is not null`)}` : ofProjects;
}
