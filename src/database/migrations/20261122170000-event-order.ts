import { Migration } from '@mikro-orm/migrations';
import { NUMBER_FUNCTION, PUBLICATIONS, type Publication } from './20261122125638-event-log.ts';

/**
 * Numbers events by transaction, so that neither an open transaction nor a large one delays the events of others; gives an event the time
 * of its record's `changed_at`; and logs the records of a truncated table as archived.
 */
export class Migration20261122170000EventOrder extends Migration {
  override name = 'Migration20261122170000EventOrder';

  /** Which transactions are numbered: numbering finds it again. The function that numbers deletes from the second, not the rollback. */
  readonly derivedTables = ['event_backlog', 'event_pending'];
  readonly derivedColumns = ['seen'];

  override up(): void {
    this.addSql(`alter table "event_pending" drop constraint "event_pending_pkey";`);
    this.addSql(`alter table "event_pending" add primary key ("record_id", "transaction_id");`);
    this.addSql(`drop index "event_pending_seq_index";`);
    this.addSql(`create index "event_pending_transaction_id_seq_index" on "event_pending" ("transaction_id", "seq");`);
    // Transactions that are visible in it are numbered, except those of the backlog. Null: not known, such as after a restore.
    this.addSql(`alter table "event_log" add "seen" pg_snapshot null;`);
    this.addSql(`create table "event_backlog" ("transaction_id" xid8 primary key, "after_seq" bigint not null);`);
    this.addSql(`create function public.reset_event_snapshot() returns trigger language plpgsql set search_path = '' as $$
      begin
        new.seen := null;
        return new;
      end $$;`);
    this.addSql(`create trigger "event_log_epoch" before update on "event_log" for each row when (old.epoch <> new.epoch)
      execute function public.reset_event_snapshot();`);
    this.#createPendingFunction();
    this.addSql(toNumberFunction());
    for (const publication of PUBLICATIONS) this.#publish(publication, true);
  }

  override down(): void {
    for (const publication of PUBLICATIONS) this.#publish(publication, false);
    this.addSql(NUMBER_FUNCTION);
    this.addSql(`drop function public.pending_transactions(pg_snapshot, pg_snapshot, int);`);
    this.addSql(`drop trigger "event_log_epoch" on "event_log";`);
    this.addSql(`drop function public.reset_event_snapshot();`);
    this.addSql(`drop table "event_backlog";`);
    this.addSql(`alter table "event_log" drop column "seen";`);
    this.addSql(`drop index "event_pending_transaction_id_seq_index";`);
    this.addSql(`create index "event_pending_seq_index" on "event_pending" ("seq");`);
    this.addSql(`alter table "event_pending" drop constraint "event_pending_pkey";`);
    this.addSql(`alter table "event_pending" add primary key ("transaction_id", "record_id");`);
  }

