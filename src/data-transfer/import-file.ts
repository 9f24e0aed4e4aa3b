import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { Folder } from '../shared/folder.ts';
import { type AccessChange, toAccessProblemsSql, toLockUsersSql, toStoreAccessSql } from './access-changes.ts';
import type { Catalog } from './catalog.ts';
import { keepStoredPeople, toEraseStagedSql } from './erased-people.ts';
import type { FileMapping } from './file-mapping.ts';
import { readLines } from './read-lines.ts';
import { type RowProblem, RowReader } from './row-reader.ts';
import * as sql from './statements.ts';
import { DataTransferError } from './transaction.ts';
import {
  findUniqueKeys,
  toDuplicateProblemsSql,
  toLongKeyProblemsSql,
  toWaitingRowsSql,
  type UniqueKey,
} from './unique-keys.ts';

/** Phase of a file's import. */
export type Phase = 'reading' | 'checking' | 'writing';

export interface ImportOptions {
  /**
   * Commit the valid rows although others are invalid. Without it one invalid row rolls everything back. A record that breaks a
   * cross-record rule always does, because its rows are written by then.
   */
  keepGood?: boolean;
  /** Imports only the rows of this builder, and counts the others as left out. */
  builderId?: string;
  /** Whether the e-mail addresses of existing users may change. */
  allowUserChanges?: boolean;
  onProgress?(file: string, rows: number, bytes: number, totalBytes: number, phase: Phase): void;
  /** Called and awaited for every problem, in order; problems are not kept. */
  onProblem?(problem: RowProblem): void | Promise<void>;
  /** Runs in the transaction of an import that is about to be committed. */
  beforeCommit?: (
    client: pg.ClientBase,
    files: readonly FileResult[],
    changes: readonly AccessChange[],
  ) => Promise<void>;
}

export interface FileResult {
  file: string;
  /** Lines with a row, including invalid ones. */
  rows: number;
  inserted: number;
  updated: number;
  unchanged: number;
  bad: number;
  /** Valid rows of other builders, in an import for one builder. */
  leftOut?: number;
}

interface FileImport {
  client: pg.Client;
  mapping: FileMapping;
  catalog: Catalog;
  folder: Folder;
  /** Removes the staged rows that are left out. */
  filterSql: string | null;
  options: ImportOptions;
}

/** Minimum rows for which checking foreign keys once per file instead of once per row is worth its locks. */
const BULK_ROWS = 10_000;
/** Approximate characters per chunk of COPY. */
const CHUNK_CHARACTERS = 65_536;
/** Problems fetched from the database at a time. */
const FETCH_SIZE = 1_000;
/** Maximum passes of writing: the length of a chain of rows that wait for each other's unique values. */
const MAX_PASSES = 1_000;

/** Imports one file within the transaction of the client. Invalid rows are reported and skipped. */
export async function importFile(work: FileImport): Promise<FileResult> {
  const { client, mapping, catalog, options } = work;
  const reader = new RowReader(mapping, catalog.indexed);
  let [bytes, size] = [0, 0];
  const progress = (phase: Phase) => options.onProgress?.(mapping.file, reader.rows, bytes, size, phase);
  await client.query(sql.toCreateStageSql(mapping));
  const chunks = readCopyChunks(work, reader, (...read) => {
    [bytes, size] = read;
    progress('reading');
  });
  await pipeline(chunks, client.query(copyFrom(sql.COPY_TO_STAGE)));
  progress('checking');
  const eraseStaged = toEraseStagedSql(mapping);
  if (eraseStaged) await client.query(eraseStaged);
  await keepStoredPeople(client, mapping);
  const leftOut = work.filterSql === null ? null : (await client.query(work.filterSql)).rows[0].leftOut;
  await client.query('analyze import_stage');
  const bulk = await canSkipTriggers(work, reader.rows);
  if (bulk) for (const reference of mapping.references) await client.query(sql.toLockParentsSql(reference));
  const uniqueKeys = findUniqueKeys(mapping, catalog);
  await findDatabaseProblems(work, uniqueKeys);
  progress('writing');
  if (bulk) await client.query('set local session_replication_role = replica');
  const { inserted, updated } = await writeRows(work, uniqueKeys);
  if (bulk) await client.query(`set local session_replication_role = origin; analyze ${mapping.table}`);
  const bad = reader.bad + (await reportDatabaseProblems(work));
  if (bad > 0 && mapping.id) await client.query(sql.toRejectedIdsSql(mapping));
  if (mapping.crossRecordRule) await client.query(sql.toTouchedRecordsSql(mapping, mapping, mapping.key[0]!));
  for (const { column, parent } of mapping.references)
    if (parent.crossRecordRule && parent !== mapping)
      await client.query(sql.toTouchedRecordsSql(mapping, parent, column));
  await client.query(sql.CLEAR_TABLES);
  const unchanged = reader.rows - bad - inserted - updated - (leftOut ?? 0);
  const result = { file: mapping.file, rows: reader.rows, inserted, updated, unchanged, bad };
  return leftOut === null ? result : { ...result, leftOut };
}

