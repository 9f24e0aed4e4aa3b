import type { EntityManager } from '@mikro-orm/postgresql';
import { Erasure, type ErasurePlace } from '../../../entities/erasure.entity.ts';
import type { NoteBlock } from '../../../entities/meeting.entity.ts';
import { isObject } from '../../../schema/is-object.ts';
import { toArrayText } from '../../database/array-text.ts';
import { getErrorCode } from '../../database/errors.ts';
import { InvalidInputError } from '../access/invalid-input-error.ts';
import { canonicalJson, createFingerprint } from '../canonical-json.ts';
import { type ChangeContext, inTransaction } from '../change-context.ts';
import { validatePageDocument } from '../photo-reports/page-document.ts';
import { findErasures } from './erasure-list.ts';
import { replaceName } from './name-patterns.ts';
import { UnknownPersonError } from './person.ts';
import { isJson, listPersonalTables, type PersonalTable, quote } from './personal-tables.ts';

/** A text of the list with the value that it has now: text or JSON. */
interface ListedText {
  /** `meeting/meet_a1/notes` */
  place: string;
  builderId: string | null;
  value: unknown;
}

const toPlace = ({ table, id, column }: ErasurePlace) => `${table}/${id}/${column}`;

/**
 * Lists the texts that named a person when the records were erased, with their present values (PRV-4). Rows that no longer exist are left out.
 *
 * @param id of an erasure, or of a record of the person. Throws `UnknownPersonError` if it was not erased
 */
export async function listErasedTexts({ database }: ChangeContext, id: string): Promise<ListedText[]> {
  const em = database.fork();
  const tables = listPersonalTables(database.metadata);
  const { places } = await findErasure(em, id);
  const texts: ListedText[] = [];
  for (const each of places) {
    const found = tables.find(({ table }) => table === each.table);
    const row = found && (await selectRow(em, found, each.id));
    if (row) texts.push({ place: toPlace(each), builderId: row.builderId, value: row.values[each.column] });
  }
  return texts;
}

/**
 * Replaces a name by the pseudonym in one of the listed texts, in all spellings that are compared as equal (PRV-4). Throws `InvalidInputError` for
 * a text that is not listed, has no such name or cannot change.
 */
export function replaceErasedText(
  context: ChangeContext,
  id: string,
  place: string,
  name: string,
): Promise<ListedText> {
  return inTransaction(context, async (em, now, record) => {
    const { places, pseudonym } = await findErasure(em, id);
    const listed = places.find((each) => toPlace(each) === place);
    if (!listed) throw new InvalidInputError('replace', `${place} is not on the list of ${id}`);
    if (listed.table === 'audit_entry')
      throw new InvalidInputError('replace', 'entries of the audit log cannot change');
    const table = listPersonalTables(context.database.metadata).find((each) => each.table === listed.table)!;
    if (table.declaration.addresses?.some((property) => table.columnOf(property) === listed.column))
      throw new InvalidInputError('replace', 'an address or the key of a file changes with its record, by an import');
    const row = await selectRow(em, table, listed.id, 'for update');
    if (!row) throw new InvalidInputError('replace', `${place} no longer exists`);
    const isFree = FREE_COLUMNS.includes(listed.column);
    const replaceText = (text: string) => replaceName(text, name, pseudonym);
    // The id of an author or assignee may be an address.
    const isPerson = table.declaration.people?.some((property) => table.columnOf(property) === listed.column);
    const isKept = (field: string, value: unknown) =>
      field === 'type'
        ? !isFree
        : IDENTIFYING.test(field) && !(isPerson && typeof value === 'string' && replaceText(value) === pseudonym);
    const replace = (value: unknown) => replaceIn(value, replaceText, isKept, isFree);
    const changes = replaceWithDependents(table, row.values, listed.column, replace);
    if (Object.keys(changes).length === 0)
      throw new InvalidInputError('replace', `${place} does not contain "${name}"`);
    if (table.columns.has('updatedAt')) changes.updated_at = now;
    await updateRow(em, table, listed.id, changes);
    const { builderId } = row;
    const subject = { objectId: pseudonym, personId: pseudonym, builderId };
    await record({ action: 'person.text_replaced', ...subject, after: { place } });
    return { place, builderId, value: changes[listed.column] ?? row.values[listed.column] };
  });
}

/** Returns the pseudonym and the places of all erasures of the person. */
async function findErasure(em: EntityManager, id: string): Promise<{ pseudonym: string; places: ErasurePlace[] }> {
  const found = await em.findOne(Erasure, { kind: 'PERSON', $or: [{ id }, { subjectIds: { $contains: [id] } }] });
  const all = found ? await findErasures(em, found.subjectIds) : [];
  if (all.length === 0) throw new UnknownPersonError([id]);
  const places = new Map(all.flatMap((each) => each.places).map((place) => [toPlace(place), place]));
  return { pseudonym: all[0]!.pseudonym!, places: [...places.values()] };
}

/** Returns the texts of a row by column, and its builder. */
async function selectRow(em: EntityManager, table: PersonalTable, id: string, lock = '') {
  const [row] = await em.execute<{ builderId: string | null; values: Record<string, unknown> }[]>(
    `select ${table.builder} as "builderId", to_jsonb(t) as values from ${quote(table.table)} t
      where ${quote(table.primaryKey)}::text = ? ${lock}`,
    [id],
  );
  return row;
}

