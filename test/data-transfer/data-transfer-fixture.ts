import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { inject } from 'vitest';
import { type ImportResult, importFolder } from '../../src/data-transfer/import.ts';
import type { ImportOptions } from '../../src/data-transfer/import-file.ts';
import type { RowProblem } from '../../src/data-transfer/row-reader.ts';
import { Database } from '../../src/database/database.ts';
import { createDatabase } from '../setup/database.ts';
import { SAMPLES } from '../setup/template-names.ts';

export { SAMPLES };

export type Row = Record<string, unknown>;

/** Databases and folders of one test file, removed at its end. */
export class DataTransferFixture {
  readonly #cleanups: (() => Promise<unknown>)[] = [];

  /** Creates a database with empty tables. */
  async createEmptyDatabase(): Promise<Database> {
    return this.#clone();
  }

  /** Creates a database with the rows of the sample. */
  async createSampleDatabase(): Promise<Database> {
    return this.#clone(inject('cluster').sample);
  }

  async #clone(template?: string): Promise<Database> {
    const { url, drop } = await createDatabase(template);
    const database = new Database('au1', url);
    this.#cleanups.unshift(() => database.close().then(drop));
    return database;
  }

  async createTemporaryFolder(): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'builder-api-data-transfer-'));
    this.#cleanups.unshift(() => rm(folder, { recursive: true }));
    return folder;
  }

  /** Creates a folder with these files, each given as text or as rows. */
  async createFolder(files: Record<string, string | Buffer | Row[]>): Promise<string> {
    const folder = await this.createTemporaryFolder();
    for (const [file, content] of Object.entries(files)) {
      await writeFile(join(folder, `${file}.ndjson`), Array.isArray(content) ? toNdjson(content) : content);
    }
    return folder;
  }

  /** Creates a folder with one large file. */
  async createLargeFolder(rows: number, row: (index: number) => Row): Promise<string> {
    const folder = await this.createTemporaryFolder();
    const stream = createWriteStream(join(folder, 'timesheets.ndjson'));
    for (let index = 0; index < rows; index++) {
      if (!stream.write(`${JSON.stringify(row(index))}\n`)) await once(stream, 'drain');
    }
    stream.end();
    await once(stream, 'finish');
    return folder;
  }

  /** Copies the sample data, with the rows of some files changed. */
  async copySample(files: Record<string, (rows: Row[]) => Row[]>): Promise<string> {
    const folder = await this.createTemporaryFolder();
    await cp(SAMPLES, folder, { recursive: true });
    for (const [file, change] of Object.entries(files)) {
      await writeFile(join(folder, `${file}.ndjson`), toNdjson(change(await readSample(file))));
    }
    return folder;
  }

  async connectClient(database: Database): Promise<Client> {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    this.#cleanups.unshift(() => client.end());
    return client;
  }

  async dispose(): Promise<void> {
    for (const cleanup of this.#cleanups) await cleanup();
  }
}

/** Creates a database with these rows for clones of it, and returns its name. */
export async function createTemplate(fill: (database: Database) => Promise<unknown>): Promise<string> {
  const { url } = await createDatabase();
  const database = new Database('au1', url);
  await fill(database);
  await database.close();
  return new URL(url).pathname.slice(1);
}

export const toNdjson = (rows: Row[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

export async function readSample(file: string): Promise<Row[]> {
  const text = await readFile(join(SAMPLES, `${file}.ndjson`), 'utf8');
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/** Reads the files of a folder, by name. */
export async function readFiles(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.flatMap((entry) => (entry.isFile() ? [entry.name] : [])).sort();
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name), 'utf8')])),
  );
}

/** The texts of an export without the files and the null fields that the sample does not have, because they are newer than it. */
export async function withoutNewerFields(texts: Record<string, string>): Promise<Record<string, string>> {
  const samples = await readFiles(SAMPLES);
  const reduced = Object.entries(samples).map(([file, sampled]) => {
    const fieldsOf = (text: string) => Object.keys(text === '' ? {} : JSON.parse(text.split('\n', 1)[0]!));
    const newer = fieldsOf(texts[file] ?? '').filter((name) => !fieldsOf(sampled).includes(name));
    return [file, newer.reduce((text, name) => text.replaceAll(`,"${name}":null`, ''), texts[file] ?? '')];
  });
  return Object.fromEntries(reduced);
}

/** Imports a folder and returns the result with all problems. */
export async function importAndCollect(database: Database, folder: string, options: ImportOptions = {}) {
  const problems: RowProblem[] = [];
  const onProblem = (problem: RowProblem) => void problems.push(problem);
  const result: ImportResult = await importFolder(database, folder, { onProblem, ...options });
  return { ...result, problems };
}

/** Counts the rows of a table. */
export async function countRows(database: Database, table: string): Promise<number> {
  const [row] = await database.orm.em.getConnection().execute(`select count(*)::int as count from ${table}`);
  return row!.count;
}
