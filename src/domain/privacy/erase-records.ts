import type { QueryResult } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { User } from '../../../entities/user.entity.ts';
import { toArrayText } from '../../database/array-text.ts';
import { NO_DOMAIN } from '../access/access-values.ts';
import { type AuditSource, recordAudit } from '../audit/record-audit.ts';
import { PERSON_KINDS, type PersonIds } from './person.ts';
import { isJson, type PersonalTable, quote } from './personal-tables.ts';

interface ErasedRecords {
  /** Number of changed or deleted rows by class name of the table. */
  rows: Record<string, number>;
  /** Storage keys of the person's files. */
  storageKeys: string[];
}

/** A membership that an erasure deletes. */
export interface EndedMembership {
  userId: string;
  builderId: string;
  role: string;
}

/** Records memberships that an erasure ends, in its transaction. The erasure of the person replaces the id in the entries. */
export async function recordEndedMemberships(
  em: EntityManager,
  source: AuditSource,
  at: string,
  memberships: readonly EndedMembership[],
): Promise<void> {
  for (const before of memberships) {
    const { userId, builderId } = before;
    const subject = { objectId: `${userId}/${builderId}`, builderId, personId: userId };
    await recordAudit(em, { ...source, at, action: 'membership.deleted', ...subject, before, after: null });
  }
}

/** Deletes or changes the rows that are about the person, as their tables declare. */
export async function eraseRecords(
  em: EntityManager,
  tables: readonly PersonalTable[],
  ids: PersonIds,
  pseudonym: string,
  now: string,
): Promise<ErasedRecords> {
  const erased: ErasedRecords = { rows: {}, storageKeys: [] };
  // Referring tables first.
  for (const table of [...tables].reverse()) {
    const { of = {}, erase } = table.declaration;
    if (erase === 'audit') continue;
    for (const kind of PERSON_KINDS) {
      const property = of[kind];
      if (!property || ids[kind].length === 0) continue;
      const condition = `${quote(table.columnOf(property)!)} = any(?::text[])`;
      erased.storageKeys.push(...(await selectStorageKeys(em, table, condition, ids[kind])));
      const [sql, values] =
        erase === 'delete'
          ? [`delete from ${quote(table.table)} where ${condition}`, []]
          : updateSql(table, condition, pseudonym, now);
      if (sql === null) continue;
      const { affectedRows } = await em.execute<QueryResult>(sql, [...values, toArrayText(ids[kind])], 'run');
      if (affectedRows > 0) erased.rows[table.className] = (erased.rows[table.className] ?? 0) + affectedRows;
    }
  }
  // Neither an invitation nor a new password makes the account usable again.
  await em.nativeUpdate(User, { id: { $in: ids.user }, disabledAt: null }, { disabledAt: now });
  return erased;
}

async function selectStorageKeys(
  em: EntityManager,
  { table, declaration, columnOf }: PersonalTable,
  condition: string,
  ids: readonly string[],
): Promise<string[]> {
  const keys: string[] = [];
  for (const property of declaration.file ?? []) {
    const column = quote(columnOf(property)!);
    const sql = `select ${column} as key from ${quote(table)} where ${condition} and ${column} is not null`;
    for (const { key } of await em.execute<{ key: string }[]>(sql, [toArrayText(ids)])) keys.push(key);
  }
  return keys;
}

/** Returns the update of the declared columns and its values; null for a table of which nothing changes. */
function updateSql(
  { table, declaration, columns, columnOf }: PersonalTable,
  condition: string,
  pseudonym: string,
  now: string,
): [sql: string | null, values: unknown[]] {
  const sets: string[] = [];
  const values: unknown[] = [];
  const set = (property: string, value: unknown) => {
    sets.push(`${quote(columnOf(property)!)} = ?`);
    values.push(value);
  };
  for (const property of declaration.name ?? []) set(property, pseudonym);
  // Addresses are unique, and a person can have several users.
  for (const property of declaration.email ?? []) sets.push(`${quote(columnOf(property)!)} = id || '${NO_DOMAIN}'`);
  const { cleared = [], file = [], secret = [] } = declaration;
  for (const property of [...cleared, ...file, ...secret]) {
    const column = columns.get(property)!;
    set(property, column.nullable ? null : isJson(column) ? '[]' : '');
  }
  if (sets.length === 0) return [null, []];
  if (columns.has('updatedAt')) set('updatedAt', now);
  return [`update ${quote(table)} set ${sets.join(', ')} where ${condition}`, values];
}
