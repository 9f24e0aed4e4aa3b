import { Migration } from '@mikro-orm/migrations';

const BY_CREATION = 'photo_rendition_share_key_created_at_photo_id_index';
const BY_DUE_TIME = 'photo_rendition_due';

/**
 * Orders the photos of a share by when they may be rendered, so that those that are tried later are not read again and again. The index is
 * built concurrently, outside a transaction. An interrupted migration can be run again.
 */
export class Migration20261123032413RenditionsByDueTime extends Migration {
  override name = 'Migration20261123032413RenditionsByDueTime';

  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    // `create index concurrently` waits for older transactions and blocks no statement meanwhile.
    this.addSql('set lock_timeout = 0;');
    this.addSql(`drop index concurrently if exists "${BY_DUE_TIME}";`);
    this.addSql(
      `create index concurrently "${BY_DUE_TIME}" on "photo_rendition" ("share_key", coalesce("claimed_until", "created_at"), "photo_id") where status = 'PENDING';`,
    );
    this.addSql(`drop index concurrently if exists "${BY_CREATION}";`);
  }

  override down(): void {
    this.addSql('set lock_timeout = 0;');
    this.addSql(`drop index concurrently if exists "${BY_CREATION}";`);
    this.addSql(
      `create index concurrently "${BY_CREATION}" on "photo_rendition" ("share_key", "created_at", "photo_id") where status = 'PENDING';`,
    );
    this.addSql(`drop index concurrently if exists "${BY_DUE_TIME}";`);
  }
}
