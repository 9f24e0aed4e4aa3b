import { Migration } from '@mikro-orm/migrations';
import { EPOCH_FUNCTION } from './20261122125638-event-log.ts';
import { toNumberFunction } from './20261122170000-event-order.ts';
import { NUMBER_OPTIONS } from './20261122172000-promotion-without-loss.ts';

/**
 * Numbers events also after a transaction that was open while thousands of others began, and in steps of bounded cost, whatever waits. A
 * new log continues after the numbers that connections keep, too.
 */
export class Migration20261122235500NumberBacklog extends Migration {
  override name = 'Migration20261122235500NumberBacklog';

  /** The function that it replaces deletes rows of them. */
  readonly derivedTables = ['event_backlog', 'event_pending'];

  override up(): void {
    this.addSql(RENEW_EPOCH);
    this.addSql(NUMBER_EVENTS);
  }

  override down(): void {
    this.addSql(toNumberFunction(NUMBER_OPTIONS));
    this.addSql(EPOCH_FUNCTION);
  }
}

const RENEW_EPOCH = `create or replace function public.renew_event_epoch() returns text language plpgsql set search_path = '' as $$
      declare
        renewed text := replace(gen_random_uuid()::text, '-', '');
        last public.event;
      begin
        select * into last from public.event order by day desc, number desc limit 1;
        insert into public.event_log as log (epoch, secret, origin, last_number, last_day)
          -- Endpoints of webhooks and connections keep positions when the log is not restored: numbers continue after them.
          values (renewed, gen_random_uuid(), public.event_log_origin(), greatest(0, last.number,
            (select max(number) from public.webhook_progress), (select max(active_after) from public.connection)),
            greatest(last.day, (clock_timestamp() at time zone 'UTC')::date))
          on conflict (id) do update set epoch = excluded.epoch, secret = excluded.secret, origin = excluded.origin,
            last_number = greatest(log.last_number, excluded.last_number);
        return renewed;
      end $$;`;

/**
 * Numbers committed events, a share of each transaction at a time. The lock of the log's row makes it the only one; it returns null
 * where another process has the lock. The sequence of a record's events is taken under the lock of its row, so that it is their commit
 * order: an event waits while an earlier one of its record has no number. Each step reads what a batch needs, and not all that waits:
 * one that runs into the timeout of statements would do so again each time.
 */
