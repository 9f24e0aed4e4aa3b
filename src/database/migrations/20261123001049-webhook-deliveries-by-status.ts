import { Migration } from '@mikro-orm/migrations';

const INDEX = 'webhook_delivery_endpoint_id_status_id_index';

/** Adds the index of deliveries by status. Few rows are not delivered, so that it is built in a moment. */
export class Migration20261123001049WebhookDeliveriesByStatus extends Migration {
  override name = 'Migration20261123001049WebhookDeliveriesByStatus';

  override up(): void {
    this.addSql(
      `create index "${INDEX}" on "webhook_delivery" ("endpoint_id", "status", "id") where status <> 'DELIVERED';`,
    );
  }

  override down(): void {
    this.addSql(`drop index "${INDEX}";`);
  }
}
