import { Migration } from '@mikro-orm/migrations';

const TIMESHEETS = 'timesheet_builder_id_date_index';
const INCLUDED = '"created_at", "id", "project_id", "status"';

const ADDED: [name: string, definition: string][] = [
  [
    'sign_on_visit_builder_id_signed_on_at_index',
    '"sign_on_visit" ("builder_id", "signed_on_at") include ("project_id", "worker_id") where archived_at is null',
  ],
  ['induction_builder_id_status_index', '"induction" ("builder_id", "status") include ("project_id")'],
];

/** Adds the indexes of figures. They are built without blocking writers; an interrupted migration can be run again. */
export class Migration20261122162031FigureIndexes extends Migration {
  override name = 'Migration20261122162031FigureIndexes';

  override isTransactional(): boolean {
    return false;
  }

  override up(): void {
    // `create index concurrently` waits for older transactions and blocks no statement meanwhile.
    this.addSql('set lock_timeout = 0;');
    this.#replaceTimesheetIndex(`${INCLUDED}, "cost_code_id", "hours"`);
    for (const [name, definition] of ADDED) {
      this.addSql(`drop index concurrently if exists "${name}";`);
      this.addSql(`create index concurrently "${name}" on ${definition};`);
    }
  }

  override down(): void {
    this.addSql('set lock_timeout = 0;');
    for (const [name] of ADDED) this.addSql(`drop index concurrently if exists "${name}";`);
    this.#replaceTimesheetIndex(INCLUDED);
  }

  /** Lists by date use the index meanwhile. */
  #replaceTimesheetIndex(included: string): void {
    const definition = `"timesheet" ("builder_id", "date") include (${included})`;
    this.addSql(`drop index concurrently if exists "${TIMESHEETS}_new";`);
    this.addSql(`create index concurrently "${TIMESHEETS}_new" on ${definition};`);
    this.addSql(`drop index concurrently if exists "${TIMESHEETS}";`);
    this.addSql(`alter index "${TIMESHEETS}_new" rename to "${TIMESHEETS}";`);
  }
}
