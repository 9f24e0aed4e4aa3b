import type { Database } from '../database/database.ts';
import { hashPassword } from '../shared/passwords.ts';
import type { RegionId } from '../shared/regions.ts';
import { accountRows, BUILDERS, type Credentials } from './accounts.ts';
import { inTransaction, withClient } from './connection.ts';
import { builderRows } from './content.ts';
import type { DemoFile, DemoUser } from './file.ts';
import type { DemoPicture } from './photos.ts';
import { insertRows } from './rows.ts';
import { builderOf } from './scene.ts';
import { insertTimesheets, trustReferences } from './timesheets.ts';

/** How much of the demo data there is, and when it is. */
export interface Scale {
  /** Midnight of the day from which the expiry of insurances counts. */
  asOf: number;
  /** For each builder. */
  timesheets: number;
  /** What the photos show; there are none without. */
  pictures?: readonly DemoPicture[];
}

/** Loads the demo data into an empty database, in one transaction. */
export async function fill(database: Database, file: DemoFile, scale: Scale): Promise<void> {
  const { asOf, timesheets, pictures } = scale;
  const { region } = database;
  const hashing = credentialsOf(file, region);
  const builders = Array.from({ length: BUILDERS[region] }, (_, place) => builderRows(region, place, asOf, pictures));
  const rows = accountRows(region, await hashing);
  for (const builder of builders) rows.addAll(builder);
  await inTransaction(database, async (client) => {
    await insertRows(client, database.metadata, rows);
    await trustReferences(client);
    if (timesheets > 0) await insertTimesheets(client, region, { first: 0, count: timesheets * builders.length });
  });
  // The planner would otherwise take the tables for empty until autovacuum has been there.
  await withClient(database, (client) => client.query('analyze'));
}

async function credentialsOf({ clients, users }: DemoFile, region: RegionId): Promise<Credentials> {
  const secrets = clients.flatMap(({ clientId, clientSecret }) =>
    clientSecret ? [[clientId, clientSecret] as const] : [],
  );
  const local = users.filter(({ regionId }) => regionId === region);
  return { secrets: new Map(secrets), passwordHashes: await passwordHashesOf(local) };
}

/** By user id. */
export async function passwordHashesOf(users: DemoUser[]): Promise<Map<string, string>> {
  return new Map(await Promise.all(users.map(async ({ id, password }) => [id, await hashPassword(password)] as const)));
}

/** Adds builders like those of the demo, which nobody is connected to, until the region has so many. */
export async function growBuilders(
  database: Database,
  total: number,
  asOf: number,
  onProgress: (count: number) => void = () => {},
): Promise<void> {
  const { region, metadata } = database;
  await inTransaction(database, async (client) => {
    const { rows: present } = await client.query<{ id: string }>('select id from builder');
    const ids = new Set(present.map(({ id }) => id));
    for (let place = BUILDERS[region]; ids.size < total; place++) {
      const { id } = builderOf(region, place);
      if (ids.has(id)) continue;
      await insertRows(client, metadata, builderRows(region, place, asOf));
      ids.add(id);
      onProgress(ids.size);
    }
  });
}