/** Fields of JSON that identify records here or in other systems, and links: by another value nothing would be found. */
const IDENTIFYING =
  /^(id|noteId|attachmentId|externalId|externalSourceId|pageExternalSourceId|mappedAdminUserId|source(App|BlockId|DeepLink|ExternalId))$/;

/** JSON in which others choose the names of fields. Those of the rest, and their types, are words that a person's name may have too. */
const FREE_COLUMNS = ['metadata', 'detail_blocks', 'content'];

/** Returns the value with its strings replaced, and its names of fields if they are free, but those that identify. An e-mail address remains one. */
function replaceIn(
  value: unknown,
  replace: (text: string) => string,
  isKept: (field: string, value: unknown) => boolean,
  isFree: boolean,
): unknown {
  if (typeof value === 'string') return replace(value);
  if (Array.isArray(value)) return value.map((each) => replaceIn(each, replace, isKept, isFree));
  if (!isObject(value)) return value;
  const inAddress = (text: string) => (replace(text) === text ? text : replace(text).replaceAll(' ', '.'));
  const inField = ([name, each]: [string, unknown]) =>
    isKept(name, each)
      ? [name, each]
      : [isFree ? replace(name) : name, replaceIn(each, name === 'email' ? inAddress : replace, isKept, isFree)];
  const fields = Object.fromEntries(Object.entries(value).map(inField));
  if (Object.keys(fields).length === Object.keys(value).length) return fields;
  throw new InvalidInputError('replace', 'the text has two fields that would have the same name');
}

/** That an import takes, because an index has labels. */
const MAX_LABEL_BYTES = 1000;

/** Returns the changed columns: the one with the text, and those that must agree with it. */
function replaceWithDependents(
  { table }: PersonalTable,
  values: Record<string, unknown>,
  column: string,
  replace: (value: unknown) => unknown,
): Record<string, unknown> {
  // The blocks of notes are parts of them.
  const own = column === 'note_blocks' ? ['notes'] : [column];
  const isAuthor = column === 'source_author';
  const columns = table === 'photo_report' ? [isAuthor ? column : 'title', 'content'] : own;
  // The author of a report is a place of its own, because somebody else may have the name.
  const replaceReport = (content: object) => {
    const part = Object.entries(content).filter(([field]) => (field === 'sourceAuthor') === isAuthor);
    return { ...content, ...(replace(Object.fromEntries(part)) as object) };
  };
  const changes: Record<string, unknown> = {};
  for (const each of columns) {
    const replaced =
      table === 'photo_report' && each === 'content' ? replaceReport(values[each] as object) : replace(values[each]);
    if (canonicalJson(replaced) !== canonicalJson(values[each])) changes[each] = replaced;
  }
  if (changes.content) changes.fingerprint = createFingerprint(canonicalJson(changes.content));
  const validate = (content: unknown) => validatePageDocument((content as { page: unknown }).page, 'content.page');
  // A report that has a text beyond its limit, or no longer is one, could not be imported.
  const [error] = changes.content ? validate(changes.content).slice(validate(values.content).length) : [];
  if (error) throw new InvalidInputError('replace', `${error.fieldName} ${error.message}`);
  const isLabel = table.startsWith('timesheet_') && column !== 'description';
  if (isLabel && Buffer.byteLength(`${changes[column]}`) > MAX_LABEL_BYTES)
    throw new InvalidInputError(
      'replace',
      `the text would be longer than ${MAX_LABEL_BYTES} bytes, and could not be imported`,
    );
  if (table === 'meeting' && changes.notes !== undefined) changes.note_blocks = moveBlocks(values, changes, replace);
  return changes;
}

/** Returns the blocks of synced notes where they are in the replaced notes. A block that is no longer there becomes a person's text. */
const moveBlocks = (
  values: Record<string, unknown>,
  changes: Record<string, unknown>,
  replace: (value: unknown) => unknown,
): NoteBlock[] =>
  (values.note_blocks as NoteBlock[]).flatMap((block) => {
    const start = (replace((values.notes as string).slice(0, block.start)) as string).length;
    const text = replace(block.text) as string;
    return (changes.notes as string).startsWith(text, start) ? [{ ...block, start, text }] : [];
  });

const NOT_UNIQUE = 'another record of the builder has this text already, and it is unique';

async function updateRow(
  em: EntityManager,
  { table, columns, primaryKey }: PersonalTable,
  id: string,
  changes: object,
) {
  const json = [...columns.values()].filter(isJson).map(({ fieldNames }) => fieldNames[0]);
  const names = Object.keys(changes);
  const sets = names.map((name) => `${quote(name)} = ?${json.includes(name) ? '::jsonb' : ''}`);
  const values = Object.entries(changes).map(([name, value]) =>
    json.includes(name) ? JSON.stringify(value) : Array.isArray(value) ? toArrayText(value) : value,
  );
  const sql = `update ${quote(table)} set ${sets.join(', ')} where ${quote(primaryKey)}::text = ?`;
  await em.execute(sql, [...values, id]).catch((error) => {
    throw getErrorCode(error) === '23505' ? new InvalidInputError('replace', NOT_UNIQUE) : error;
  });
}
