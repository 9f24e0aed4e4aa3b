import { Migration } from '@mikro-orm/migrations';

const INDEX = 'webhook_delivery_endpoint_id_status_id_index';

/** Adds the index of deliveries by status. It is built without blocking writers; an interrupted migration can be run again. */
export class Migration20261123001049WebhookDeliveriesByStatus extends Migration {
  override name = 'Migration20261123001049WebhookDeliveriesByStatus';

  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.down();
    this.addSql(
      `create index concurrently "${INDEX}" on "webhook_delivery" ("endpoint_id", "status", "id") where status <> 'DELIVERED';`,
    );
  }

  override down(): void {
    // `concurrently` waits for older transactions and blocks no statement meanwhile.
    this.addSql('set lock_timeout = 0;');
    this.addSql(`drop index concurrently if exists "${INDEX}";`);
  }
}
