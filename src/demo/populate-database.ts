import type { Database } from '../database/database.ts';
import { hashPassword } from '../shared/passwords.ts';
import type { RegionId } from '../shared/regions.ts';
import { BUILDERS, type Credentials, createAccountRows } from './accounts.ts';
import { createBuilderRows } from './builder-rows.ts';
import { runInTransaction, withClient } from './connection.ts';
import type { DemoFile, DemoUser } from './demo-file.ts';
import { createBuilder } from './generator-context.ts';
import type { DemoPicture } from './photos.ts';
import { insertRows } from './rows.ts';
import { insertTimesheets, skipReferenceChecks } from './timesheets.ts';

/** Amount and reference date of the demo data. */
export interface DemoSize {
  /** Midnight of the day that the expiry of insurances is relative to. */
  asOf: number;
  /** Timesheets per builder. */
  timesheets: number;
  /** Stored pictures for photos; without them there are no photos. */
  pictures?: readonly DemoPicture[];
}

/** Loads the demo data into an empty database in one transaction. */
export async function populateDatabase(database: Database, file: DemoFile, size: DemoSize): Promise<void> {
  const { asOf, timesheets, pictures } = size;
  const { region } = database;
  const hashing = readCredentials(file, region);
  const builders = Array.from({ length: BUILDERS[region] }, (_, index) =>
    createBuilderRows(region, index, asOf, pictures),
  );
  const rows = createAccountRows(region, await hashing);
  for (const builder of builders) rows.addAll(builder);
  await runInTransaction(database, async (client) => {
    await insertRows(client, database.metadata, rows);
    await skipReferenceChecks(client);
    if (timesheets > 0) await insertTimesheets(client, region, { first: 0, count: timesheets * builders.length });
  });
  // Without statistics the planner treats the tables as empty until autovacuum runs.
  await withClient(database, (client) => client.query('analyze'));
}

async function readCredentials({ clients, users }: DemoFile, region: RegionId): Promise<Credentials> {
  const secrets = clients.flatMap(({ clientId, clientSecret }) =>
    clientSecret ? [[clientId, clientSecret] as const] : [],
  );
  const local = users.filter(({ regionId }) => regionId === region);
  return { secrets: new Map(secrets), passwordHashes: await hashPasswords(local) };
}

/** Hashes the passwords. Returns the hashes by user id. */
export async function hashPasswords(users: DemoUser[]): Promise<Map<string, string>> {
  return new Map(await Promise.all(users.map(async ({ id, password }) => [id, await hashPassword(password)] as const)));
}

/** Adds builders without connections until the region has `total`. */
export async function addBuilders(
  database: Database,
  total: number,
  asOf: number,
  onProgress: (count: number) => void = () => {},
): Promise<void> {
  const { region, metadata } = database;
  await runInTransaction(database, async (client) => {
    const { rows: present } = await client.query<{ id: string }>('select id from builder');
    const ids = new Set(present.map(({ id }) => id));
    for (let index = BUILDERS[region]; ids.size < total; index++) {
      const { id } = createBuilder(region, index);
      if (ids.has(id)) continue;
      await insertRows(client, metadata, createBuilderRows(region, index, asOf));
      ids.add(id);
      onProgress(ids.size);
    }
  });
}
