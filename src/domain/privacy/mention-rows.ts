import type { EntityManager } from '@mikro-orm/postgresql';
import type { MentionMatcher } from './mentions.ts';
import { isDistinctive } from './mentions.ts';
import { type Person, toArray } from './person.ts';
import { isJson, type PersonalTable, quote } from './personal-tables.ts';

/** Returns the names of the person by builder that no other person of the builder has, and the builders where another one has. */
export async function findUniqueNames(
  em: EntityManager,
  { ids, names, builderIds }: Person,
): Promise<{ unique: Map<string, string[]>; ambiguous: string[] }> {
  const unique = new Map(builderIds.map((builderId) => [builderId, [] as string[]]));
  const ambiguous = new Set<string>();
  for (const name of names.filter(isDistinctive)) {
    const rows = await em.execute<{ builderId: string }[]>(
      `select distinct builder_id as "builderId" from (
         select builder_id, id from worker where lower(full_name) = lower(?)
         union all select builder_id, id from person_profile where lower(full_name) = lower(?)
         union all select builder_id, id from contact where lower(name) = lower(?)
         union all select builder_id, app_user.id from app_user join membership on user_id = app_user.id where lower(name) = lower(?)
       ) same where builder_id = any(?::text[]) and id <> all(?::text[])`,
      [name, name, name, name, toArray(builderIds), toArray(Object.values(ids).flat())],
    );
    const shared = new Set(rows.map(({ builderId }) => builderId));
    for (const builderId of builderIds) {
      if (shared.has(builderId)) ambiguous.add(builderId);
      else unique.get(builderId)!.push(name);
    }
  }
  return { unique, ambiguous: [...ambiguous] };
}

/** A row with texts that may name the person. */
export interface MentionRow {
  table: PersonalTable;
  id: string;
  builderId: string;
  /** Values by property, of the columns that can name people. */
  values: Record<string, unknown>;
}

/**
 * Calls `visit` with each row of the builder that contains one of the matcher's needles, one row at a time because a row can have 32 MiB.
 *
 * @param lock whether the row is locked until the end of the transaction
 */
export async function visitMentionRows(
  em: EntityManager,
  tables: readonly PersonalTable[],
  builderId: string,
  { needles }: MentionMatcher,
  lock: boolean,
  visit: (row: MentionRow) => Promise<void>,
): Promise<void> {
  if (needles.length === 0) return;
  for (const table of tables) {
    const { mentions = [] } = table.declaration;
    if (mentions.length === 0) continue;
    const columns = mentions.map((property) => table.columns.get(property)!);
    // As text within JSON, so that a needle is the same for both.
    const text = columns.map((column) => {
      const name = quote(column.fieldNames[0]!);
      return `coalesce(${isJson(column) ? name : `to_json(${name})`}::text, '')`;
    });
    const candidates = await em.execute<{ id: string }[]>(
      `select id from ${quote(table.table)} where builder_id = ?
        and exists (select from unnest(?::text[]) needle where strpos(lower(${text.join(" || ' ' || ")}), needle) > 0)`,
      [builderId, toArray(needles)],
    );
    const list = columns.map((column) => `${quote(column.fieldNames[0]!)} as ${quote(column.name)}`).join(', ');
    for (const { id } of candidates) {
      const sql = `select ${list} from ${quote(table.table)} where id = ? ${lock ? 'for update' : ''}`;
      const [values] = await em.execute<Record<string, unknown>[]>(sql, [id]);
      if (values) await visit({ table, id, builderId, values });
    }
  }
}