  /**
   * The transactions with events that are visible in `until` and not in `seen`: those that were open then, and those that have begun since.
   * Each step is one look at the index, whatever the number of rows; those of open transactions are not read. The first of each range
   * come first, so that the lowest is among them.
   */
  #createPendingFunction(): void {
    this.addSql(`create function public.pending_transactions(seen pg_snapshot, until pg_snapshot, max_count int) returns setof xid8
      language sql stable set search_path = '' set enable_seqscan = off set enable_bitmapscan = off as $$
      with recursive bound(low) as (
          select (pg_snapshot_xmax(seen)::text::numeric - 1)::text::xid8
          union all select id from pg_snapshot_xip(until) id where id >= pg_snapshot_xmax(seen)),
        interval(low, high) as (
          select low, lead(low, 1, pg_snapshot_xmax(until)) over (order by low) from bound
          union all select (id::text::numeric - 1)::text::xid8, (id::text::numeric + 1)::text::xid8
            from pg_snapshot_xip(seen) id where pg_visible_in_snapshot(id, until)),
        found(id, high) as (
          select next.transaction_id, high from interval cross join lateral (
            select transaction_id from public.event_pending where transaction_id > low and transaction_id < high
              order by transaction_id limit 1) next
          union all
          select next.transaction_id, high from found cross join lateral (
            select transaction_id from public.event_pending where transaction_id > id and transaction_id < high
              order by transaction_id limit 1) next)
        select id from found limit max_count $$;`);
  }

  #publish(
    { table, resource, builder = 'builder_id', project, parent, archivable, tracked = true }: Publication,
    isNew: boolean,
  ): void {
    const values = (row: string, change: string) => {
      const columns = [builder, project ? 'project_id' : null, parent ?? null];
      return [`'${resource}'`, change, `${row}.id`, ...columns.map((name) => (name ? `${row}.${name}` : 'null'))].join(
        ', ',
      );
    };
    const time = (row: string) => (tracked ? `${row}.changed_at` : 'clock_timestamp()');
    const active = archivable ? ' where changed.archived_at is null' : '';
    const all = (change: string, rows: string, at: string) =>
      toInsertSql(`select ${values('changed', `'${change}'`)}${isNew ? `, ${at}` : ''} from ${rows}${active}`, isNew);
    this.#replaceFunction(`${table}_event_insert`, all('created', 'changed', time('changed')));
    this.#replaceFunction(`${table}_event_update`, all('updated', 'changed', time('changed')));
    this.#replaceFunction(`${table}_event_delete`, all('archived', 'changed', 'clock_timestamp()'));
    if (archivable) {
      const change = `case when new.archived_at is null then 'restored' else 'archived' end`;
      const row = toInsertSql(`select ${values('new', change)}${isNew ? `, ${time('new')}` : ''}`, isNew);
      this.#replaceFunction(`${table}_event_archive`, row);
    }
    const truncate = `${table}_event_truncate`;
    if (!isNew) {
      this.addSql(`drop trigger "${truncate}" on "${table}";`);
      this.addSql(`drop function public."${truncate}";`);
      return;
    }
    this.#replaceFunction(truncate, all('archived', `public."${table}" changed`, 'clock_timestamp()'));
    this.addSql(
      `create trigger "${truncate}" before truncate on "${table}" for each statement execute function public."${truncate}"();`,
    );
  }

  #replaceFunction(name: string, body: string): void {
    this.addSql(`create or replace function public."${name}"() returns trigger language plpgsql set search_path = '' as $$
  begin
    ${body}
    return null;
  end $$;`);
  }
}

function toInsertSql(changes: string, hasTime: boolean): string {
  return `insert into public.event_pending as pending (resource, change, record_id, builder_id, project_id, parent_id${hasTime ? ', occurred_at' : ''})
    ${changes}
    on conflict (transaction_id, record_id) do update set occurred_at = excluded.occurred_at, change = case
      when excluded.change = 'archived' then 'archived'
      when pending.change = 'archived' and excluded.change <> 'updated' then 'updated'
      when pending.change = 'updated' and excluded.change = 'restored' then 'restored'
      else pending.change end;`;
}

/**
 * Numbers committed events, a share of each transaction at a time. The lock of the log's row makes it the only one; it returns null
 * where another process has the lock. The sequence of a record's events is taken under the lock of its row, so that it is their commit
 * order: an event waits while an earlier one of its record has no number.
 */
