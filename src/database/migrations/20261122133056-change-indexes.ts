import { Migration } from '@mikro-orm/migrations';

const INDEXES: [table: string, column: string, where?: string][] = [
  ['contact', 'subcontractor_id'],
  ['defect', 'builder_id'],
  ['induction', 'project_id'],
  ['induction', 'subcontractor_id'],
  ['insurance', 'subcontractor_id'],
  ['meeting', 'builder_id'],
  ['meeting_note', 'meeting_id'],
  ['photo', 'builder_id', 'archived_at is null'],
  ['photo_folder', 'builder_id'],
  ['prequalification', 'subcontractor_id'],
  ['project', 'builder_id'],
  ['subcontractor', 'builder_id', 'archived_at is null'],
  ['swms_document', 'subcontractor_id'],
  ['timesheet', 'builder_id'],
];

/** Adds indexes for lists of what has changed. They are built without blocking writers; an interrupted migration can be run again. */
export class Migration20261122133056ChangeIndexes extends Migration {
  override name = 'Migration20261122133056ChangeIndexes';

  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    // `create index concurrently` waits for older transactions and blocks no statement meanwhile.
    this.addSql('set lock_timeout = 0;');
    for (const [table, column, where] of INDEXES) {
      const name = `${table}_${column}_changed_at_index`;
      this.addSql(`drop index concurrently if exists "${name}";`);
      this.addSql(
        `create index concurrently "${name}" on "${table}" ("${column}", "changed_at")${where ? ` where ${where}` : ''};`,
      );
    }
  }

  override down(): void {
    for (const [table, column] of INDEXES) {
      this.addSql(`drop index concurrently if exists "${table}_${column}_changed_at_index";`);
    }
  }
}