/** Yields the file as COPY text, and reports problems of single rows. */
async function* readCopyChunks(
  { folder, mapping, options }: FileImport,
  reader: RowReader,
  onRead: (bytes: number, totalBytes: number) => void,
) {
  const file = await folder.openFile(mapping.file);
  if (!file) throw new DataTransferError(`${mapping.file} was removed during the import.`);
  const stream = file.createReadStream();
  const { size } = await file.stat();
  for await (const lines of readLines(stream)) {
    for (const { bytes, number } of lines) reader.line(bytes, number);
    for (const problem of reader.problems.splice(0)) await options.onProblem?.(problem);
    onRead(stream.bytesRead, size);
    if (reader.text.length >= CHUNK_CHARACTERS) yield reader.takeCopyText();
  }
  yield reader.takeCopyText();
}

/**
 * Returns whether foreign key triggers are disabled for the file. They cost more than writing a row, and the import checks foreign
 * keys itself. It needs the privilege, a large file, and a table without other triggers that does not reference itself.
 */
async function canSkipTriggers({ client, mapping, catalog }: FileImport, rows: number): Promise<boolean> {
  if (rows < BULK_ROWS || catalog.triggers || mapping.references.some(({ parent }) => parent === mapping)) return false;
  const { rows: answers } = await client.query(
    `select has_parameter_privilege('session_replication_role', 'set') as allowed`,
  );
  return answers[0].allowed;
}

async function findDatabaseProblems(
  { client, mapping, catalog, options }: FileImport,
  uniqueKeys: UniqueKey[],
): Promise<void> {
  const statements = [
    toLockUsersSql(mapping),
    sql.toReferenceProblemsSql(mapping),
    sql.toCheckProblemsSql(mapping, catalog.checks),
    ...uniqueKeys.flatMap((uniqueKey) => [toLongKeyProblemsSql(uniqueKey), toDuplicateProblemsSql(uniqueKey)]),
    ...toAccessProblemsSql(mapping, options.allowUserChanges === true),
  ];
  for (const statement of statements) if (statement) await client.query(statement);
  for (const reference of mapping.references.filter(({ parent }) => parent === mapping)) {
    while ((await client.query(sql.toOrphanProblemsSql(mapping, reference))).rowCount! > 0);
  }
}

/**
 * Writes in passes. A row whose unique value belongs to another record waits for the pass that changes that record. Rows that
 * still wait when a pass makes no progress become problems.
 */
async function writeRows({ client, mapping }: FileImport, uniqueKeys: UniqueKey[]) {
  let [inserted, updated] = [0, 0];
  const { allNew } = (await client.query(sql.toAllNewSql(mapping))).rows[0];
  for (let pass = 0, before = Number.POSITIVE_INFINITY; ; pass++) {
    for (const uniqueKey of uniqueKeys.filter(({ isKey }) => !isKey))
      await client.query(toWaitingRowsSql(mapping, uniqueKey, pass));
    const waiting = await client.query(
      'select count(distinct line)::int as count from import_waiting where pass = $1',
      [pass],
    );
    const { count } = waiting.rows[0];
    if (count < before) {
      const result = (await client.query(sql.toUpsertSql(mapping, pass, allNew, toStoreAccessSql(mapping)))).rows[0];
      inserted += result.inserted;
      updated += result.updated;
    }
    if (count === 0 || count === before || pass === MAX_PASSES) {
      if (count > 0) await client.query(sql.toWaitingProblemsSql(pass));
      return { inserted, updated };
    }
    if (pass === 0) await client.query('create index on import_stage (__line)');
    before = count;
  }
}

/** Reports the problems found in the database, by line. Returns the number of rows that are invalid only because of them. */
async function reportDatabaseProblems({ client, mapping, options }: FileImport): Promise<number> {
  const { rows } = await client.query(sql.COUNT_PROBLEMS);
  if (rows[0].problems === 0) return 0;
  await client.query(`declare import_problems no scroll cursor for
    select line, field, message from import_problem order by line, field`);
  for (;;) {
    const fetched = await client.query(`fetch ${FETCH_SIZE} from import_problems`);
    for (const { line, field, message } of fetched.rows) {
      const problem: RowProblem = { file: mapping.file, line: Number(line), field, message };
      await options.onProblem?.(problem);
    }
    if (fetched.rows.length < FETCH_SIZE) break;
  }
  await client.query('close import_problems');
  return rows[0].bad;
}
