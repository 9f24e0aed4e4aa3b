import { Entity, Index, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import { declareChangeTriggers } from './change-triggers.ts';
import { PersonalData } from './personal-data.ts';

/**
 * How many rows of each kind a large list has per builder and project, as changes to be added up: writers of one builder would wait for
 * each other at a counter. Triggers append them, and `compactCounters` keeps them few.
 */
@Entity()
@PersonalData<ListTotal>({ none: ['list', 'builderId', 'projectId', 'kind'] })
@Index({ properties: ['builderId', 'list', 'projectId', 'kind'], include: ['added'] })
@Index({ properties: ['projectId', 'list', 'kind'], include: ['added'] })
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

  /** Status of a timesheet, source of a photo. */
  @Property({ type: 'text' })
  kind!: string;

  @Property({ type: 'integer' })
  added!: number;
}

/** A list with stored totals, and the columns that they are divided by. */
export interface CountedList {
  table: string;
  /** Column that the totals are divided by, beside builder and project: `status` of timesheets, `source` of photos. */
  kind: string;
  project: 'project_id' | null;
  /** Column of a second parent beside the project, such as `folder_id` of photos. */
  parent: string | null;
  /** Column of the date, never null, that the list is filtered by. */
  date: string | null;
  /** SQL condition of the counted rows. */
  active: 'archived_at is null' | 'true';
}

/** All lists with stored totals. `KeepsTotal` adds them when the entities are loaded. */
export const countedLists: CountedList[] = [];

/**
 * Stores totals of the table per builder, project, parent, value of the column `kind` and day. A migration creates the function
 * `<table>_total` of the triggers.
 */
export function KeepsTotal(table: string, kind: string, options: Partial<CountedList> = {}) {
  const list: CountedList = {
    table,
    kind,
    project: 'project_id',
    parent: null,
    date: null,
    active: 'true',
    ...options,
  };
  const columns = (row: string) => [
    ...['builder_id', list.project, kind, list.parent].flatMap((name) => (name ? [`${row}.${name}`] : [])),
    ...(list.active === 'true' ? [] : [`${row}.${list.active}`]),
    ...['created_at', ...(list.date ? [list.date] : [])].map((name) => toDaySql(`${row}.${name}`)),
  ];
  const key = (row: string) => `(${columns(row).join(', ')})`;
  return (owner: new () => object) => {
    countedLists.push(list);
    declareChangeTriggers(owner, { table, prefix: `${table}_total`, procedure: `${table}_total`, key });
  };
}

/** Returns SQL of the begin of an instant's day in UTC. */
export const toDaySql = (instant: string) => `date_trunc('day', ${instant}, 'UTC')`;
