import { Migration } from '@mikro-orm/migrations';

const INDEXES: [name: string, definition: string][] = [
  [
    'timesheet_cost_code_id_created_at_id_index',
    '"timesheet" ("cost_code_id", "created_at", "id") include ("project_id", "status", "date")',
  ],
  ['induction_builder_id_created_at_id_index', '"induction" ("builder_id", "created_at", "id")'],
];

/** Adds the indexes of lists. They are built without blocking writers; an interrupted migration can be run again. */
export class Migration20261122192918ConsoleListIndexes extends Migration {
  override name = 'Migration20261122192918ConsoleListIndexes';

  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    // `create index concurrently` waits for older transactions and blocks no statement meanwhile.
    this.addSql('set lock_timeout = 0;');
    for (const [name, definition] of INDEXES) {
      this.addSql(`drop index concurrently if exists "${name}";`);
      this.addSql(`create index concurrently "${name}" on ${definition};`);
    }
  }

  override down(): void {
    this.addSql('set lock_timeout = 0;');
    for (const [name] of INDEXES) this.addSql(`drop index concurrently if exists "${name}";`);
  }
}
