import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { loadConfig } from '../../src/config.ts';
import { Database, type Databases } from '../../src/database/database.ts';
import { runPendingMigrations } from '../../src/database/run-migrations.ts';
import type { DemoFile } from '../../src/demo/demo-file.ts';
import { REGIONS } from '../../src/shared/regions.ts';
import { openStorages, type Storage } from '../../src/storage/storage.ts';
import { loadDemoInto } from '../support/load-demo.ts';
import { mountSmallDisk } from '../support/small-disk.ts';
import { Instance } from './instance.ts';
import { KillablePostgres } from './killable-postgres.ts';

export const BASE_URL = 'http://localhost:4000';

/** Prints a line of progress. */
export type Log = (line: string) => void;

/** Environments that `closeAllEnvironments` closes. */
const openEnvironments = new Set<ProofEnvironment>();

/** Closes every environment that is still open, for a proof that is interrupted. */
export async function closeAllEnvironments(log: Log): Promise<void> {
  for (const environment of openEnvironments) await environment.close(log);
}

/** Sizes of the file systems that a proof fills, in bytes. */
interface SmallDisks {
  databaseBytes: number;
  storeBytes: number;
}

/**
 * A PostgreSQL with the demo data, a data folder, and instances of the built service with the settings of production. `close` stops and
 * removes all of it.
 */
export class ProofEnvironment {
  readonly instances: Instance[] = [];
  readonly #undo: (() => unknown)[] = [];

  private constructor(
    readonly postgres: KillablePostgres,
    readonly demo: DemoFile,
    readonly dataDir: string,
    readonly settings: Record<string, string>,
    undo: (() => unknown)[],
  ) {
    this.#undo = undo;
    openEnvironments.add(this);
  }

  /**
   * Creates the databases and the data folder; `addInstance` starts instances.
   *
   * @param disks Null for the disk of the machine.
   * @param options.migrateWith Path of the command line of another release, which creates the tables.
   */
  static async start(
    settings: Record<string, string> = {},
    disks: SmallDisks | null = null,
    { migrateWith, timesheets = 200 }: { migrateWith?: string; timesheets?: number } = {},
  ): Promise<ProofEnvironment> {
    const undo: (() => unknown)[] = [];
    const createFolder = async (name: string, bytes: number | undefined) => {
      const path = await mkdtemp(join(tmpdir(), `builder-api-${name}-`));
      undo.push(() => rm(path, { recursive: true, force: true }));
      if (bytes !== undefined) undo.push(mountSmallDisk(path, bytes));
      return path;
    };
    try {
      const postgres = await KillablePostgres.start(await createFolder('proof', disks?.databaseBytes));
      undo.push(() => postgres.remove());
      const databases = {} as Databases;
      for (const region of REGIONS) databases[region] = new Database(region, await postgres.createDatabase(region));
      if (migrateWith) {
        const env = { DATABASE_URL_AU1: postgres.url('au1'), DATABASE_URL_US1: postgres.url('us1') };
        await promisify(execFile)(process.execPath, [migrateWith, 'migrate', 'up'], { env });
      } else for (const region of REGIONS) await runPendingMigrations(databases[region], 'auto');
      // The demo data of this version may name columns that an earlier release lacks.
      const dropColumns = migrateWith ? await addMissingColumns(databases) : null;
      const demo = await loadDemoInto(databases, { baseUrl: BASE_URL, timesheets });
      await dropColumns?.();
      for (const region of REGIONS) await databases[region].close();
      const dataDir = await createFolder('data', disks?.storeBytes);
      const env = {
        ...{ NODE_ENV: 'production', BASE_URL, DATA_DIR: dataDir, LOG_LEVEL: 'silent', DRAIN_SECONDS: '2' },
        ...{ TOKEN_KEY: randomBytes(32).toString('base64url') },
        ...{ DATABASE_URL_AU1: postgres.url('au1'), DATABASE_URL_US1: postgres.url('us1') },
        ...{ RATE_LIMIT_API: '0', RATE_LIMIT_SYNC: '0', RATE_LIMIT_TOKEN: '0' },
        ...settings,
      };
      return new ProofEnvironment(postgres, demo, dataDir, env, undo);
    } catch (error) {
      for (const step of undo.reverse()) await step();
      throw error;
    }
  }

  /** Starts an instance; its settings override those of the environment. */
  async addInstance(settings: Record<string, string> = {}, flags: string[] = [], program?: string): Promise<Instance> {
    const instance = await Instance.start({ ...this.settings, ...settings }, flags, program);
    this.instances.push(instance);
    return instance;
  }

  /** Opens a database of a region. It is closed with the environment. */
  database(region: 'au1' | 'us1' = 'au1'): Database {
    const database = new Database(region, this.settings[`DATABASE_URL_${region.toUpperCase()}`]!);
    this.#undo.push(() => database.close());
    return database;
  }

  /** Opens the storage of `au1`, with the settings of the instances and these. */
  openStorage(settings: Record<string, string> = {}): Storage {
    const config = loadConfig({ ...this.settings, ...settings });
    return openStorages(config, { secrets: [this.settings.TOKEN_KEY!], clock: Date }).au1;
  }

  /** Adds a cleanup step, which runs before those of earlier calls. */
  onClose(step: () => unknown): void {
    this.#undo.push(step);
  }

  async close(log: Log): Promise<void> {
    if (!openEnvironments.delete(this)) return;
    for (const instance of this.instances) await instance.kill();
    for (const step of this.#undo.reverse()) {
      try {
        await step();
      } catch (error) {
        log(String(error));
      }
    }
  }
}

/** Adds the columns of this version to the tables of an earlier one. Returns the function that drops them. */
async function addMissingColumns(databases: Databases): Promise<() => Promise<void>> {
  const drops: (() => Promise<unknown>)[] = [];
  for (const region of REGIONS) {
    const em = databases[region].fork();
    const sql = `select table_name || '.' || column_name as name, table_name as "table" from information_schema.columns
      where table_schema = 'public'`;
    const found = await em.execute<{ name: string; table: string }[]>(sql);
    const [columns, tables] = [new Set(found.map(({ name }) => name)), new Set(found.map(({ table }) => table))];
    for (const { tableName, props } of databases[region].metadata.getAll().values()) {
      if (!tables.has(tableName)) continue;
      for (const { fieldNames = [], columnTypes = [] } of props) {
        for (const [at, column] of fieldNames.entries()) {
          if (columns.has(`${tableName}.${column}`)) continue;
          columns.add(`${tableName}.${column}`);
          await em.execute(`alter table "${tableName}" add column "${column}" ${columnTypes[at]}`);
          drops.push(() => em.execute(`alter table "${tableName}" drop column "${column}"`));
        }
      }
    }
  }
  return async () => {
    for (const drop of drops) await drop();
  };
}
