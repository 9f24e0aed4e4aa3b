import { Migration } from '@mikro-orm/migrations';

export interface Publication {
  table: string;
  resource: string;
  builder?: string;
  project?: boolean;
  parent?: string;
  archivable?: boolean;
  tracked?: boolean;
}

export const PUBLICATIONS: Publication[] = [
  { table: 'builder', resource: 'builder', builder: 'id' },
  { table: 'contact', resource: 'contact', parent: 'subcontractor_id' },
  { table: 'defect', resource: 'defect', project: true },
  { table: 'induction', resource: 'induction', project: true },
  { table: 'insurance', resource: 'insurance', parent: 'subcontractor_id' },
  { table: 'meeting', resource: 'meeting', project: true },
  { table: 'meeting_note', resource: 'meeting_note', parent: 'meeting_id', archivable: true },
  { table: 'photo', resource: 'photo', parent: 'source', project: true, archivable: true },
  { table: 'photo_folder', resource: 'photo_folder', project: true, archivable: true },
  { table: 'photo_report', resource: 'photo_report', project: true, archivable: true },
  { table: 'prequalification', resource: 'prequalification', parent: 'subcontractor_id' },
  { table: 'project', resource: 'project' },
  { table: 'subcontractor', resource: 'subcontractor', archivable: true },
  { table: 'swms_document', resource: 'swms_document', parent: 'subcontractor_id', project: true },
  { table: 'timesheet', resource: 'timesheet', project: true },
  { table: 'timesheet_cost_code', resource: 'cost_code', tracked: false },
  { table: 'timesheet_time_type', resource: 'time_type', tracked: false },
  { table: 'worker', resource: 'worker' },
];

const STATEMENT_TRIGGERS = [
  { event: 'insert', change: 'created', rows: 'new' },
  { event: 'update', change: 'updated', rows: 'new' },
  { event: 'delete', change: 'archived', rows: 'old' },
];

const tracked = PUBLICATIONS.filter((publication) => publication.tracked !== false);

/** Adds the event log, the triggers that write it, and the time at which the database last wrote each record. */
export class Migration20261122125638EventLog extends Migration {
  override name = 'Migration20261122125638EventLog';

  /** They hold no record: lists are copied again after a rollback. */
  readonly derivedTables = ['event_log', 'event', 'event_pending'];
  readonly derivedColumns = ['changed_at'];

