import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import type { Database } from '../database/database.ts';
import { type Draft, Folder } from '../shared/folder.ts';
import type { Storage } from '../storage/storage.ts';
import { createBuilderFilter } from './builder-rows.ts';
import { fileDefinitions, STORED_FILES } from './file-definitions.ts';
import { createFileMappings, type FileMapping } from './file-mapping.ts';
import { DataTransferError, withTransaction } from './transaction.ts';

interface ExportOptions {
  /** Exports the records of one builder, with its members and the integrators that its records name. Default: all records. */
  builderId?: string;
  /** Exports the files that the records refer to from this storage. Default: none. */
  storage?: Storage;
  onProgress?(file: string, rows: number, bytes: number): void;
}

interface ExportResult {
  files: { file: string; rows: number; bytes: number }[];
  storedFiles: number;
}

const LINE_FEED = 10;

/**
 * Writes every file of the format into the folder, which must be missing or empty: one consistent state of the database, the
 * same bytes for the same rows. No file has its name before all of them are written, and the files of the storage that they refer to: a folder
 * with the records of a killed export has those too. docs/data-transfer-format.md describes the format.
 */
export async function exportFolder(
  database: Pick<Database, 'metadata' | 'url'>,
  folder: string,
  options: ExportOptions = {},
): Promise<ExportResult> {
  const mappings = createFileMappings(database.metadata, fileDefinitions);
  const { builderId, storage } = options;
  const conditionOf =
    builderId === undefined ? () => 'true' : createBuilderFilter(database.metadata, mappings, builderId);
  const target = await Folder.create(folder);
  const drafts: Draft[] = [];
  const exportRows = async (client: pg.Client) => {
    await client.query(`set local statement_timeout = 0; set local jit = off`);
    const files: ExportResult['files'] = [];
    /** By key, with the size that a row has. */
    const keys = new Map<string, number | null>();
    for (const mapping of mappings) {
      const draft = await target.createDraft(mapping.file);
      drafts.push(draft);
      const rows = `from ${mapping.table} where (${conditionOf(mapping)}) and ${mapping.exportCondition}`;
      files.push(await exportFile(client, mapping, exportSql(mapping, rows), draft, options));
      for (const { name } of storage ? mapping.storageKeys : []) {
        const sql = `select ${name} as key, ${mapping.fileSize} as size ${rows} and ${name} is not null`;
        const found = await client.query<{ key: string; size: number | null }>(sql);
        for (const { key, size } of found.rows) keys.set(key, size);
      }
    }
    return { files, keys, commit: true };
  };
  try {
    const begin = 'begin isolation level repeatable read read only';
    const { files, keys } = await withTransaction(database.url, begin, exportRows);
    for (const [key, size] of keys) {
      const found = await storage!.byteStore.open(key);
      if (!found || (size ?? found.size) !== found.size) {
        found?.stream.destroy();
        const problem = found ? `has ${found.size} bytes and not ${size}` : 'is not';
        throw new DataTransferError(`${key}, which the export refers to, ${problem} in the storage.`);
      }
      await target.writeFile(`${STORED_FILES}/${key}`, found.stream);
    }
    for (const draft of drafts) await draft.complete();
    return { files, storedFiles: keys.size };
  } catch (error) {
    for (const draft of drafts) await draft.discard();
    throw error;
  }
}

async function exportFile(client: pg.Client, mapping: FileMapping, sql: string, draft: Draft, options: ExportOptions) {
  let [rows, bytes] = [0, 0];
  async function* countRows(source: AsyncIterable<Buffer>) {
    for await (const chunk of source) {
      bytes += chunk.length;
      for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, at + 1)) rows++;
      options.onProgress?.(mapping.file, rows, bytes);
      yield chunk;
    }
  }
  await draft.write(countRows(client.query(copyTo(sql))));
  return { file: mapping.file, rows, bytes };
}

/**
 * One JSON object per line, as PostgreSQL formats it. JSON escapes control characters, so CSV with control characters as quote and
 * delimiter leaves the lines unchanged. The order is by code points, independent of the database's collation.
 */
function exportSql({ columns, key }: FileMapping, rows: string): string {
  const fields = columns.map(({ field, name, type }) => `${type.json(name)} as "${field}"`);
  const order = key.map(({ name }) => `${name} collate "C"`);
  const select = `select row_to_json(r) from (select ${fields.join(', ')} ${rows} order by ${order.join(', ')}) r`;
  return `copy (${select}) to stdout (format csv, quote E'\\x01', delimiter E'\\x02')`;
}
