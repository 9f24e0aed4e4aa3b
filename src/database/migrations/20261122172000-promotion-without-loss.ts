import { Migration } from '@mikro-orm/migrations';
import { toNumberFunction } from './20261122170000-event-order.ts';

/** How the function differs from that of the previous migration. */
export const NUMBER_OPTIONS = {
  // What the caller saw of the log before: its origin, epoch and last number, with spaces; null while a caller that saw it may come,
  // and empty when none comes. With a default, so that the previous release goes on calling it with one argument.
  parameters: `batch_size int, seen_state text default ''`,
  andUnchanged: ' and log.synchronous = public.is_replication_synchronous()',
  afterPromotion: `if log.synchronous and public.is_promotion(log.origin) and seen_state is null then return null; end if;
    if log.synchronous and public.is_promotion(log.origin) and split_part(seen_state, ' ', 1) = log.origin
      and split_part(seen_state, ' ', 2) = log.epoch
      and nullif(split_part(seen_state, ' ', 3), '')::bigint <= log.last_number then
      update public.event_log set origin = public.event_log_origin();
    else
      perform public.renew_event_epoch();
    end if;`,
  beforeNumbering: `if log.synchronous <> public.is_replication_synchronous() then
    update public.event_log set synchronous = public.is_replication_synchronous();
  end if;`,
};

/** Keeps the epoch of the event log when a synchronous standby is promoted, which loses nothing that was acknowledged. */
export class Migration20261122172000PromotionWithoutLoss extends Migration {
  override name = 'Migration20261122172000PromotionWithoutLoss';

  /** The function that it replaces deletes rows of them. */
  readonly derivedTables = ['event_backlog', 'event_pending'];
  readonly derivedColumns = ['synchronous'];

  override up(): void {
    // Whether commits waited for a standby when the log was last numbered. It reaches the standby with the log.
    this.addSql(`alter table "event_log" add "synchronous" boolean not null default false;`);
    this.addSql(`create function public.is_replication_synchronous() returns boolean language sql stable set search_path = '' as $$
      select current_setting('synchronous_standby_names') <> ''
        and current_setting('synchronous_commit') in ('on', 'remote_apply', 'remote_write') $$;`);
    this.addSql(`create function public.is_promotion(origin text) returns boolean language sql stable set search_path = '' as $$
      select regexp_replace(origin, '/[0-9A-F]{8}/', '/') = regexp_replace(public.event_log_origin(), '/[0-9A-F]{8}/', '/') $$;`);
    this.addSql('drop function public.number_events(int);');
    this.addSql(toNumberFunction(NUMBER_OPTIONS));
  }

  override down(): void {
    this.addSql('drop function if exists public.number_events(int, text);');
    this.addSql(toNumberFunction());
    this.addSql('drop function if exists public.is_promotion(text);');
    this.addSql('drop function if exists public.is_replication_synchronous();');
    this.addSql(`alter table "event_log" drop column "synchronous";`);
  }
}
