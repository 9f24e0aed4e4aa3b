import { Migration } from '@mikro-orm/migrations';

/** Returns the function that queues the renditions of new photos, and of photos whose bytes are replaced. */
const queueRenditions = (reset: string) => `create or replace function "photo_rendition_queue"() returns trigger
  language plpgsql set search_path = '' as $$
    begin
      if tg_op = 'INSERT' then
        insert into public.photo_rendition (photo_id, share_key) select id, coalesce(integrator_id, builder_id) from changed;
      else
        insert into public.photo_rendition (photo_id, share_key) values (new.id, coalesce(new.integrator_id, new.builder_id))
          on conflict (photo_id) do update set status = 'PENDING', width = null, height = null, problem = null, ${reset},
            claimed_until = null, created_at = excluded.created_at;
      end if;
      return null;
    end $$;`;

/** Counts the attempts to render a photo that failed for a reason outside of it. */
export class Migration20261122193901RenditionFailures extends Migration {
  override name = 'Migration20261122193901RenditionFailures';

  override up(): void {
    this.addSql(`alter table "photo_rendition" add "failures" int not null default 0;`);
    this.addSql(queueRenditions('attempts = 0, failures = 0'));
  }

  override down(): void {
    this.addSql(queueRenditions('attempts = 0'));
    this.addSql(`alter table "photo_rendition" drop column "failures";`);
  }
}
