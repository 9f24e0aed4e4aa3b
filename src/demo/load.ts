import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { ClientBase } from 'pg';
import type { Config } from '../config.ts';
import type { Database, Databases } from '../database/database.ts';
import { withAdvisoryLock } from '../database/write/advisory-lock.ts';
import { type Clock, systemClock } from '../shared/clock.ts';
import { REGIONS, type RegionId } from '../shared/regions.ts';
import { hashSecret, VALID_SECRETS } from '../shared/secrets.ts';
import { ACCOUNTS, createIntegratorId } from './accounts.ts';
import { BASE, DAY } from './dates.ts';
import {
  createDemoFile,
  type DemoFile,
  type DemoStaff,
  readDemoFile,
  readSecrets,
  type Secrets,
  writeDemoFile,
} from './demo-file.ts';
import type { DemoPicture } from './photos.ts';
import { hashPasswords, populateDatabase } from './populate-database.ts';
import { runInTransaction, withClient } from './rows.ts';

/** Values for the example command of the welcome message. */
export interface DemoSummary {
  /** Path of `demo.json`. */
  file: string;
  clientId: string;
  clientSecret: string;
  staff: DemoStaff[];
}

const FILE = 'demo.json';
/** Per builder: 10,000 in `au1`. */
const TIMESHEETS = 2_500;
const LOCK = 'builder-integration-api demo';

/**
 * Loads the demo data into regional databases that are empty, and updates `demo.json`. Returns null if `au1` has other data.
 * `storePictures` is only called if photos are loaded. The file is written before the secrets are stored. If the start is killed in
 * between, or the file is lost, the next start stores the secrets of the file or generates new ones, so the file always has valid
 * credentials.
 */
export function loadDemo(
  databases: Databases,
  config: Config,
  clock: Clock = systemClock,
  storePictures: () => Promise<readonly DemoPicture[]> = async () => [],
): Promise<DemoSummary | null> {
  // Concurrent starts wait for the lock and then find the data loaded.
  return withAdvisoryLock(databases.au1.url, LOCK, async () => {
    const states = await Promise.all(
      REGIONS.map(async (region) => [region, await readState(databases[region])] as const),
    );
    const demos = states.filter(([, state]) => state !== 'OTHER');
    if (demos.length === 0) return null;
    const path = join(config.dataDir, FILE);
    const existingFile = await readDemoFile(path);
    const regions = demos.map(([region]) => region);
    const file = createDemoFile(regions, config.baseUrl, existingFile ? readSecrets(existingFile) : undefined);
    if (!isDeepStrictEqual(file, existingFile)) await writeDemoFile(path, file);
    const pictures = demos.some(([, state]) => state === 'EMPTY') ? await storePictures() : [];
    const now = clock.now();
    const size = { asOf: midnight(now), now, timesheets: TIMESHEETS, pictures };
    await Promise.all(
      demos.map(([region, state]) => {
        return state === 'EMPTY'
          ? populateDatabase(databases[region], file, size)
          : restoreSecrets(databases[region], file, clock);
      }),
    );
    return toSummary(file, path);
  });
}

interface DemoOptions {
  baseUrl: string;
  /** Secrets by client id and passwords by user id; missing ones are generated. */
  secrets?: Secrets;
  /** Day that the expiry of insurances is relative to. Default: the base date of the demo data. */
  asOf?: number;
  /** Timesheets per builder. */
  timesheets?: number;
  /** Stored pictures for photos; without them there are no photos. */
  pictures?: readonly DemoPicture[];
  /** Instant up to which there are recent records. Without it there are none, so that the data is the same each time. */
  now?: number;
}

/** Loads the demo data into empty databases. Returns the content of `demo.json`. */
export async function loadDemoInto(databases: Databases, options: DemoOptions): Promise<DemoFile> {
  const { baseUrl, secrets, asOf = BASE, timesheets = TIMESHEETS, pictures, now } = options;
  const file = createDemoFile(REGIONS, baseUrl, secrets);
  const size = { asOf: midnight(asOf), timesheets, pictures, now };
  await Promise.all(REGIONS.map((region) => populateDatabase(databases[region], file, size)));
  return file;
}

const midnight = (now: number) => now - (now % DAY);

/** Returns whether the database is empty, has the demo data or has other data. */
async function readState(database: Database): Promise<'EMPTY' | 'DEMO' | 'OTHER'> {
  const integrator = ACCOUNTS.find((account) => account.region === database.region && account.integrator)!.integrator!;
  const sql = `select exists (select from builder) or exists (select from integrator) as full,
      exists (select from integrator where id = $1) as demo`;
  const { rows } = await withClient(database, (client) => client.query(sql, [createIntegratorId(integrator)]));
  return rows[0].demo ? 'DEMO' : rows[0].full ? 'OTHER' : 'EMPTY';
}

/**
 * Stores the secrets of the file if one of them is not valid. Client secrets and passwords are stored together, so the slow check of
 * passwords is not needed when the client secrets are valid.
 */
async function restoreSecrets(database: Database, { clients, users, staff }: DemoFile, clock: Clock): Promise<void> {
  const isHere = ({ regionId }: { regionId: RegionId }) => regionId === database.region;
  const now = new Date(clock.now()).toISOString();
  await runInTransaction(database, async (client) => {
    let isLost = false;
    for (const { clientId, clientSecret } of clients.filter(isHere)) {
      if (clientSecret === null || (await isValidSecret(client, clientId, clientSecret))) continue;
      isLost = true;
      await client.query(
        `insert into oauth_client_secret (client_id, digest, created_at) select id, $2, $3 from oauth_client where id = $1
          on conflict (client_id, digest) do update set created_at = excluded.created_at`,
        [clientId, hashSecret(clientSecret), now],
      );
    }
    const people = [...users.filter(isHere), ...staff.filter(({ regionIds }) => regionIds.includes(database.region))];
    for (const [id, hash] of isLost ? await hashPasswords(people) : []) {
      await client.query('update app_user set password_hash = $2, updated_at = $3 where id = $1', [id, hash, now]);
    }
  });
}

async function isValidSecret(client: ClientBase, clientId: string, secret: string): Promise<boolean> {
  const sql = `select digest from oauth_client_secret where client_id = $1 order by created_at desc, id desc limit $2`;
  const { rows } = await client.query<{ digest: string }>(sql, [clientId, VALID_SECRETS]);
  return rows.some(({ digest }) => digest === hashSecret(secret));
}

function toSummary({ clients, staff }: DemoFile, file: string): DemoSummary | null {
  const client = clients.find(({ integrator }) => integrator === 'A');
  if (!client?.clientSecret) return null;
  return { file, clientId: client.clientId, clientSecret: client.clientSecret, staff };
}
