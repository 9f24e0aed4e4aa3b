import type { EntityManager } from '@mikro-orm/postgresql';
import type { MentionMatcher } from './mentions.ts';
import { type Person, toArray } from './person.ts';
import { isJson, type PersonalTable, quote } from './personal-tables.ts';

/** Names and e-mail addresses of a person, by whether a text of one builder with them certainly names this person. */
export interface BuilderNames {
  builderId: string;
  unique: Pick<Person, 'names' | 'emails'>;
  /** Those that another person of the builder has, and names of one word, which may be any word of a text. */
  unclear: Pick<Person, 'names' | 'emails'>;
  /** Whether another person of the builder has one of them. */
  isShared: boolean;
}

const isOneWord = (name: string): boolean => !/\S\s+\S/.test(name);

/** Returns the names and e-mail addresses of the person for each builder whose texts may name the person. */
export async function classifyNames(em: EntityManager, person: Person): Promise<BuilderNames[]> {
  const byBuilder = person.builderIds.map((builderId) => ({
    ...{ builderId, isShared: false },
    ...{ unique: { names: [], emails: [] }, unclear: { names: [], emails: [] } },
  })) as BuilderNames[];
  for (const property of ['names', 'emails'] as const) {
    for (const text of person[property]) {
      const sharing = await findBuildersOfOthers(em, property === 'names' ? 'name' : 'email', text, person);
      for (const builder of byBuilder) {
        const isShared = sharing.has(builder.builderId);
        builder.isShared ||= isShared;
        const isUnclear = isShared || (property === 'names' && isOneWord(text));
        builder[isUnclear ? 'unclear' : 'unique'][property].push(text);
      }
    }
  }
  return byBuilder;
}

/** Finds the builders that have another person with the name or e-mail address. */
async function findBuildersOfOthers(
  em: EntityManager,
  column: 'name' | 'email',
  text: string,
  { ids, builderIds }: Person,
): Promise<Set<string>> {
  const rows = await em.execute<{ builderId: string }[]>(
    `select distinct builder_id as "builderId" from (
       select builder_id, id, full_name as name, null as email from worker
       union all select builder_id, id, full_name, null from person_profile
       union all select builder_id, id, name, email from contact
       union all select builder_id, app_user.id, name, email from app_user join membership on user_id = app_user.id
     ) other where lower(${column}) = lower(?) and builder_id = any(?::text[]) and id <> all(?::text[])`,
    [text, toArray(builderIds), toArray(Object.values(ids).flat())],
  );
  return new Set(rows.map(({ builderId }) => builderId));
}

/** A row with texts that may name the person. */
export interface MentionRow {
  table: PersonalTable;
  /** Its primary key. */
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
      `select ${quote(table.primaryKey)} as id from ${quote(table.table)} where builder_id = ?
        and exists (select from unnest(?::text[]) needle where strpos(lower(${text.join(" || ' ' || ")}), needle) > 0)`,
      [builderId, toArray(needles)],
    );
    const list = columns.map((column) => `${quote(column.fieldNames[0]!)} as ${quote(column.name)}`).join(', ');
    for (const { id } of candidates) {
      const sql = `select ${list} from ${quote(table.table)} where ${quote(table.primaryKey)} = ? ${lock ? 'for update' : ''}`;
      const [values] = await em.execute<Record<string, unknown>[]>(sql, [id]);
      if (values) await visit({ table, id, builderId, values });
    }
  }
}
