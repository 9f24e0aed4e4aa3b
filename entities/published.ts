import { SqlTrigger } from './columns.ts';

interface PublishOptions {
  /** Path that reads the record: `/subcontractors/{parentId}/swms/{id}`. A path without `{id}` is that of a list. Absent when v1 has none. */
  path?: string;
  /** Column of the builder. Default: `builder_id`. */
  builder?: string;
  /** Whether records have a column `project_id`. */
  project?: boolean;
  /** Column of the value that the path has as `{parentId}`. */
  parent?: string;
  /** Whether records have a column `archived_at`. */
  archivable?: boolean;
  /** Whether records have a column `changed_at`. Default: true. */
  tracked?: boolean;
}

/** A resource whose changes are events. */
interface PublishedResource {
  /** Name in the types of events: `photo_report`. */
  resource: string;
  entity: new () => object;
  path: string | null;
}

/** All published resources, by name. `Publishes` adds them when the entities are loaded. */
export const publishedResources = new Map<string, PublishedResource>();

/** What the triggers of a table do, for bulk loads, which skip them. */
interface PublishedTable {
  triggers: string[];
  /** Adds the changes of rows that an `insert` returned with `returning`; with `allNew` all of them are new records. */
  bulk: { returning: string; toInsertSql: (written: string, allNew: boolean) => string };
  tracked: boolean;
}

const tables = new Map<string, PublishedTable>();

/** Returns what the triggers of a table do; undefined when its changes are not published. */
export const findPublishedTable = (table: string): PublishedTable | undefined => tables.get(table.replaceAll('"', ''));

/**
 * Records every change of the table's rows as an event of the resource, in the transaction of the change (EVT-1). A migration creates
 * the triggers with their functions.
 */
export function Publishes(table: string, resource: string, options: PublishOptions = {}) {
  const { path = null, builder = 'builder_id', project, parent, archivable, tracked = true } = options;
  const active = (row: string) => (archivable ? ` where ${row}.archived_at is null` : '');
  const values = (row: string, change: string) => {
    const columns = [builder, project ? 'project_id' : null, parent ?? null];
    return [`'${resource}'`, change, `${row}.id`, ...columns.map((name) => (name ? `${row}.${name}` : 'null'))].join(
      ', ',
    );
  };
  // The time that `updatedSince` filters by, so that a list that is read since an event's time has its record (EVT-4).
  const time = (row: string) => (tracked ? `${row}.changed_at` : 'clock_timestamp()');
  const all = (change: string, rows: string, at: string) =>
    `${toInsertSql(`select ${values('changed', `'${change}'`)}, ${at} from ${rows} changed${active('changed')}`)};`;
  return (owner: new () => object) => {
    publishedResources.set(resource, { resource, entity: owner, path });
    const triggers: string[] = [];
    tables.set(table, {
      triggers,
      tracked,
      bulk: toBulkSql(`${values('event', 'change')}, ${time('event')}`, { ...options, builder, tracked }),
    });
    const declare = (name: string, scope: string, body: string, also = '') => {
      triggers.push(`${table}_${name}`);
      FunctionTrigger({ table, name, scope, body }, also)(owner);
    };
    declare(
      'event_insert',
      'after insert on TABLE referencing new table as changed for each statement',
      all('created', 'changed', time('changed')),
    );
    declare(
      'event_update',
      'after update on TABLE referencing new table as changed for each statement',
      all('updated', 'changed', time('changed')),
    );
    const truncate = {
      table,
      name: 'event_truncate',
      scope: 'before truncate on TABLE for each statement',
      body: all('archived', `public."${table}"`, 'clock_timestamp()'),
    };
    triggers.push(`${table}_event_truncate`);
    declare(
      'event_delete',
      'after delete on TABLE referencing old table as changed for each statement',
      all('archived', 'changed', 'clock_timestamp()'),
      // Created with this one: the catalogue that migrations are compared with has no triggers of `truncate`.
      `;\n  ${toTriggerSql(truncate)}`,
    );
    if (archivable) {
      // PostgreSQL runs triggers of rows before those of the statement, whose `updated` is then merged into this event.
      const change = `case when new.archived_at is null then 'restored' else 'archived' end`;
      const when = '(old.archived_at is null) <> (new.archived_at is null)';
      declare(
        'event_archive',
        `after update on TABLE for each row when (${when})`,
        `${toInsertSql(`select ${values('new', change)}, ${time('new')}`)};`,
      );
    }
    if (!tracked) return;
    // The default of the column is the time of inserted rows.
    const changeTime = `${table}_changed_at`;
    triggers.push(changeTime);
    SqlTrigger(
      `create trigger "${changeTime}" before update on "${table}" for each row execute function public.set_changed_at()`,
    )(owner);
  };
}

