import { Migration } from '@mikro-orm/migrations';

const TABLES = ['list_day_change', 'list_total'];

/**
 * Vacuums compacted counters sooner. Each page of a filtered list reads those of its builder, dead rows included: 1,500 of them took a third
 * of a page's time.
 */
export class Migration20261123150000VacuumOfChanges extends Migration {
  override name = 'Migration20261123150000VacuumOfChanges';

  override up(): void {
    for (const table of TABLES) this.addSql(`alter table "${table}" set (autovacuum_vacuum_threshold = 500);`);
  }

  override down(): void {
    for (const table of TABLES) this.addSql(`alter table "${table}" set (autovacuum_vacuum_threshold = 10000);`);
  }
}
