import type { Database } from '../database/database.ts';
import { hashPassword } from '../domain/access/passwords.ts';
import type { RegionId } from '../shared/regions.ts';
import { BUILDERS, type Credentials, createAccountRows } from './accounts.ts';
import { type BuilderRowsOptions, createBuilderRows } from './builder-rows.ts';
import type { DemoFile, DemoUser } from './demo-file.ts';
import { addLimitedIntegrator } from './limited-integrator.ts';
import { insertRows, runInTransaction, withClient } from './rows.ts';
import { insertTimesheets, skipReferenceChecks } from './timesheets.ts';

/** Amount and reference dates of the demo data. */
interface DemoSize extends BuilderRowsOptions {
  /** Timesheets of the history, per builder. */
  timesheets: number;
}

/** Loads the demo data into an empty database in one transaction. */
export async function populateDatabase(database: Database, file: DemoFile, size: DemoSize): Promise<void> {
  const { timesheets, now } = size;
  const { region } = database;
  const hashing = readCredentials(file, region);
  const builders = Array.from({ length: BUILDERS[region] }, (_, index) => createBuilderRows(region, index, size));
  const rows = createAccountRows(region, await hashing, now !== undefined);
  if (now !== undefined && region === 'au1') addLimitedIntegrator(rows, now);
  for (const builder of builders) rows.addAll(builder);
  await runInTransaction(database, async (client) => {
    await insertRows(client, database.metadata, rows);
    await skipReferenceChecks(client);
    if (timesheets > 0) await insertTimesheets(client, region, { first: 0, count: timesheets * builders.length });
  });
  // Without statistics the planner treats the tables as empty until autovacuum runs.
  await withClient(database, (client) => client.query('analyze'));
}

/** Returns the hashed credentials of a region's accounts. */
export async function readCredentials({ clients, users, staff }: DemoFile, region: RegionId): Promise<Credentials> {
  const secrets = clients.flatMap(({ clientId, clientSecret }) =>
    clientSecret ? [[clientId, clientSecret] as const] : [],
  );
  const local = [
    ...users.filter(({ regionId }) => regionId === region),
    ...staff.filter(({ regionIds }) => regionIds.includes(region)),
  ];
  return { secrets: new Map(secrets), passwordHashes: await hashPasswords(local) };
}

/** Hashes the passwords. Returns the hashes by user id. */
export async function hashPasswords(users: Pick<DemoUser, 'id' | 'password'>[]): Promise<Map<string, string>> {
  return new Map(await Promise.all(users.map(async ({ id, password }) => [id, await hashPassword(password)] as const)));
}