export const toNumberFunction = ({
  parameters = 'batch_size int',
  andUnchanged = '',
  afterPromotion = 'perform public.renew_event_epoch();',
  beforeNumbering = '',
} = {}) => `create or replace function public.number_events(${parameters}) returns int language plpgsql
      set search_path = '' set enable_seqscan = off set enable_bitmapscan = off as $$
      declare
        max_transactions constant int := 2000;
        log public.event_log;
        until pg_snapshot;
        stop xid8;
        fresh xid8[] := '{}';
        share int;
        today date;
        numbered int;
      begin
        if pg_is_in_recovery() then return null; end if;
        select * into log from public.event_log;
        -- Without the lock, which is a write, while nothing is to be done.
        if log.origin = public.event_log_origin()${andUnchanged} and log.seen is not null and not exists (select from public.event_backlog)
          and not exists (select from public.pending_transactions(log.seen, pg_current_snapshot(), 1)) then return 0; end if;
        select * into log from public.event_log for update skip locked;
        if not found then
          if exists (select from public.event_log) then return null; end if;
          perform public.renew_event_epoch();
          select * into log from public.event_log for update;
        elsif log.origin <> public.event_log_origin() then
          ${afterPromotion}
          select * into log from public.event_log;
        end if;
        ${beforeNumbering}
        until := pg_current_snapshot();
        if log.seen is null then
          -- Ids of transactions may be those of another cluster.
          delete from public.event_backlog;
          fresh := array(select distinct transaction_id from public.event_pending);
        elsif (select count(*) from public.event_backlog) >= max_transactions then
          -- After an outage: those that are known come first.
          until := log.seen;
        else
          select min(id) into stop from public.pending_transactions(log.seen, until, max_transactions) id;
          stop := (stop::text::numeric + max_transactions)::text::xid8;
          if stop < pg_snapshot_xmax(until) then
            select format('%s:%s:%s', coalesce(min(id), stop), stop, string_agg(id::text, ',' order by id))::pg_snapshot
              into until from pg_snapshot_xip(until) id where id < stop;
          end if;
          fresh := array(select public.pending_transactions(log.seen, until, null));
        end if;
        share := greatest(1, batch_size / greatest(1, cardinality(fresh) + (select count(*) from public.event_backlog)));
        today := greatest(log.last_day, (clock_timestamp() at time zone 'UTC')::date);
        perform public.create_event_partition(today);
        with waiting as materialized (
            select transaction_id, after_seq from public.event_backlog union all select id, 0 from unnest(fresh) id),
          -- Each row is found by an index or its ctid, however wrong the estimates of a table are that is filled and emptied all the time.
          chosen as materialized (
            select pending.* from (select * from waiting order by after_seq, transaction_id) waiting cross join lateral (
              select pending.ctid as row_id, transaction_id, record_id, seq from public.event_pending pending
                where pending.transaction_id = waiting.transaction_id and pending.seq > waiting.after_seq
                order by seq limit share) pending limit batch_size),
          blocked as materialized (
            select chosen.* from chosen cross join lateral (
              select from public.event_pending earlier
                where earlier.record_id = chosen.record_id and earlier.seq < chosen.seq
                  and (earlier.record_id, earlier.transaction_id) not in (select record_id, transaction_id from chosen)
                limit 1) earlier),
          batch as (
            delete from public.event_pending
              where ctid = any(array(select row_id from chosen where row_id not in (select row_id from blocked))) returning *),
          numbered_events as (
            insert into public.event (day, number, id, type, record_id, builder_id, project_id, parent_id, occurred_at)
              select today, number, 'evt_a' || md5(log.secret || ' ' || number), resource || '.' || change,
                record_id, builder_id, project_id, parent_id, occurred_at
              from (select log.last_number + row_number() over (order by seq) as number, * from batch) numbered),
          progress as materialized (
            select transaction_id, coalesce(first_blocked - 1, last_chosen, after_seq) as after_seq,
              first_blocked is null and not exists (select from public.event_pending pending
                where pending.transaction_id = waiting.transaction_id and pending.seq > coalesce(last_chosen, after_seq)) as is_finished
            from waiting
              left join (select transaction_id, max(seq) as last_chosen from chosen group by 1) chosen using (transaction_id)
              left join (select transaction_id, min(seq) as first_blocked from blocked group by 1) blocked using (transaction_id)),
          finished as (
            delete from public.event_backlog backlog using progress
              where backlog.transaction_id = progress.transaction_id and is_finished),
          unfinished as (
            insert into public.event_backlog select transaction_id, after_seq from progress where not is_finished
              on conflict (transaction_id) do update set after_seq = excluded.after_seq)
          select count(*) into numbered from batch;
        update public.event_log set last_number = log.last_number + numbered, last_day = today, seen = until;
        return numbered;
      end $$;`;
