import type pg from 'pg';
import { PERSON_KINDS } from './person.ts';
import { type PersonalTable, quote } from './personal-tables.ts';

/** Rows that were written before the erasure of a person, and may name this person. */
export interface RowsBeforeErasure {
  table: string;
  builderId: string;
  /** When the person was erased. */
  erasedAt: string;
  rows: number;
}

/** Rows that the current transaction has written. */
const WRITTEN = 'xmin = pg_current_xact_id()::xid';

/**
 * Finds rows with texts that the import's transaction has written, and that are older than the erasure of a person of their builder, unless
 * it has also written a record of this person: its name then says what to replace (PRV-11). No name of an erased person is stored, so that
 * no other check can find it in these texts.
 */
export async function findRowsBeforeErasures(
  client: pg.ClientBase,
  tables: readonly PersonalTable[],
): Promise<RowsBeforeErasure[]> {
  const people = PERSON_KINDS.map((kind) => tables.find(({ declaration }) => declaration.of?.[kind] === 'id')!.table);
  const isRecordWritten = people
    .map((table) => `exists (select from ${quote(table)} p where p.id = any(e.subject_ids) and p.${WRITTEN})`)
    .join(' or ');
  const found: RowsBeforeErasure[] = [];
  for (const { table, declaration, columnOf } of tables) {
    if (!declaration.mentions || !columnOf('builderId') || !columnOf('updatedAt')) continue;
    const { rows } = await client.query<{ builderId: string; erasedAt: Date; rows: number }>(
      `select t.builder_id as "builderId", max(e.requested_at) as "erasedAt", count(distinct t.id)::int as rows
        from ${quote(table)} t join erasure e on t.builder_id = any(e.builder_ids) and t.updated_at < e.requested_at
        where e.kind = 'PERSON' and t.${WRITTEN} and not (${isRecordWritten}) group by 1 order by 1`,
    );
    found.push(...rows.map((row) => ({ ...row, table, erasedAt: new Date(row.erasedAt).toISOString() })));
  }
  return found;
}
