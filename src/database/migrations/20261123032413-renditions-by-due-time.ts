import { Migration } from '@mikro-orm/migrations';

/** Orders the photos of a share by when they may be rendered, so that those that are tried later are not read again and again. */
export class Migration20261123032413RenditionsByDueTime extends Migration {
  override name = 'Migration20261123032413RenditionsByDueTime';

  override up(): void {
    this.addSql(`drop index "photo_rendition_share_key_created_at_photo_id_index";`);
    this.addSql(`create index "photo_rendition_due" on "photo_rendition"
    ("share_key", coalesce("claimed_until", "created_at"), "photo_id") where status = 'PENDING';`);
  }

  override down(): void {
    this.addSql(`drop index "photo_rendition_due";`);
    this.addSql(
      `create index "photo_rendition_share_key_created_at_photo_id_index" on "photo_rendition" ("share_key", "created_at", "photo_id") where status = 'PENDING';`,
    );
  }
}
