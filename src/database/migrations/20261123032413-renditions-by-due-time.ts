import { Migration } from '@mikro-orm/migrations';

const BY_CREATION = 'photo_rendition_share_key_created_at_photo_id_index';
const BY_DUE_TIME = 'photo_rendition_due';
/** Once, and with the lock that the removal of an index takes: a stronger lock later could deadlock. */
const LOCK = 'lock table "photo_rendition" in access exclusive mode;';

/**
 * Orders the photos of a share by when they may be rendered, so that those that are tried later are not read again and again. Few photos
 * wait, so that the index is built in a moment.
 */
export class Migration20261123032413RenditionsByDueTime extends Migration {
  override name = 'Migration20261123032413RenditionsByDueTime';

  override up(): void {
    this.addSql(LOCK);
    this.addSql(
      `create index "${BY_DUE_TIME}" on "photo_rendition" ("share_key", coalesce("claimed_until", "created_at"), "photo_id") where status = 'PENDING';`,
    );
    this.addSql(`drop index "${BY_CREATION}";`);
  }

  override down(): void {
    this.addSql(LOCK);
    this.addSql(
      `create index "${BY_CREATION}" on "photo_rendition" ("share_key", "created_at", "photo_id") where status = 'PENDING';`,
    );
    this.addSql(`drop index "${BY_DUE_TIME}";`);
  }
}