  override up(): void {
    this.#createTables();
    this.addSql(toPartitionFunction());
    this.#createEpochFunction();
    this.addSql(NUMBER_FUNCTION);
    this.addSql(`create function public.set_changed_at() returns trigger language plpgsql set search_path = '' as $$
      begin
        new.changed_at := clock_timestamp();
        return new;
      end $$;`);
    for (const { table } of tracked) {
      // Existing rows get one constant: the volatile default would write the table again.
      this.addSql(`alter table "${table}" add "changed_at" timestamptz(3) not null default now();`);
      this.addSql(`alter table "${table}" alter "changed_at" set default clock_timestamp();`);
      this.addSql(
        `create trigger "${table}_changed_at" before update on "${table}" for each row execute function public.set_changed_at();`,
      );
    }
    for (const publication of PUBLICATIONS) this.#publish(publication);
    for (const { event, rows } of STATEMENT_TRIGGERS) {
      this.#createTrigger(
        'subcontractor_project',
        `parent_${event}`,
        `${event} on "subcontractor_project" referencing ${rows} table as changed for each statement`,
        `update public."subcontractor" set changed_at = clock_timestamp() where id in (select subcontractor_id from changed);`,
      );
    }
  }

  override down(): void {
    for (const { event } of STATEMENT_TRIGGERS) this.#dropTrigger('subcontractor_project', `parent_${event}`);
    for (const { table, archivable } of PUBLICATIONS) {
      for (const { event } of STATEMENT_TRIGGERS) this.#dropTrigger(table, `event_${event}`);
      if (archivable) this.#dropTrigger(table, 'event_archive');
    }
    for (const { table } of tracked) {
      this.addSql(`drop trigger if exists "${table}_changed_at" on "${table}";`);
      this.addSql(`alter table "${table}" drop column "changed_at";`);
    }
    for (const name of [
      'set_changed_at',
      'number_events',
      'renew_event_epoch',
      'event_log_origin',
      'create_event_partition',
    ]) {
      this.addSql(`drop function if exists public.${name};`);
    }
    this.addSql(`drop table if exists "event_log", "event", "event_pending";`);
  }

  #createTables(): void {
    // One row, which the first numbering creates, so that a restore of data alone finds none.
    this.addSql(`create table "event_log" ("id" boolean primary key default true check (id), "epoch" text not null,
      "secret" uuid not null, "origin" text not null, "last_number" bigint not null, "last_day" date not null,
      "dropped_number" bigint not null default 0);`);
    this.addSql(`create table "event" ("day" date not null, "number" bigint not null, "id" text not null,
      "type" text not null, "record_id" text not null, "builder_id" text not null, "project_id" text null,
      "parent_id" text null, "occurred_at" timestamptz(3) not null, primary key ("day", "number"))
      partition by range ("day");`);
    // Events that are not numbered yet. Rows live for a moment, so that vacuuming by share of the table would be too late.
    this.addSql(`create table "event_pending" ("seq" bigint generated by default as identity,
      "transaction_id" xid8 not null default pg_current_xact_id(), "resource" text not null, "change" text not null,
      "record_id" text not null, "builder_id" text not null, "project_id" text null, "parent_id" text null,
      "occurred_at" timestamptz(3) not null default clock_timestamp(), primary key ("transaction_id", "record_id"))
      with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
        autovacuum_vacuum_insert_threshold = -1, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 100000);`);
    // Not unique: a restore may bring rows of another database's sequence.
    this.addSql(`create index "event_pending_seq_index" on "event_pending" ("seq");`);
  }

  #createEpochFunction(): void {
    // The cluster, its timeline, the database and the table: a restore or a promotion changes one of them.
    this.addSql(`create function public.event_log_origin() returns text language sql stable set search_path = '' as $$
      select concat_ws('/', (select system_identifier from pg_control_system()),
        left(pg_walfile_name(pg_current_wal_insert_lsn()), 8),
        (select oid from pg_database where datname = current_database()), 'public.event_log'::regclass::oid) $$;`);
    this.addSql(EPOCH_FUNCTION);
  }

  #publish({ table, resource, builder = 'builder_id', project, parent, archivable }: Publication): void {
    const values = (row: string, change: string) => {
      const columns = [builder, project ? 'project_id' : null, parent ?? null];
      return [`'${resource}'`, change, `${row}.id`, ...columns.map((name) => (name ? `${row}.${name}` : 'null'))].join(
        ', ',
      );
    };
    const active = archivable ? ' where changed.archived_at is null' : '';
    for (const { event, change, rows } of STATEMENT_TRIGGERS) {
      const scope = `${event} on "${table}" referencing ${rows} table as changed for each statement`;
      const changes = `select ${values('changed', `'${change}'`)} from changed${active}`;
      this.#createTrigger(table, `event_${event}`, scope, toInsertSql(changes));
    }
    if (!archivable) return;
    const scope = `update on "${table}" for each row when ((old.archived_at is null) <> (new.archived_at is null))`;
    const change = `case when new.archived_at is null then 'restored' else 'archived' end`;
    this.#createTrigger(table, 'event_archive', scope, toInsertSql(`select ${values('new', change)}`));
  }

  #createTrigger(table: string, name: string, scope: string, body: string): void {
    const fullName = `${table}_${name}`;
    this.addSql(`create function public."${fullName}"() returns trigger language plpgsql set search_path = '' as $$
      begin
        ${body}
        return null;
      end $$;`);
    this.addSql(`create trigger "${fullName}" after ${scope} execute function public."${fullName}"();`);
  }

  #dropTrigger(table: string, name: string): void {
    this.addSql(`drop trigger if exists "${table}_${name}" on "${table}";`);
    this.addSql(`drop function if exists public."${table}_${name}"();`);
  }
}