/** Returns the SQL for bulk loads, in which a row is new when its `fresh` is true. */
function toBulkSql(
  values: string,
  { builder, project, parent, archivable, tracked }: PublishOptions,
): PublishedTable['bulk'] {
  const columns = [
    'id',
    builder!,
    ...(project ? ['project_id'] : []),
    ...(parent ? [parent] : []),
    ...(tracked ? ['changed_at'] : []),
  ];
  const archived = (row: string) => (archivable ? `${row}.archived_at is not null` : 'false');
  const returning = [
    ...[...new Set(columns)].map((column) => `new.${column}`),
    `${archived('old')} as was_archived, ${archived('new')} as is_archived`,
  ];
  const change = `case when fresh then 'created' when was_archived = is_archived then 'updated'
    when is_archived then 'archived' else 'restored' end as change`;
  return {
    returning: `, ${returning.join(', ')}`,
    toInsertSql: (written, allNew) => {
      const isSeen = 'not (is_archived and (fresh or was_archived))';
      const replica = `current_setting('session_replication_role') = 'replica'`;
      const rows = `(select *, ${change} from ${written}) event where ${isSeen} and ${replica}`;
      return toInsertSql(`select ${values} from ${rows}`, allNew);
    },
  };
}

/** Counts a change of the table's rows as a change of the record that their column refers to. */
export function ChangesParent(table: string, { column, parent }: { column: string; parent: string }) {
  const body = `update public."${parent}" set changed_at = clock_timestamp() where id in (select ${column} from changed);`;
  return (owner: new () => object) => {
    for (const [event, rows] of [
      ['insert', 'new'],
      ['update', 'new'],
      ['delete', 'old'],
    ] as const) {
      const scope = `after ${event} on TABLE referencing ${rows} table as changed for each statement`;
      FunctionTrigger({ table, name: `parent_${event}`, scope, body })(owner);
    }
  };
}

/**
 * Returns the SQL that adds changes to those that wait for their number. A record has one event per transaction, whose change is the
 * effect of all its changes.
 *
 * @param allNew whether no record had a change in the transaction before
 */
function toInsertSql(changes: string, allNew = false): string {
  const insert = `insert into public.event_pending as pending (resource, change, record_id, builder_id, project_id, parent_id, occurred_at)
    ${changes}`;
  if (allNew) return insert;
  return `${insert}
    on conflict (transaction_id, record_id) do update set occurred_at = excluded.occurred_at, change = case
      when excluded.change = 'archived' then 'archived'
      when pending.change = 'archived' and excluded.change <> 'updated' then 'updated'
      when pending.change = 'updated' and excluded.change = 'restored' then 'restored'
      else pending.change end`;
}

interface TriggerOptions {
  table: string;
  name: string;
  /** When it fires, with `TABLE` for the table: `before update on TABLE for each row`. */
  scope: string;
  body: string;
}

/** Returns the SQL that creates the trigger and its function. */
function toTriggerSql({ table, name, scope, body }: TriggerOptions): string {
  const fullName = `${table}_${name}`;
  return `create or replace function public."${fullName}"() returns trigger language plpgsql set search_path = '' as $$
  begin
    ${body}
    return null;
  end $$;
  create trigger "${fullName}" ${scope.replace('TABLE', `"${table}"`)} execute function public."${fullName}"()`;
}

/** Declares a trigger whose statement creates its function too, so that a change of the body is a migration. */
export const FunctionTrigger = (trigger: TriggerOptions, also = '') => SqlTrigger(toTriggerSql(trigger) + also);
