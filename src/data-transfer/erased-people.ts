import type pg from 'pg';
import { canonicalJson, createFingerprint } from '../domain/canonical-json.ts';
import type { Column, FileMapping } from './file-mapping.ts';
import type { Row } from './read-lines.ts';
import { formatColumns, toJoinCondition } from './statements.ts';

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

/**
 * Gives staged rows from before the last erasure of a person the people of the stored record. Such a row may name the person where the record
 * has a pseudonym, somebody else or nobody. PRV-11.
 */
export async function keepStoredPeople(client: pg.ClientBase, mapping: FileMapping): Promise<void> {
  for (const people of columnsOf(mapping, mapping.personal.people)) {
    const isAuthor = people.field === 'sourceAuthor';
    const columns = isAuthor ? [people, ...columnsOf(mapping, ['mappedAdminUserId'])] : [people];
    const { rows } = await client.query<{ ctid: string }>(
      `update import_stage s set ${columns.map(({ name }) => `${name} = t.${name}`).join()} from ${mapping.table} t
        where ${toJoinCondition('t', 's', mapping.key)} and s.${people.name} is not null
          and (${formatColumns('s', columns)}) is distinct from (${formatColumns('t', columns)})
          and s.__ok and s.updated_at <= (select max(completed_at) from erasure where kind = 'PERSON') returning s.ctid`,
    );
    if (isAuthor) for (const { ctid } of rows) await setAuthorOfContent(client, ctid);
  }
}

/** Gives the content of a staged report its author, and its user. One report at a time, because each may have 32 MiB. */
async function setAuthorOfContent(client: pg.ClientBase, ctid: string): Promise<void> {
  const select = `select content - 'mappedAdminUserId' || jsonb_strip_nulls(jsonb_build_object(
      'sourceAuthor', source_author, 'mappedAdminUserId', mapped_admin_user_id)) as content from import_stage where ctid = $1`;
  const { content } = (await client.query<{ content: Row }>(select, [ctid])).rows[0]!;
  const update = 'update import_stage set content = $2, fingerprint = $3 where ctid = $1';
  await client.query(update, [ctid, JSON.stringify(content), createFingerprint(canonicalJson(content))]);
}
