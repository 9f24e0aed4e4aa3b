import type { EntityManager } from '@mikro-orm/postgresql';
import type { NoteBlock } from '../../../entities/meeting.entity.ts';
import { canonicalJson, createFingerprint } from '../../shared/canonical-json.ts';
import { type BuilderNames, classifyNames, type MentionRow, visitMentionRows } from './mention-rows.ts';
import { createMentionMatcher, type MentionMatcher, NO_REPLACEMENT, type Replacement } from './mentions.ts';
import type { Person } from './person.ts';
import { isJson, type PersonalTable, quote } from './personal-tables.ts';

export interface ErasedMentions {
  /** Number of changed rows by class name of the table. */
  rows: Record<string, number>;
  /** Builders in which another person has the same name or e-mail address, so that texts keep it. */
  ambiguousBuilderIds: string[];
}

/** A text that may name the person, and was not changed. */
export interface KeptMention {
  type: string;
  id: string;
  builderId: string;
  /** Where in the record: `plainNotes`. */
  at: string;
}

/** Replaces the person in the texts of the builders' records (PRV-4). */
export async function eraseMentions(
  em: EntityManager,
  tables: readonly PersonalTable[],
  person: Person,
  replacement: Replacement,
  now: string,
): Promise<ErasedMentions & { names: BuilderNames[] }> {
  const names = await classifyNames(em, person);
  const ids = Object.values(person.ids).flat();
  const rows: Record<string, number> = {};
  for (const { builderId, unique } of names) {
    const matcher = createMentionMatcher({ ids, ...unique }, replacement);
    await visitMentionRows(em, tables, builderId, matcher, true, async (row) => {
      const changes = replaceInRow(row, matcher);
      if (Object.keys(changes).length === 0) return;
      await updateRow(em, row.table, row.id, changes, now);
      rows[row.table.className] = (rows[row.table.className] ?? 0) + 1;
    });
  }
  const ambiguousBuilderIds = names.filter(({ isShared }) => isShared).map(({ builderId }) => builderId);
  return { rows, ambiguousBuilderIds, names };
}

/** Maximum mentions that are reported. */
const MAX_KEPT = 1_000;

/** Finds the texts that contain a name or an e-mail address which may be another person's, at most 1,000. */
export async function findKeptMentions(
  em: EntityManager,
  tables: readonly PersonalTable[],
  names: readonly BuilderNames[],
): Promise<KeptMention[]> {
  const kept: KeptMention[] = [];
  for (const { builderId, unclear } of names) {
    const matcher = createMentionMatcher({ ids: [], ...unclear }, NO_REPLACEMENT);
    await visitMentionRows(em, tables, builderId, matcher, false, async ({ table, id, values }) => {
      for (const { at } of Object.entries(values).flatMap(([property, value]) => matcher.find(value, property))) {
        if (kept.length < MAX_KEPT) kept.push({ type: table.className, id, builderId, at });
      }
    });
  }
  return kept;
}

/** Returns the changed properties. */
function replaceInRow({ table, values }: MentionRow, matcher: MentionMatcher): Record<string, unknown> {
  const changes: Record<string, unknown> = {};
  for (const [property, value] of Object.entries(values)) {
    const replaced = matcher.replace(value);
    if (replaced !== value) changes[property] = replaced;
  }
  // What is compared with the next sync, and what an import checks, is the stored content.
  if (table.className === 'PhotoReport' && changes.content) {
    changes.fingerprint = createFingerprint(canonicalJson(changes.content));
  }
  if (table.className === 'Meeting' && (changes.plainNotes !== undefined || changes.noteBlocks !== undefined)) {
    changes.noteBlocks = moveBlocks(values, changes, matcher);
  }
  return changes;
}

/** Returns the blocks of synced notes where they are in the replaced notes. A block that is no longer there becomes a person's text. */
function moveBlocks(
  values: Record<string, unknown>,
  changes: Record<string, unknown>,
  matcher: MentionMatcher,
): NoteBlock[] {
  const before = (values.plainNotes ?? '') as string;
  const after = (changes.plainNotes ?? before) as string;
  return (values.noteBlocks as NoteBlock[]).flatMap((block) => {
    const start = (matcher.replace(before.slice(0, block.start)) as string).length;
    const text = matcher.replace(block.text) as string;
    return after.startsWith(text, start) ? [{ ...block, start, text }] : [];
  });
}

async function updateRow(
  em: EntityManager,
  { table, columns, primaryKey }: PersonalTable,
  id: string,
  changes: Record<string, unknown>,
  now: string,
): Promise<void> {
  const sets: string[] = [];
  const values: unknown[] = [];
  for (const [property, value] of Object.entries(changes)) {
    const column = columns.get(property)!;
    sets.push(`${quote(column.fieldNames[0]!)} = ?${isJson(column) ? '::jsonb' : ''}`);
    values.push(isJson(column) ? JSON.stringify(value) : value);
  }
  if (columns.has('updatedAt')) {
    sets.push('updated_at = ?');
    values.push(now);
  }
  await em.execute(`update ${quote(table)} set ${sets.join(', ')} where ${quote(primaryKey)} = ?`, [...values, id]);
}
