import { Trigger } from '@mikro-orm/decorators/legacy';

interface ChangeTriggers {
  table: string;
  /** Prefix of the names of the triggers. */
  prefix: string;
  /** Function that the triggers execute. */
  procedure: string;
  /** Expression over a row; an update that does not change its value executes nothing. */
  key: (row: 'old' | 'new') => string;
}

/** Declares triggers on an entity's table for inserted, deleted and changed rows. */
export function declareChangeTriggers(
  owner: new () => object,
  { table, prefix, procedure, key }: ChangeTriggers,
): void {
  const scopes = {
    insert: 'referencing new table as changed for each statement',
    delete: 'referencing old table as changed for each statement',
    update: `for each row when (${key('old')} is distinct from ${key('new')})`,
  };
  for (const event of ['insert', 'delete', 'update'] as const) {
    const name = `${prefix}_${event}`;
    const expression = `create trigger "${name}" after ${event} on "${table}" ${scopes[event]} execute function "${procedure}"()`;
    Trigger({ name, timing: 'after', events: [event], forEach: 'statement', expression })(owner);
  }
}
