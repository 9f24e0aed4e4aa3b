import { Migration } from '@mikro-orm/migrations';

const LISTS = ['photo', 'timesheet', 'meeting', 'defect', 'induction', 'subcontractor'];

/** Rows that live until the next compaction are vacuumed by their number, whatever the size that a backlog has left. */
const BY_COUNT = { autovacuum_vacuum_scale_factor: 0, autovacuum_vacuum_threshold: 10_000 };
const VACUUM = {
  list_day_change: BY_COUNT,
  list_total: BY_COUNT,
  list_day_total: { autovacuum_vacuum_scale_factor: 0.01 },
};

const WITH_ZEROS = 'from days group by list, builder_id, project_id, kind;';
const WITHOUT_ZEROS = 'from days group by list, builder_id, project_id, kind having sum(added) <> 0;';

/** Sets when the tables of totals are vacuumed. An update that moves a row between days only appends no counter of zero. */
export class Migration20261123030000TotalMaintenance extends Migration {
  override name = 'Migration20261123030000TotalMaintenance';

  override up(): void {
    for (const [table, settings] of Object.entries(VACUUM)) {
      const values = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
      this.addSql(`alter table "${table}" set (${values.join(', ')});`);
    }
    this.#replaceInFunctions(WITH_ZEROS, WITHOUT_ZEROS);
  }

  override down(): void {
    for (const [table, settings] of Object.entries(VACUUM)) {
      this.addSql(`alter table "${table}" reset (${Object.keys(settings).join(', ')});`);
    }
    this.#replaceInFunctions(WITHOUT_ZEROS, WITH_ZEROS);
  }

  #replaceInFunctions(text: string, replacement: string): void {
    for (const table of LISTS) {
      this.addSql(`do $do$ begin
        execute replace(pg_get_functiondef('public.${table}_total'::regproc), '${text}', '${replacement}');
      end $do$;`);
    }
  }
}
