import { Index, Property } from '@mikro-orm/decorators/legacy';
import { InstantType, SqlTrigger } from './columns.ts';
import { FunctionTrigger } from './published.ts';

/** Tables whose rows have an order of changes. `ListsChanges` adds them when the entities are loaded. */
export const changeLists = new Set<string>();

/**
 * Gives the rows of a table an order of their changes, for lists that clients read on from a cursor or a time (ATT-36): the column `listed_at`.
 * A write sets it to null; `list_changes` sets the time after the commit, so that no change gets a time that a reader has passed.
 *
 * @param owners properties of the list's owner
 * @param id property that orders changes of the same time
 */
export function ListsChanges(table: string, owners: string[], id = 'id') {
  const expression = `create trigger "${table}_listed_at" before update on "${table}"
    for each row when (old.listed_at is not distinct from new.listed_at) execute function public.reset_listed_at()`;
  return (owner: new () => object): void => {
    changeLists.add(table);
    Property({ type: InstantType, nullable: true, hidden: true })(owner.prototype, 'listedAt');
    Index({ properties: [...owners, 'listedAt', id] } as never)(owner);
    Index({ name: `${table}_unlisted`, properties: ['id'], where: 'listed_at is null' } as never)(owner);
    SqlTrigger(expression)(owner);
  };
}

/**
 * Counts changes of a table as changes of the roster's entries of a worker, or of all workers of a subcontractor. Which entries these are is
 * found after the commit: an entry may be inserted at the same time.
 *
 * @param key column of `roster_change`, and the table's column that has its value
 * @param columns that entries show
 * @param also further events that are changes of entries
 */
export function ChangesRoster(
  table: string,
  [key, column]: ['worker_id' | 'subcontractor_id', string],
  columns: string[],
  also: ('insert' | 'delete')[] = [],
) {
  const list = (row: string) => `(${[column, ...columns].map((name) => `${row}.${name}`).join(', ')})`;
  return (owner: new () => object): void => {
    for (const event of ['update', ...also] as const) {
      const ids = { update: ['old', 'new'], insert: ['new'], delete: ['old'] }[event].map((row) => `${row}.${column}`);
      const body = `insert into public.roster_change (${key}) select distinct id from unnest(array[${ids.join(', ')}]) id;`;
      const when = event === 'update' ? ` when (${list('old')} is distinct from ${list('new')})` : '';
      const scope = `after ${event} on TABLE for each row${when}`;
      FunctionTrigger({ table, name: `roster_${event}`, scope, body })(owner);
    }
  };
}
