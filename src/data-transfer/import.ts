import { join } from 'node:path';
import type pg from 'pg';
import type { Database } from '../database/database.ts';
import { waitForAdvisoryLock } from '../database/write/advisory-lock.ts';
import { PEOPLE_LOCK } from '../domain/privacy/erase-person.ts';
import { Folder } from '../shared/folder.ts';
import { CREATE_ACCESS_TABLE, findAccessChanges } from './access-changes.ts';
import { createStageFilter, selectForeignUsers } from './builder-rows.ts';
import { readCatalog } from './catalog.ts';
import { SELECT_ERASURES } from './erased-people.ts';
import { fileDefinitions as allDefinitions, type FileDefinition } from './file-definitions.ts';
import { createFileMappings, type FileMapping } from './file-mapping.ts';
import { type FileResult, type ImportOptions, importFile } from './import-file.ts';
import { CREATE_TABLES, TAKE_TOUCHED } from './statements.ts';
import { DataTransferError, withTransaction } from './transaction.ts';

export interface ImportResult {
  /** In the order of import, without missing files. Counts are the same whether the import is committed or not. */
  files: FileResult[];
  committed: boolean;
}

/** Imports run one at a time, because concurrent ones could deadlock. */
const LOCK = 'builder-integration-api import';
/** Enough memory for sorting and hashing a file; larger ones use disk. */
const SESSION_SETTINGS = `set local work_mem = '64MB'; set local jit = off; set local lock_timeout = 0; set local statement_timeout = 0`;

/**
 * Upserts the rows of every file of the folder in one transaction: all or nothing, unless `keepGood`. The format is
 * described in docs/data-transfer-format.md. Throws `DataTransferError` when the folder cannot be imported at all.
 */
export async function importFolder(
  database: Pick<Database, 'metadata' | 'url'>,
  folder: string,
  options: ImportOptions = {},
  fileDefinitions: FileDefinition[] = allDefinitions,
): Promise<ImportResult> {
  const mappings = createFileMappings(database.metadata, fileDefinitions);
  const source = await Folder.open(folder);
  const found = await findFiles(source, mappings);
  const { builderId } = options;
  const toStageFilterSql =
    builderId === undefined ? null : await createStageFilter(database.metadata, mappings, source, builderId);
  const { files, commit } = await withTransaction(database.url, 'begin', async (client) => {
    await client.query(SESSION_SETTINGS);
    await waitForAdvisoryLock(client, LOCK);
    await client.query(`${CREATE_TABLES}; ${CREATE_ACCESS_TABLE}`);
    const erasures = (await client.query(SELECT_ERASURES)).rows[0].erasures;
    const files: FileResult[] = [];
    for (const mapping of found) {
      const catalog = await readCatalog(client, mapping.table);
      const filterSql = toStageFilterSql?.(mapping) ?? null;
      const work = importFile({ client, mapping, catalog, folder: source, filterSql, options });
      files.push(await work.catch((error) => rethrowConflict(mapping.file, error)));
    }
    const inconsistent = await checkCrossRecordRules(client, mappings, files, options);
    const commit = inconsistent === 0 && (options.keepGood === true || files.every(({ bad }) => bad === 0));
    await excludeErasures(client, erasures);
    const foreign = builderId && selectForeignUsers(mappings, builderId);
    const changes = commit ? await findAccessChanges(client, options.allowUserChanges, foreign) : [];
    if (commit) await options.beforeCommit?.(client, files, changes);
    return { files, commit };
  });
  return { files, committed: commit };
}

/** Attempts, ten in a second, to take the lock of erasures. One that waits for rows of the import keeps it until the import ends. */
const MAX_ATTEMPTS = 40;

/**
 * Has erasures of people wait for the end of the transaction, so that they find what the import has written. Throws for one that began during
 * the import, or was completed, also once more: rows that were read before would bring the person's name back.
 */
async function excludeErasures(client: pg.Client, completed: string | null): Promise<void> {
  const error = new DataTransferError('A person was erased during the import: import again.');
  let attempts = 0;
  await waitForAdvisoryLock(client, PEOPLE_LOCK, undefined, async () => {
    if (++attempts === MAX_ATTEMPTS) throw error;
  });
  if ((await client.query(SELECT_ERASURES)).rows[0].erasures !== completed) throw error;
}

/** Returns the mappings whose files the folder has. Throws on a file `.ndjson` with an unknown name. */
async function findFiles(folder: Folder, mappings: FileMapping[]): Promise<FileMapping[]> {
  const names = await folder.list();
  const dataFiles = names.filter((name) => name.toLowerCase().endsWith('.ndjson'));
  const expected = mappings.map(({ file }) => file);
  const unknown = dataFiles.filter((name) => !expected.includes(name)).sort();
  if (unknown.length > 0) {
    throw new DataTransferError(
      `${join(folder.path, unknown[0]!)} is not a file of the format, which has ${expected.join(', ')}.`,
    );
  }
  if (dataFiles.length === 0) throw new DataTransferError(`The folder ${folder.path} has no file of the format.`);
  return mappings.filter(({ file }) => dataFiles.includes(file));
}

/** Records that one query selects for a cross-record rule. */
const RECORDS_PER_BATCH = 20;

/** Validates the records that the import changed with their cross-record rules. Returns the number of inconsistent ones. */
async function checkCrossRecordRules(
  client: pg.Client,
  mappings: FileMapping[],
  files: FileResult[],
  { onProblem }: ImportOptions,
): Promise<number> {
  let inconsistent = 0;
  for (const { file: ruleFile, crossRecordRule: rule } of mappings) {
    for (let batchSize = RECORDS_PER_BATCH; rule && batchSize === RECORDS_PER_BATCH; ) {
      const { rows: touched } = await client.query(TAKE_TOUCHED, [ruleFile, RECORDS_PER_BATCH]);
      batchSize = touched.length;
      const { rows } = await client.query(rule.select, [touched.map(({ id }) => id)]);
      const found = new Map(rows.map((row) => [row.id, row]));
      for (const { id, file, line } of touched.toSorted((a, b) => a.line - b.line)) {
        const errors = rule.validate(found.get(id) as never);
        for (const { fieldName, message } of errors) await onProblem?.({ file, line, field: fieldName, message });
        if (errors.length === 0) continue;
        inconsistent++;
        files.find((result) => result.file === file)!.bad++;
      }
    }
  }
  return inconsistent;
}

/** All rows are checked before, so a constraint violation (SQLSTATE class 23) is caused by a concurrent write, as is a deadlock (class 40). */
function rethrowConflict(file: string, error: Error & { code?: string }): never {
  if (!/^(23|40)/.test(error.code ?? '')) throw error;
  throw new DataTransferError(`${file}: ${error.message}. The database was changed during the import: import again.`, {
    cause: error,
  });
}
