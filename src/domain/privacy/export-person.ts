import type { EntityManager } from '@mikro-orm/postgresql';
import { toArrayText } from '../../database/array-text.ts';
import { runUnboundedTransaction } from '../../database/write/unbounded-transaction.ts';
import { recordAudit } from '../audit/record-audit.ts';
import type { PrivacyContext } from './erase-person.ts';
import { findTexts, selectFormerNames } from './find-texts.ts';
import { groupPersonIds, loadPerson, PERSON_KINDS, type PersonIds, UnknownPersonError } from './person.ts';
import { listPersonalTables, type PersonalTable, quote } from './personal-tables.ts';

/** A text of a builder that names the person. */
interface MentionedIn {
  type: string;
  id: string;
  builderId: string | null;
  /** Property of the record, and its text. */
  mentions: { at: string; text: string }[];
}

/** Everything that identifies a person (PRV-2). */
interface PersonExport {
  regionId: string;
  exportedAt: string;
  ids: PersonIds;
  /** Rows that are about the person, by type. They contain no secrets. */
  records: Record<string, Record<string, unknown>[]>;
  mentionedIn: MentionedIn[];
  /** Storage keys of the person's files. */
  files: string[];
}

/** Collects what the region stores about the person, in one state of the database. Throws `UnknownPersonError`. */
export async function exportPerson(
  { database, clock, source }: Omit<PrivacyContext, 'storage'>,
  subjectIds: readonly string[],
): Promise<PersonExport> {
  const ids = groupPersonIds(subjectIds);
  const tables = listPersonalTables(database.metadata);
  const exportedAt = new Date(clock.now()).toISOString();
  return runUnboundedTransaction(database, async (em) => {
    await em.execute('set transaction isolation level repeatable read');
    const { person, missing } = await loadPerson(em, tables, ids);
    if (missing.length > 0) throw new UnknownPersonError(missing);
    const { records, files } = await selectRecords(em, tables, ids);
    const own = Object.values(ids).flat();
    const names = [...person.names, ...(await selectFormerNames(em, own))];
    const found = await findTexts(em, tables, { ...person, names }, own);
    const mentionedIn = found.map(({ type, id, builderId, property, texts }): MentionedIn => {
      return { type, id, builderId, mentions: texts.map((text) => ({ at: property, text })) };
    });
    const counts = Object.fromEntries(Object.entries(records).map(([type, rows]) => [type, rows.length]));
    for (const id of subjectIds) {
      await recordAudit(em, {
        ...source,
        at: exportedAt,
        action: 'person.exported',
        objectId: id,
        personId: id,
        after: { categories: Object.keys(counts), rows: counts, storedFiles: files.length },
      });
    }
    return { regionId: database.region, exportedAt, ids, records, mentionedIn, files };
  });
}

async function selectRecords(em: EntityManager, tables: readonly PersonalTable[], ids: PersonIds) {
  const records: PersonExport['records'] = {};
  const files: string[] = [];
  for (const { className, table, declaration, columns, columnOf } of tables) {
    const { of = {}, erase, secret = [], file = [] } = declaration;
    // Sessions and links have the digest of their secret as a key.
    const exported = [...columns.values()].filter(({ name }) => !secret.includes(name) && name !== 'digest');
    const list = exported.map(({ name, fieldNames }) => `${quote(fieldNames[0]!)} as ${quote(name)}`).join(', ');
    for (const property of new Set(Object.values(of))) {
      const own = PERSON_KINDS.filter((kind) => of[kind] === property).flatMap((kind) => ids[kind]);
      if (own.length === 0) continue;
      const owners = [columnOf(property)!, ...(erase === 'audit' ? ['actor_id'] : [])];
      const isOfPerson = owners.map((column) => `${quote(column)} = any(?::text[])`).join(' or ');
      const sql = `select to_json(r) as row from (select ${list} from ${quote(table)} where ${isOfPerson} order by 1) r`;
      const found = await em.execute<{ row: Record<string, unknown> }[]>(
        sql,
        Array(owners.length).fill(toArrayText(own)),
      );
      if (found.length > 0) records[className] = [...(records[className] ?? []), ...found.map(({ row }) => row)];
      for (const { row } of found) {
        // What the person has changed of others is theirs.
        if (erase === 'audit' && !own.includes(row[property] as string)) row.valuesBefore = row.valuesAfter = null;
        for (const key of file.map((name) => row[name])) if (key) files.push(key as string);
      }
    }
  }
  return { records, files };
}