function toInsertSql(changes: string): string {
  return `insert into public.event_pending as pending (resource, change, record_id, builder_id, project_id, parent_id)
          ${changes}
          on conflict (transaction_id, record_id) do update set occurred_at = excluded.occurred_at, change = case
            when excluded.change = 'archived' then 'archived'
            when pending.change = 'archived' and excluded.change <> 'updated' then 'updated'
            when pending.change = 'updated' and excluded.change = 'restored' then 'restored'
            else pending.change end;`;
}

/** Gives the log a new epoch and secret, and creates it where there is none. */
export const EPOCH_FUNCTION = `create or replace function public.renew_event_epoch() returns text language plpgsql set search_path = '' as $$
      declare
        origin text := public.event_log_origin();
        today date := (clock_timestamp() at time zone 'UTC')::date;
        renewed text := replace(gen_random_uuid()::text, '-', '');
        last_position bigint := 0;
      begin
        -- Endpoints of webhooks keep their positions when the log is not restored: numbers go on after them.
        if to_regclass('public.webhook_progress') is not null then
          execute 'select coalesce(max(number), 0) from public.webhook_progress' into last_position;
        end if;
        insert into public.event_log as log (epoch, secret, origin, last_number, last_day)
          values (renewed, gen_random_uuid(), origin, greatest(
            coalesce((select number from public.event order by day desc, number desc limit 1), 0),
            last_position), today)
          on conflict (id) do update set epoch = excluded.epoch, secret = excluded.secret, origin = excluded.origin;
        return renewed;
      end $$;`;

/**
 * Creates the partition of a day. It runs as the owner of the log, which the role of the service need not be.
 *
 * @param beforeCreation statements that precede the creation of a missing partition
 */
export const toPartitionFunction = (
  beforeCreation = '',
) => `create or replace function public.create_event_partition(at date) returns void language plpgsql security definer set search_path = '' as $$
      declare
        name text := 'event_' || to_char(at, 'YYYYMMDD');
      begin
        if to_regclass('public.' || name) is null then
          ${beforeCreation}
          execute format('create table if not exists public.%I (like public.event including all)', name);
          -- Attaching locks the log less than creating a partition does: readers go on.
          execute format('alter table public.event attach partition public.%I for values from (%L) to (%L)', name, at, at + 1);
        end if;
      end $$;`;

/**
 * Numbers committed events. The lock of the log's row makes it the only one; it returns null where another process has the lock. The
 * sequence of a record's events is taken under the lock of its row, so that it is their commit order; a snapshot that contains an event
 * contains all earlier ones of its record.
 */
export const NUMBER_FUNCTION = `create or replace function public.number_events(batch_size int) returns int language plpgsql set search_path = '' as $$
      declare
        log public.event_log;
        today date;
        numbered int;
      begin
        if pg_is_in_recovery() then return null; end if;
        select * into log from public.event_log;
        -- Without the lock, which is a write, while nothing is to be done.
        if log.origin = public.event_log_origin() and not exists (select from public.event_pending) then return 0; end if;
        select * into log from public.event_log for update skip locked;
        if not found then
          if exists (select from public.event_log) then return null; end if;
          perform public.renew_event_epoch();
          select * into log from public.event_log for update;
        elsif log.origin <> public.event_log_origin() then
          perform public.renew_event_epoch();
          select * into log from public.event_log;
        end if;
        if not exists (select from public.event_pending) then return 0; end if;
        today := greatest(log.last_day, (clock_timestamp() at time zone 'UTC')::date);
        perform public.create_event_partition(today);
        with batch as (
          delete from public.event_pending
            where seq = any(array(select seq from public.event_pending order by seq limit batch_size)) returning *)
        insert into public.event (day, number, id, type, record_id, builder_id, project_id, parent_id, occurred_at)
          select today, number, 'evt_a' || md5(log.secret || ' ' || number), resource || '.' || change,
            record_id, builder_id, project_id, parent_id, occurred_at
          from (select log.last_number + row_number() over (order by seq) as number, * from batch) numbered;
        get diagnostics numbered = row_count;
        update public.event_log set last_number = log.last_number + numbered, last_day = today;
        return numbered;
      end $$;`;
