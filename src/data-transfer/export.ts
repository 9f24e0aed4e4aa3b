import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import type { Database } from '../database/database.ts';
import { type Draft, Folder } from '../shared/folder.ts';
import { createBuilderFilter } from './builder-rows.ts';
import { fileDefinitions } from './file-definitions.ts';
import { createFileMappings, type FileMapping } from './file-mapping.ts';
import { withTransaction } from './transaction.ts';

export interface ExportOptions {
  /** Exports the records of one builder, with its members and the integrators that its records name. Default: all records. */
  builderId?: string;
  onProgress?(file: string, rows: number, bytes: number): void;
  /** Runs when every file is written under a temporary name, before the first one gets its name. */
  beforeRename?(folder: Folder, drafts: ReadonlyMap<string, Draft>): Promise<void>;
}

interface ExportResult {
  files: { file: string; rows: number; bytes: number }[];
}

const LINE_FEED = 10;

/**
 * Writes every file of the format into the folder, which must be missing or empty: one consistent state of the database, the
 * same bytes for the same rows. No file has its name before all of them are written. docs/data-transfer-format.md describes the format.
 */
export async function exportFolder(
  database: Pick<Database, 'metadata' | 'url'>,
  folder: string,
  options: ExportOptions = {},
): Promise<ExportResult> {
  const mappings = createFileMappings(database.metadata, fileDefinitions);
  const { builderId } = options;
  const conditionOf =
    builderId === undefined ? () => 'true' : createBuilderFilter(database.metadata, mappings, builderId);
  const target = await Folder.create(folder);
  const drafts = new Map<string, Draft>();
  try {
    const { files } = await withTransaction(
      database.url,
      'begin isolation level repeatable read read only',
      async (client) => {
        await client.query(`set local statement_timeout = 0; set local jit = off`);
        const files: ExportResult['files'] = [];
        for (const mapping of mappings) {
          const draft = await target.createDraft(mapping.file);
          drafts.set(mapping.file, draft);
          const sql = exportSql(mapping, `(${conditionOf(mapping)}) and ${mapping.exported}`);
          files.push(await exportFile(client, mapping, sql, draft, options));
        }
        return { files, commit: true };
      },
    );
    await options.beforeRename?.(target, drafts);
    for (const draft of drafts.values()) await draft.complete();
    return { files };
  } catch (error) {
    for (const draft of drafts.values()) await draft.discard();
    throw error;
  }
}

async function exportFile(client: pg.Client, mapping: FileMapping, sql: string, draft: Draft, options: ExportOptions) {
  let rows = 0;
  let bytes = 0;
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
function exportSql({ table, columns, key }: FileMapping, condition: string): string {
  const fields = columns.map(({ field, name, type }) => `${type.json(name)} as "${field}"`);
  const order = key.map(({ name }) => `${name} collate "C"`);
  const select = `select row_to_json(r) from (select ${fields.join(', ')} from ${table} where ${condition} order by ${order.join(', ')}) r`;
  return `copy (${select}) to stdout (format csv, quote E'\\x01', delimiter E'\\x02')`;
}
