import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Database, type Databases } from '../../src/database/database.ts';
import { runPendingMigrations } from '../../src/database/run-migrations.ts';
import type { DemoFile } from '../../src/demo/demo-file.ts';
import { loadDemoInto } from '../../src/demo/load.ts';
import { REGIONS } from '../../src/shared/regions.ts';
import { mountSmallDisk } from '../support/small-disk.ts';
import { Instance } from './instance.ts';
import { MortalPostgres } from './postgres.ts';

export const BASE_URL = 'http://localhost:4000';

export type Say = (line: string) => void;

const open = new Set<ProofSite>();

/** Ends what proofs that are cut off have started. */
export async function closeAll(say: Say): Promise<void> {
  for (const site of open) await site.close(say);
}

/** Settings of the disks that a proof fills. */
interface SmallDisks {
  databaseBytes: number;
  storeBytes: number;
}

/**
 * What a proof stands on: a PostgreSQL of its own with the demo's data, a data folder, and instances of the built service with the
 * settings of production. `close` ends all of it.
 */
export class ProofSite {
  readonly instances: Instance[] = [];
  readonly #undo: (() => unknown)[] = [];

  private constructor(
    readonly postgres: MortalPostgres,
    readonly demo: DemoFile,
    readonly dataDir: string,
    readonly env: Record<string, string>,
    undo: (() => unknown)[],
  ) {
    this.#undo = undo;
    open.add(this);
  }

  /** @param options.migrateWith Command line of another release, which creates the tables in place of this one. */
  static async start(
    settings: Record<string, string> = {},
    disks: SmallDisks | null = null,
    { migrateWith, timesheets = 200 }: { migrateWith?: string; timesheets?: number } = {},
  ): Promise<ProofSite> {
    const undo: (() => unknown)[] = [];
    const folder = async (name: string, bytes: number | undefined) => {
      const made = await mkdtemp(join(tmpdir(), `builder-api-${name}-`));
      undo.push(() => rm(made, { recursive: true, force: true }));
      if (bytes !== undefined) undo.push(mountSmallDisk(made, bytes));
      return made;
    };
    try {
      const postgres = await MortalPostgres.start(await folder('proof', disks?.databaseBytes));
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
      const dataDir = await folder('data', disks?.storeBytes);
      const env = {
        ...{ NODE_ENV: 'production', BASE_URL, DATA_DIR: dataDir, LOG_LEVEL: 'silent', DRAIN_SECONDS: '2' },
        ...{ TOKEN_KEY: randomBytes(32).toString('base64url') },
        ...{ DATABASE_URL_AU1: postgres.url('au1'), DATABASE_URL_US1: postgres.url('us1') },
        ...{ RATE_LIMIT_API: '0', RATE_LIMIT_SYNC: '0', RATE_LIMIT_TOKEN: '0' },
        ...settings,
      };
      return new ProofSite(postgres, demo, dataDir, env, undo);
    } catch (error) {
      for (const step of undo.reverse()) await step();
      throw error;
    }
  }

  /** One more instance, with these settings over the site's. */
  async addInstance(settings: Record<string, string> = {}, flags: string[] = [], program?: string): Promise<Instance> {
    const instance = await Instance.start({ ...this.env, ...settings }, flags, program);
    this.instances.push(instance);
    return instance;
  }

  /** A connection of the proof's own to a region; it ends with the site. */
  database(region: 'au1' | 'us1' = 'au1'): Database {
    const database = new Database(region, this.env[`DATABASE_URL_${region.toUpperCase()}`]!);
    this.#undo.push(() => database.close());
    return database;
  }

  /** To be done when the site closes, before what it stands on goes. */
  afterwards(step: () => unknown): void {
    this.#undo.push(step);
  }

  async close(say: Say): Promise<void> {
    if (!open.delete(this)) return;
    for (const instance of this.instances) await instance.kill();
    for (const step of this.#undo.reverse()) {
      try {
        await step();
      } catch (error) {
        say(String(error));
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
