import { Entity, Index, PrimaryKey, Property, Trigger } from '@mikro-orm/decorators/legacy';

/**
 * How many rows of a large list each builder and project has, as changes to be added up: writers of one builder would wait for
 * each other at a counter. Triggers append them, and `foldTotals` keeps them few.
 */
@Entity()
@Index({ properties: ['builderId', 'list', 'projectId'], include: ['added'] })
@Index({ properties: ['projectId', 'list'], include: ['added'] })
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

  @Property({ type: 'integer' })
  added!: number;
}

/** Keeps the table's totals per builder and project. `active` is the SQL condition of the rows that count. */
export function KeepsTotal(table: string, active: 'true' | 'archived_at is null' = 'true') {
  return (owner: new () => object) => {
    for (const { name, event, expression } of totalTriggers(table, active)) {
      Trigger({ name, timing: 'after', events: [event], forEach: 'statement', expression })(owner);
    }
  };
}

/** Its function, `<table>_total`, is made by a migration. */
function totalTriggers(table: string, active: string) {
  const counted = (row: string) => (active === 'true' ? '' : `, ${row}.${active}`);
  const trigger = (event: 'insert' | 'delete' | 'update', scope: string) => {
    const name = `${table}_total_${event}`;
    return {
      name,
      event,
      expression: `create trigger "${name}" after ${event} on "${table}" ${scope} execute function "${table}_total"()`,
    };
  };
  const key = (row: string) => `(${row}.builder_id, ${row}.project_id${counted(row)})`;
  return [
    trigger('insert', 'referencing new table as changed for each statement'),
    trigger('delete', 'referencing old table as changed for each statement'),
    trigger('update', `for each row when (${key('old')} is distinct from ${key('new')})`),
  ];
}
