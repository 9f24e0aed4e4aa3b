import type pg from 'pg';
import type { Column, FileMapping } from './file-mapping.ts';
import type { Row } from './read-lines.ts';

/** What stored records have in place of erased people, by the key of the record as JSON. */
export type ErasedPeople = ReadonlyMap<string, { erasedAt: string; people: Row }>;

/** SQL of the erasures of people and when each was completed last, which is the same at the end of an import as at its beginning. */
export const SELECT_ERASURES = `select json_agg(array[id, completed_at::text] order by id)::text as erasures from erasure where kind = 'PERSON'`;

const columnsOf = ({ columns }: FileMapping, properties: readonly string[] = []): Column[] =>
  columns.filter(({ field }) => properties.includes(field));

/**
 * Returns SQL that clears in staged rows of before an erasure what the erased person has given or written, and removes rows that an erasure
 * deletes; null for files without either. Records of people themselves are erased after the import. PRV-11.
 */
export function toEraseStagedSql(mapping: FileMapping): string | null {
  const { of = {}, erase, cleared } = mapping.personal;
  const [person] = columnsOf(mapping, Object.values(of)).filter(({ field }) => field !== 'id');
  const sets = columnsOf(mapping, cleared).map(
    ({ name, nullable, type }) => `${name} = ${nullable ? 'null' : type.sql === 'jsonb' ? `'[]'` : `''`}`,
  );
  if (!person || (erase !== 'delete' && sets.length === 0)) return null;
  const action =
    erase === 'delete' ? 'delete from import_stage s using' : `update import_stage s set ${sets.join()} from`;
  return `${action} (select unnest(subject_ids) as id, max(completed_at) as at from erasure where kind = 'PERSON' group by 1) erased
    where s.${person.name} = erased.id and s.updated_at <= erased.at`;
}

/** Selects the stored records in which a pseudonym replaces who did something, and when the person was erased. */
export async function selectErasedPeople(client: pg.ClientBase, mapping: FileMapping): Promise<ErasedPeople> {
  const { table, key, personal } = mapping;
  const people = columnsOf(mapping, personal.people);
  if (people.length === 0) return new Map();
  const text = `concat_ws(' ', ${people.map(({ name }) => name).join(', ')})`;
  const fields = people.map(({ field, name }) => `'${field}', ${name}`);
  const { rows } = await client.query<{ key: unknown[]; people: Row; erasedAt: string }>(
    `select json_build_array(${key.map(({ name }) => name).join(', ')}) as key, json_build_object(${fields.join(', ')}) as people,
        to_json(erased.at) #>> '{}' as "erasedAt"
      from ${table} join lateral (
        select max(completed_at) as at from erasure where ${text} like '%' || pseudonym || '%'
      ) erased on erased.at is not null where ${text} like '%Erased person %'`,
  );
  return new Map(rows.map(({ key, ...erased }) => [JSON.stringify(key), erased]));
}

/** Gives a row that is older than the erasure the pseudonyms of the stored record. Returns what it has got. PRV-11. */
export function keepErasedPeople(row: Row, erased: ErasedPeople, { key }: FileMapping): Row {
  const stored = erased.size > 0 && erased.get(JSON.stringify(key.map(({ field }) => row[field])));
  if (!stored) return {};
  if (typeof row.updatedAt === 'string' && Date.parse(row.updatedAt) > Date.parse(stored.erasedAt)) return {};
  const kept = Object.fromEntries(Object.entries(stored.people).filter(([field]) => row[field] != null));
  Object.assign(row, kept);
  return kept;
}
