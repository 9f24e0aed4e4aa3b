import { randomBytes } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import type { Database } from '../database/database.ts';
import { buildPlans, type Plan } from './plan.ts';
import { resources as allResources, type Resource } from './resources.ts';
import { ExchangeError, inTransaction } from './session.ts';

export interface ExportOptions {
  onProgress?(file: string, rows: number, bytes: number): void;
}

export interface ExportResult {
  files: { file: string; rows: number; bytes: number }[];
}

const LINE_FEED = 10;

/**
 * Writes every file of the format into the folder, which is made if missing: one consistent state of the database, the
 * same bytes for the same rows. No file is replaced before all of them are written. docs/data-transfer-format.md describes the format.
 */
export async function exportFolder(
  database: Pick<Database, 'metadata' | 'url'>,
  folder: string,
  options: ExportOptions = {},
  resources: Resource[] = allResources,
): Promise<ExportResult> {
  const plans = buildPlans(database.metadata, resources);
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((error: Error) => {
    throw new ExchangeError(`The folder ${folder} cannot be written: ${error.message}`);
  });
  // Another ending, so that what a killed export leaves behind is not imported.
  const mark = randomBytes(6).toString('hex');
  const draft = ({ file }: Plan) => join(folder, `${file}.${mark}.part`);
  try {
    const snapshot = 'begin isolation level repeatable read read only';
    const { files } = await inTransaction(database.url, snapshot, async (client) => {
      await client.query(`set local statement_timeout = 0; set local jit = off`);
      const files: ExportResult['files'] = [];
      for (const plan of plans) files.push(await exportFile(client, plan, draft(plan), options));
      return { files, commit: true };
    });
    for (const plan of plans) await rename(draft(plan), join(folder, plan.file));
    return { files };
  } catch (error) {
    for (const plan of plans) await rm(draft(plan), { force: true });
    const { syscall, message } = error as NodeJS.ErrnoException;
    if (syscall === 'open' || syscall === 'write') {
      throw new ExchangeError(`The folder ${folder} cannot be written: ${message}`, { cause: error });
    }
    throw error;
  }
}

async function exportFile(client: pg.Client, plan: Plan, path: string, options: ExportOptions) {
  let rows = 0;
  let bytes = 0;
  async function* counted(source: AsyncIterable<Buffer>) {
    for await (const chunk of source) {
      bytes += chunk.length;
      for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, at + 1)) rows++;
      options.onProgress?.(plan.file, rows, bytes);
      yield chunk;
    }
  }
  // For its owner alone, because it names people.
  const target = createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true });
  await pipeline(client.query(copyTo(exportSql(plan))), counted, target);
  return { file: plan.file, rows, bytes };
}

/**
 * One JSON object a line, as PostgreSQL prints it. JSON escapes every control character, so with control characters for
 * quote and delimiter CSV adds nothing to it. Ordered by code points whatever the database's own collation is.
 */
function exportSql({ table, columns, key }: Plan): string {
  const fields = columns.map(({ field, name, type }) => `${type.json(name)} as "${field}"`);
  const order = key.map(({ name }) => `${name} collate "C"`);
  const select = `select row_to_json(r) from (select ${fields.join(', ')} from ${table} order by ${order.join(', ')}) r`;
  return `copy (${select}) to stdout (format csv, quote E'\\x01', delimiter E'\\x02')`;
}
