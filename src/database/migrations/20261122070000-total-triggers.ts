import { Migration } from '@mikro-orm/migrations';

const LISTS = [
  { table: 'photo', kind: 'source', active: 'archived_at is null' },
  { table: 'timesheet', kind: 'status', active: 'true' },
];

const EVENTS = ['insert', 'delete', 'update'];

type List = (typeof LISTS)[number];

/**
 * Makes the counting triggers independent of the search path, which pg_restore and subscriptions clear. They become ordinary triggers,
 * so that a subscriber, which receives the counters as rows, does not count twice.
 */
export class Migration20261122070000TotalTriggers extends Migration {
  override name = 'Migration20261122070000TotalTriggers';

  override up(): void {
    for (const list of LISTS) {
      this.#replaceFunction(list, 'public.', `set search_path = ''`);
      for (const event of EVENTS) {
        this.addSql(`alter table "${list.table}" enable trigger "${list.table}_total_${event}";`);
      }
    }
  }

  override down(): void {
    for (const list of LISTS) {
      this.#replaceFunction(list, '', '');
      for (const event of EVENTS) {
        this.addSql(`alter table "${list.table}" enable always trigger "${list.table}_total_${event}";`);
      }
    }
  }

  #replaceFunction({ table, kind, active }: List, schema: string, searchPath: string): void {
    const insert = `insert into ${schema}list_total (list, builder_id, project_id, kind, added)`;
    const count = (added: string) => `${insert}
          select '${table}', builder_id, project_id, ${kind}, ${added} from changed where ${active}
          group by builder_id, project_id, ${kind};`;
    this.addSql(`create or replace function ${schema}"${table}_total"() returns trigger language plpgsql ${searchPath} as $$
      begin
        if tg_op = 'INSERT' then
          ${count('count(*)')}
        elsif tg_op = 'DELETE' then
          ${count('-count(*)')}
        else
          ${insert}
            select '${table}', (version).builder_id, (version).project_id, (version).${kind}, added
            from (values (old, -1), (new, 1)) versions (version, added) where ${active.replace('archived_at', '(version).archived_at')};
        end if;
        return null;
      end $$;`);
  }
}
