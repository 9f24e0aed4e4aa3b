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

/** A list with stored totals: its table, the column of the kind, and the condition of the counted rows. */
export interface CountedList {
  table: string;
  kind: string;
  active: 'archived_at is null' | 'true';
}

/** All lists with stored totals. `KeepsTotal` adds them when the entities are loaded. */
export const countedLists: CountedList[] = [];

/**
 * Stores totals of the table per builder, project and value of the column `kind`, of the active rows only if `active` is given. A
 * migration creates the function `<table>_total` of the triggers.
 */
export function KeepsTotal(table: string, kind: string, active?: 'archived_at is null') {
  const columns = ['builder_id', 'project_id', kind, ...(active ? [active] : [])];
  const key = (row: string) => `(${columns.map((column) => `${row}.${column}`).join(', ')})`;
  return (owner: new () => object) => {
    countedLists.push({ table, kind, active: active ?? 'true' });
    declareChangeTriggers(owner, { table, prefix: `${table}_total`, procedure: `${table}_total`, key });
  };
}