const NUMBER_EVENTS = `create or replace function public.number_events(batch_size int, seen_state text default '') returns int
      language plpgsql set search_path = '' set enable_seqscan = off set enable_bitmapscan = off as $$
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
        if log.origin = public.event_log_origin() and log.synchronous = public.is_replication_synchronous()
          and log.seen is not null and not exists (select from public.event_backlog)
          and not exists (select from public.pending_transactions(log.seen, pg_current_snapshot(), 1)) then return 0; end if;
        select * into log from public.event_log for update skip locked;
        if not found then
          if exists (select from public.event_log) then return null; end if;
          perform public.renew_event_epoch();
          select * into log from public.event_log for update;
        elsif log.origin <> public.event_log_origin() then
          if log.synchronous and public.is_promotion(log.origin) and seen_state is null then return null; end if;
          if log.synchronous and public.is_promotion(log.origin) and split_part(seen_state, ' ', 1) = log.origin
            and split_part(seen_state, ' ', 2) = log.epoch
            and nullif(split_part(seen_state, ' ', 3), '')::bigint <= log.last_number then
            update public.event_log set origin = public.event_log_origin();
          else
            perform public.renew_event_epoch();
          end if;
          select * into log from public.event_log;
        end if;
        if log.synchronous <> public.is_replication_synchronous() then
          update public.event_log set synchronous = public.is_replication_synchronous();
        end if;
        until := pg_current_snapshot();
        if log.seen is null then
          -- Ids of transactions may be those of another cluster, and higher than any of this one.
          delete from public.event_backlog;
          fresh := array(select public.pending_transactions('1:1:',
            regexp_replace(until::text, ':\\d+:', ':9223372036854775807:')::pg_snapshot, max_transactions));
          -- More may wait: the next call looks again.
          if cardinality(fresh) = max_transactions then until := null; end if;
        elsif (select count(*) from public.event_backlog) >= max_transactions then
          -- After an outage: those that are known come first.
          until := log.seen;
        else
          -- Counted from the first that has begun since, never from one that was open: what was seen remains seen.
          select min(id) filter (where id >= pg_snapshot_xmax(log.seen)) into stop
            from public.pending_transactions(log.seen, until, max_transactions) id;
          stop := (stop::text::numeric + max_transactions)::text::xid8;
          if stop < pg_snapshot_xmax(until) then
            select format('%s:%s:%s', coalesce(min(id), stop), stop, string_agg(id::text, ',' order by id))::pg_snapshot
              into until from pg_snapshot_xip(until) id where id < stop;
          end if;
          -- Without a snapshot, the backlog also has transactions that have ended since the snapshot of that call.
          fresh := array(select public.pending_transactions(log.seen, until, null) except select transaction_id from public.event_backlog);
        end if;
        share := greatest(1, batch_size / greatest(1, cardinality(fresh) + (select count(*) from public.event_backlog)));
        today := greatest(log.last_day, (clock_timestamp() at time zone 'UTC')::date);
        perform public.create_event_partition(today);
        with waiting as materialized (
            select transaction_id, after_seq from public.event_backlog union all select id, 0 from unnest(fresh) id
              order by after_seq, transaction_id limit batch_size),
          -- Each row is found by an index or its ctid, however wrong the estimates of a table are that is filled and emptied all the time.
          -- A transaction whose rows were removed has one row of nulls.
          chosen as materialized (
            select waiting.transaction_id, row_id, record_id, seq from waiting left join lateral (
              select pending.ctid as row_id, record_id, seq from public.event_pending pending
                where pending.transaction_id = waiting.transaction_id and pending.seq > waiting.after_seq
                order by seq limit share) pending on true),
          -- The rows of each record at once, of which there may be any number. Sorted rather than looked up in the chosen ones, which
          -- would not be hashed where the estimate is too high.
          checked as materialized (
            select *, coalesce(min(seq) filter (where not is_chosen) over (partition by record_id) < seq, false) as is_blocked
            from (select row_id, transaction_id, record_id, seq, bool_or(is_chosen) as is_chosen
              from (select *, true as is_chosen from chosen where row_id is not null
                union all select pending.*, false from (select distinct record_id from chosen) record cross join lateral (
                  select transaction_id, ctid as row_id, record_id, seq from public.event_pending pending
                    where pending.record_id = record.record_id offset 0) pending) candidate
              group by row_id, transaction_id, record_id, seq) candidate),
          batch as (
            delete from public.event_pending
              where ctid = any(array(select row_id from checked where is_chosen and not is_blocked)) returning *),
          numbered_events as (
            insert into public.event (day, number, id, type, record_id, builder_id, project_id, parent_id, occurred_at)
              select today, number, 'evt_a' || md5(log.secret || ' ' || number), resource || '.' || change,
                record_id, builder_id, project_id, parent_id, occurred_at
              from (select log.last_number + row_number() over (order by seq) as number, * from batch) numbered),
          progress as materialized (
            select transaction_id, after_seq, not exists (select from public.event_pending pending
                where pending.transaction_id = done.transaction_id and pending.seq > after_seq) as is_finished
            from (select transaction_id, coalesce(min(seq) filter (where is_blocked) - 1, max(seq)) as after_seq
                from checked where is_chosen group by transaction_id
              union all select transaction_id, null from chosen where row_id is null) done),
          finished as (
            delete from public.event_backlog
              where transaction_id = any(array(select transaction_id from progress where is_finished))),
          unfinished as (
            insert into public.event_backlog
              select transaction_id, after_seq from progress where not is_finished
              union all (select id, 0 from unnest(fresh) id except select transaction_id, 0 from waiting)
              on conflict (transaction_id) do update set after_seq = excluded.after_seq)
          select count(*) into numbered from batch;
        update public.event_log set last_number = log.last_number + numbered, last_day = today, seen = until;
        return numbered;
      end $$;`;
