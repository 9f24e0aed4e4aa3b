import type { EntityProperty } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { ErasurePlace } from '../../../entities/erasure.entity.ts';
import { toArrayText } from '../../database/array-text.ts';
import { toComparableText } from '../../shared/comparable-text.ts';
import { createPatterns, isNaming, toNameForms } from './name-patterns.ts';
import { type Person } from './person.ts';
import { isJson, type PersonalTable, quote } from './personal-tables.ts';

/** A text that contains a name, an e-mail address or an id of a person. */
export interface FoundText extends ErasurePlace {
  type: string;
  property: string;
  builderId: string | null;
  /** The text; of JSON, the strings that contain it. */
  texts: string[];
}

/** Texts that people wrote, in entries of the audit log, beside names of companies. Its other values are not written by people, or about one person. */
const AUDITED_TEXTS = ['closingReason', 'resolutionReason', 'reason', 'role', 'pilotAgreement'];

/** Selects the names and addresses that the audit log has of the person, who may have been renamed. */
export async function selectFormerNames(em: EntityManager, subjectIds: readonly string[]): Promise<string[]> {
  const rows = await em.execute<{ name: string }[]>(
    `select distinct recorded ->> key as name
      from audit_entry, unnest(array[values_before, values_after]) recorded, unnest(array['name', 'fullName', 'email']) key
      where person_id = any(?::text[]) and recorded ->> key is not null`,
    [toArrayText(subjectIds)],
  );
  return rows.map(({ name }) => name);
}

/**
 * Properties with texts that people wrote, also those that an erasure clears of the person's own records, and with people in structures that an
 * erasure may have left.
 */
export function textColumns({ declaration, columns }: PersonalTable): EntityProperty[] {
  const { people = [], mentions = [], addresses = [], cleared = [] } = declaration;
  const audited = declaration.erase === 'audit' ? ['valuesBefore', 'valuesAfter'] : [];
  return [...people, ...mentions, ...cleared, ...addresses, ...audited].map((property) => columns.get(property)!);
}

/** Returns SQL of the strings of a column, one a row. */
function toStringsSql({ declaration }: PersonalTable, column: EntityProperty): string {
  const name = `t.${quote(column.fieldNames[0]!)}`;
  if (column.columnTypes[0] === 'text[]') return `select unnest(${name}) as string`;
  if (declaration.addresses?.includes(column.name)) return `select replace(${name}, '%20', ' ') as string`;
  if (!isJson(column)) return `select ${name} as string`;
  if (declaration.erase === 'audit') {
    const keys = `array['${AUDITED_TEXTS.join("','")}'] || case when t.person_id is null then array['name'] end`;
    return `select ${name} ->> key as string from unnest(${keys}) key`;
  }
  const values = `jsonb_path_query(${name}, 'strict $.**') value`;
  return `select value #>> '{}' as string from ${values} where jsonb_typeof(value) = 'string'
    union all select key from ${values}, jsonb_object_keys(case jsonb_typeof(value) when 'object' then value else '{}' end) key`;
}

/** Returns SQL of the runs of text in JSON as one text: their marks are other strings between them. */
function toJoinedSql({ declaration }: PersonalTable, column: EntityProperty): string {
  if (!isJson(column) || declaration.erase === 'audit') return 'null::text';
  const values = `jsonb_path_query(t.${quote(column.fieldNames[0]!)}, 'strict $.**') value`;
  return `select string_agg(value ->> 'text', '') from ${values} where jsonb_typeof(value) = 'object'`;
}

/**
 * Finds the texts of the person's builders, and of all builders for a staff user, that contain a name or e-mail address of the person. Texts
 * are compared in their comparable form, also with the family name first. Strings of one JSON value are one text, because a name can
 * be in two runs of a paragraph, also divided inside of a word.
 *
 * @param ids further texts to find: ids of the person
 */
export async function findTexts(
  em: EntityManager,
  tables: readonly PersonalTable[],
  { names, emails, builderIds, isStaff }: Person,
  ids: readonly string[] = [],
): Promise<FoundText[]> {
  const forms = [...names.flatMap(toNameForms), ...[...emails, ...ids].map(toComparableText)].filter(isNaming);
  if (forms.length === 0) return [];
  const patterns = toArrayText(createPatterns(forms));
  const found: FoundText[] = [];
  for (const table of tables) {
    for (const column of textColumns(table)) {
      const { builder } = table;
      const isOfBuilder = isStaff ? 'true' : `(${builder} is null or ${builder} = any(?::text[]))`;
      const comparable = (sql: string) => `comparable_text(${sql}) collate pg_unicode_fast ~ any(?::text[])`;
      const rows = await em.execute<{ id: string; builderId: string | null; texts: string[]; whole: string }[]>(
        `select t.${quote(table.primaryKey)}::text as id, ${builder} as "builderId", found.whole,
            array(select string from (${toStringsSql(table, column)}) each where ${comparable('string')}) as texts
          from ${quote(table.table)} t, lateral (
            select string_agg(string, ' ') as whole, (${toJoinedSql(table, column)}) as joined from (${toStringsSql(table, column)}) each) found
          where ${isOfBuilder} and (${comparable('found.whole')} or ${comparable('found.joined')}) order by 1`,
        [patterns, ...(isOfBuilder === 'true' ? [] : [toArrayText(builderIds)]), patterns, patterns],
      );
      const [type, property, name] = [table.className, column.name as string, column.fieldNames[0]!];
      for (const { id, builderId, texts, whole } of rows) {
        const place = { type, property, table: table.table, id, column: name, builderId };
        found.push({ ...place, texts: texts.length > 0 ? texts : [whole] });
      }
    }
  }
  return found;
}
