import { Migration } from '@mikro-orm/migrations';

const LISTS = [
  { table: 'photo', kind: 'source', active: 'archived_at is null' },
  { table: 'timesheet', kind: 'status', active: 'true' },
];

const INDEXES = [
  ['photo', 'builder_id, created_at, id', 'project_id, folder_id, source', ' where archived_at is null'],
  ['photo', 'folder_id, created_at, id', 'builder_id, project_id, source', ' where archived_at is null'],
  ['photo', 'project_id, created_at, id', 'builder_id, folder_id, source', ' where archived_at is null'],
  ['timesheet', 'builder_id, created_at, id', 'project_id, status, date', ''],
  ['timesheet', 'builder_id, date', 'created_at, id, project_id, status', ''],
  ['timesheet', 'project_id, created_at, id', 'builder_id, status, date', ''],
] as const;

/**
 * Counts the existing rows, and replaces the indexes of large lists by covering indexes. It blocks no reader or writer: the indexes are
 * built concurrently, outside a transaction. An interrupted migration can be run again.
 */
export class Migration20261120183100ListIndexes extends Migration {
  override name = 'Migration20261120183100ListIndexes';

  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    this.#waitForTransactions();
    // The difference of rows and counters in one snapshot, because the triggers count already.
    for (const { table, kind, active } of LISTS) {
      this.addSql(`insert into list_total (list, builder_id, project_id, kind, added)
        select '${table}', builder_id, project_id, kind, sum(added) from (
          select builder_id, project_id, ${kind} as kind, count(*) as added from "${table}" where ${active} group by 1, 2, 3
          union all select builder_id, project_id, kind, -added from list_total where list = '${table}') counted
        group by builder_id, project_id, kind having sum(added) <> 0;`);
    }
    for (const [table, columns, included, where] of INDEXES) {
      this.#replace(table, columns, `(${columns}) include (${included})${where}`);
    }
  }

  override down(): void {
    this.#waitForTransactions();
    for (const [table, columns] of INDEXES) this.#replace(table, columns, `(${columns})`);
  }

  /** `create index concurrently` waits for older transactions and blocks no statement meanwhile. */
  #waitForTransactions(): void {
    this.addSql('set lock_timeout = 0;');
  }

  #replace(table: string, columns: string, definition: string): void {
    const name = `${table}_${columns.replaceAll(', ', '_')}_index`;
    this.addSql(`drop index concurrently if exists "${name}_new";`);
    this.addSql(`create index concurrently "${name}_new" on "${table}" ${definition};`);
    this.addSql(`drop index concurrently if exists "${name}";`);
    this.addSql(`alter index "${name}_new" rename to "${name}";`);
  }
}
