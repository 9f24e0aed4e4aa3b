import { Entity, Index, PrimaryKey, Property, Trigger } from '@mikro-orm/decorators/legacy';

/**
 * How many rows of each kind a large list has per builder and project, as changes to be added up: writers of one builder would wait for
 * each other at a counter. Triggers append them, and `compactCounters` keeps them few.
 */
@Entity()
@Index({ properties: ['builderId', 'list', 'projectId', 'kind'], include: ['added'] })
@Index({ properties: ['projectId', 'list', 'kind'], include: ['added'] })
export class ListTotal {
  @PrimaryKey({ type: 'bigint', autoincrement: true })
  id!: string;

  /** Table that the rows are of. */
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

/** A list whose totals are kept: its table, the column that tells rows apart, and the condition of those that count. */
export interface CountedList {
  table: string;
  kind: string;
  active: 'archived_at is null' | 'true';
}

/** Every list whose totals are kept, filled by `KeepsTotal` as the entities load. */
export const countedLists: CountedList[] = [];

/**
 * Keeps the table's totals per builder, project and kind, which is a column of it; only active rows count. The function
 * `<table>_total` is made by a migration.
 */
export function KeepsTotal(table: string, kind: string, active?: 'archived_at is null') {
  const columns = ['builder_id', 'project_id', kind, ...(active ? [active] : [])];
  const key = (row: string) => `(${columns.map((column) => `${row}.${column}`).join(', ')})`;
  const triggers = {
    insert: 'referencing new table as changed for each statement',
    delete: 'referencing old table as changed for each statement',
    update: `for each row when (${key('old')} is distinct from ${key('new')})`,
  };
  return (owner: new () => object) => {
    countedLists.push({ table, kind, active: active ?? 'true' });
    for (const [event, scope] of Object.entries(triggers)) {
      const name = `${table}_total_${event}`;
      const expression = `create trigger "${name}" after ${event} on "${table}" ${scope} execute function "${table}_total"()`;
      Trigger({ name, timing: 'after', events: [event as keyof typeof triggers], forEach: 'statement', expression })(
        owner,
      );
    }
  };
}
