import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { type ImportResult, importFolder } from '../../src/data-transfer/import.ts';
import type { ImportOptions } from '../../src/data-transfer/import-file.ts';
import type { Problem } from '../../src/data-transfer/rows.ts';
import { Database } from '../../src/database/database.ts';
import { runPendingMigrations } from '../../src/database/run-migrations.ts';
import { createDatabase } from '../setup/database.ts';

/** Two builders' data, as an export writes it: every file, no longer than a page each. */
export const SAMPLES = join(import.meta.dirname, '../samples/company');

export type Row = Record<string, unknown>;

/** Databases and folders of one test file, which go with it. */
export class Bench {
  readonly #endings: (() => Promise<unknown>)[] = [];
  #empty: Promise<string> | null = null;
  #filled: Promise<string> | null = null;

  /** A database with tables and no rows. */
  async emptyDatabase(): Promise<Database> {
    this.#empty ??= makeTemplate('template1', async (database) => {
      await runPendingMigrations(database, 'auto');
    });
    return this.#clone(await this.#empty);
  }

  /** A database with the rows of the sample. */
  async sampleDatabase(): Promise<Database> {
    if (!this.#empty) await this.emptyDatabase();
    this.#filled ??= makeTemplate(await this.#empty!, (database) => importFolder(database, SAMPLES));
    return this.#clone(await this.#filled);
  }

  async #clone(template: string): Promise<Database> {
    const { url, drop } = await createDatabase(template);
    const database = new Database('au1', url);
    this.#endings.unshift(() => database.close().then(drop));
    return database;
  }

  async folder(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'builder-api-exchange-'));
    this.#endings.unshift(() => rm(folder, { recursive: true }));
    return folder;
  }

  /** A folder of these files; each is its text or its rows. */
  async folderOf(files: Record<string, string | Buffer | Row[]>): Promise<string> {
    const folder = await this.folder();
    for (const [file, content] of Object.entries(files)) {
      await writeFile(join(folder, `${file}.ndjson`), Array.isArray(content) ? linesOf(content) : content);
    }
    return folder;
  }

  /** A copy of the sample in which the rows of some files are others. */
  async sampleWith(files: Record<string, (rows: Row[]) => Row[]>): Promise<string> {
    const folder = await this.folder();
    await cp(SAMPLES, folder, { recursive: true });
    for (const [file, change] of Object.entries(files)) {
      await writeFile(join(folder, `${file}.ndjson`), linesOf(change(await sample(file))));
    }
    return folder;
  }

  async client(database: Database): Promise<Client> {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    this.#endings.unshift(() => client.end());
    return client;
  }

  async end(): Promise<void> {
    for (const ending of this.#endings) await ending();
  }
}

async function makeTemplate(of: string, fill: (database: Database) => Promise<unknown>): Promise<string> {
  const { url } = await createDatabase(of);
  const database = new Database('au1', url);
  await fill(database);
  await database.close();
  return new URL(url).pathname.slice(1);
}

export const linesOf = (rows: Row[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

export async function sample(file: string): Promise<Row[]> {
  const text = await readFile(join(SAMPLES, `${file}.ndjson`), 'utf8');
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/** The texts of a folder's files, by name. */
export async function textsOf(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.flatMap((entry) => (entry.isFile() ? [entry.name] : [])).sort();
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name), 'utf8')])),
  );
}

/** Imports and gathers every problem that is reported. */
export async function importing(database: Database, folder: string, options: ImportOptions = {}) {
  const problems: Problem[] = [];
  const onBadRow = (problem: Problem) => void problems.push(problem);
  const result: ImportResult = await importFolder(database, folder, { onBadRow, ...options });
  return { ...result, problems };
}

/** How many rows the table has. */
export async function count(database: Database, table: string): Promise<number> {
  const [row] = await database.orm.em.getConnection().execute(`select count(*)::int as count from ${table}`);
  return row!.count;
}
