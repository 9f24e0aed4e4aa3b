import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { ClientBase } from 'pg';
import type { Config } from '../config.ts';
import type { Database, Databases } from '../database/database.ts';
import { withAdvisoryLock } from '../database/write/advisory-lock.ts';
import { type Clock, systemClock } from '../shared/clock.ts';
import { REGIONS, type RegionId } from '../shared/regions.ts';
import { digestOf, VALID_SECRETS } from '../shared/secrets.ts';
import { ACCOUNTS, integratorIdOf } from './accounts.ts';
import { inTransaction, withClient } from './connection.ts';
import { BASE } from './dates.ts';
import { type DemoFile, demoFile, readDemoFile, type Secrets, secretsOf, writeDemoFile } from './file.ts';
import { fill, passwordHashesOf } from './fill.ts';
import type { DemoPicture } from './photos.ts';

/** What the console needs of the demo data to print a command that works. */
export interface DemoSummary {
  /** Path of `demo.json`. */
  file: string;
  clientId: string;
  clientSecret: string;
}

const FILE = 'demo.json';
/** Some ten thousand in `au1`. */
const TIMESHEETS = 2_500;
const DAY = 86_400_000;
const LOCK = 'builder-integration-api demo';

/**
 * Fills the regional databases that are empty, keeps `demo.json` in step, and answers what the console shows of it; null
 * where `au1` holds other data. The pictures are asked for only where there are photos to be filled in that show them.
 *
 * The file is written before the database learns its secrets. A start that is killed in between leaves a file whose
 * secrets the next start puts into the database; where the file is lost, the next start makes new ones. Either way the
 * file always works.
 */
export function loadDemo(
  databases: Databases,
  config: Config,
  clock: Clock = systemClock,
  keepPictures: () => Promise<readonly DemoPicture[]> = async () => [],
): Promise<DemoSummary | null> {
  // Who comes second waits, and finds it done.
  return withAdvisoryLock(databases.au1.url, LOCK, async () => {
    const states = await Promise.all(
      REGIONS.map(async (region) => [region, await stateOf(databases[region])] as const),
    );
    const demos = states.filter(([, state]) => state !== 'OTHER');
    if (demos.length === 0) return null;
    const path = join(config.dataDir, FILE);
    const known = await readDemoFile(path);
    const regions = demos.map(([region]) => region);
    const file = demoFile(regions, config.baseUrl, known ? secretsOf(known) : undefined);
    if (!isDeepStrictEqual(file, known)) await writeDemoFile(path, file);
    const pictures = demos.some(([, state]) => state === 'EMPTY') ? await keepPictures() : [];
    const scale = { asOf: midnight(clock.now()), timesheets: TIMESHEETS, pictures };
    await Promise.all(
      demos.map(([region, state]) => {
        return state === 'EMPTY' ? fill(databases[region], file, scale) : admit(databases[region], file, clock);
      }),
    );
    return summaryOf(file, path);
  });
}

export interface DemoOptions {
  baseUrl: string;
  /** Secrets by client id and passwords by user id; those that are not given are new. */
  secrets?: Secrets;
  /** Day from which the expiry of insurances counts; the base date of the demo data when it is not given. */
  asOf?: number;
  /** For each builder. */
  timesheets?: number;
  /** In the storage already; there are no photos without. */
  pictures?: readonly DemoPicture[];
}

/** Fills empty databases and answers what `demo.json` would hold: the fixture of the tests. */
export async function loadDemoInto(databases: Databases, options: DemoOptions): Promise<DemoFile> {
  const { baseUrl, secrets, asOf = BASE, timesheets = TIMESHEETS, pictures } = options;
  const file = demoFile(REGIONS, baseUrl, secrets);
  const scale = { asOf: midnight(asOf), timesheets, pictures };
  await Promise.all(REGIONS.map((region) => fill(databases[region], file, scale)));
  return file;
}

const midnight = (now: number) => now - (now % DAY);

/** Nothing, the demo data, or data that is none of the demo's business. */
async function stateOf(database: Database): Promise<'EMPTY' | 'DEMO' | 'OTHER'> {
  const vendor = ACCOUNTS.find((account) => account.region === database.region && account.vendor)!.vendor!;
  const sql = `select exists (select from builder) or exists (select from integrator) as full,
      exists (select from integrator where id = $1) as demo`;
  const { rows } = await withClient(database, (client) => client.query(sql, [integratorIdOf(vendor)]));
  return rows[0].demo ? 'DEMO' : rows[0].full ? 'OTHER' : 'EMPTY';
}

/**
 * Makes the file's secrets valid again where one of them is not. Client secrets and passwords change together, so that a
 * password, which is slow to check, is right when the client secrets are.
 */
async function admit(database: Database, { clients, users }: DemoFile, clock: Clock): Promise<void> {
  const isHere = ({ regionId }: { regionId: RegionId }) => regionId === database.region;
  const now = new Date(clock.now()).toISOString();
  await inTransaction(database, async (client) => {
    let isLost = false;
    for (const { clientId, clientSecret } of clients.filter(isHere)) {
      if (clientSecret === null || (await isValid(client, clientId, clientSecret))) continue;
      isLost = true;
      await client.query(
        `insert into oauth_client_secret (client_id, digest, created_at) select id, $2, $3 from oauth_client where id = $1
          on conflict (client_id, digest) do update set created_at = excluded.created_at`,
        [clientId, digestOf(clientSecret), now],
      );
    }
    for (const [id, hash] of isLost ? await passwordHashesOf(users.filter(isHere)) : []) {
      await client.query('update app_user set password_hash = $2, updated_at = $3 where id = $1', [id, hash, now]);
    }
  });
}

async function isValid(client: ClientBase, clientId: string, secret: string): Promise<boolean> {
  const sql = `select digest from oauth_client_secret where client_id = $1 order by created_at desc, id desc limit $2`;
  const { rows } = await client.query<{ digest: string }>(sql, [clientId, VALID_SECRETS]);
  return rows.some(({ digest }) => digest === digestOf(secret));
}

function summaryOf({ clients }: DemoFile, file: string): DemoSummary | null {
  const client = clients.find(({ integrator }) => integrator === 'A');
  if (!client?.clientSecret) return null;
  return { file, clientId: client.clientId, clientSecret: client.clientSecret };
}
