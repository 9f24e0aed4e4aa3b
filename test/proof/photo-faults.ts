import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import { loadConfig } from '../../src/config.ts';
import { Database } from '../../src/database/database.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { REGIONS } from '../../src/shared/regions.ts';
import { openStorages } from '../../src/storage/storage.ts';
import { loadDemoInto } from '../support/load-demo.ts';
import { startSwift } from '../support/swift.ts';
import { Instance } from './instance.ts';
import { KillablePostgres } from './killable-postgres.ts';
import { PhotoClient } from './photo-client.ts';
import { type ExpectedPage, verifyPhotos } from './photo-verification.ts';

interface PhotoFaultsOptions {
  /** Store of the bytes: the local disk, or Swift with its S3 API. */
  store: 'local' | 's3';
  /** Minimum pages that are synced; some are moved to another project or deleted. */
  pages: number;
  photosPerPage: number;
  /** Concurrent pages. */
  workers: number;
  /** Milliseconds between one fault and the next. */
  pause: number;
  /** Number of faults. Pages are synced until the last of them. */
  faults: number;
  log?: (line: string) => void;
}

interface PhotoFaultsReport {
  pages: number;
  photos: number;
  instanceKills: number;
  databaseKills: number;
  retries: number;
  seconds: number;
  problems: string[];
}

const BASE_URL = 'http://localhost:4000';
const SOURCE_APP = 'proof';

/**
 * Uploads photos and syncs their pages through two instances, while the instances and PostgreSQL are killed again and again. Each
 * request is repeated until it succeeds. No photo may lack its bytes, be duplicated or lost, and no folder may be empty.
 */
export async function photoFaults(options: PhotoFaultsOptions): Promise<PhotoFaultsReport> {
  const { store, photosPerPage, workers, log = () => {} } = options;
  const undo: (() => Promise<unknown>)[] = [];
  try {
    const postgres = await KillablePostgres.start();
    undo.push(() => postgres.remove());
    const databases = await postgres.createRegionDatabases();
    const demo = await loadDemoInto(databases, { baseUrl: BASE_URL, timesheets: 0 });
    const client = demo.clients.find(({ name }) => name === 'A')!;
    const builderId = client.builderIds[0]!;
    const rows = (await databases.au1
      .fork()
      .execute('select id from project where builder_id = ? order by id limit 2', [builderId])) as { id: string }[];
    const projects = rows.map(({ id }) => id) as [string, string];
    for (const region of REGIONS) await databases[region].close();
    const dataDir = await mkdtemp(join(tmpdir(), 'builder-api-photos-'));
    undo.push(() => rm(dataDir, { recursive: true, force: true }));
    const swift = store === 's3' ? await startSwift() : null;
    if (swift) undo.push(() => swift.stop());
    const env = {
      ...swift?.settings,
      NODE_ENV: 'production',
      BASE_URL,
      TOKEN_KEY: randomBytes(32).toString('base64url'),
      DATABASE_URL_AU1: postgres.url('au1'),
      DATABASE_URL_US1: postgres.url('us1'),
      DATA_DIR: dataDir,
      RATE_LIMIT_API: '0',
      RATE_LIMIT_TOKEN: '0',
      LOG_LEVEL: 'silent',
    };
    const instances = await Promise.all([Instance.start(env), Instance.start(env)]);
    for (const instance of instances) undo.push(() => instance.kill());

    const photoClient = new PhotoClient(instances, builderId, client.clientId, client.clientSecret!, BASE_URL);
    const expected: ExpectedPage[] = [];
    const begun = Date.now();
    const faults = new BoundedKillLoop(postgres, instances, options, log);
    let next = 0;
    const work = async () => {
      while (next < options.pages || faults.remaining > 0)
        expected.push(await syncPage(photoClient, next++, photosPerPage, projects));
    };
    await Promise.all(Array.from({ length: workers }, work)).finally(() => faults.end());
    const seconds = (Date.now() - begun) / 1000;

    const after = new Database('au1', postgres.url('au1'));
    undo.push(() => after.close());
    const { byteStore } = openStorages(loadConfig(env), { secrets: [env.TOKEN_KEY], clock: systemClock }).au1;
    const problems = await verifyPhotos(after, byteStore, SOURCE_APP, expected);
    const { instanceKills, databaseKills } = faults;
    const photos = expected.reduce((sum, each) => sum + each.photos.size, 0);
    return { pages: next, photos, instanceKills, databaseKills, retries: photoClient.retries, seconds, problems };
  } finally {
    for (const step of undo.reverse()) await step().catch((error) => log(String(error)));
  }
}

/** Syncs a page, syncs it with one more photo, then moves every second page to another project and deletes every fourth. */
async function syncPage(
  client: PhotoClient,
  number: number,
  count: number,
  projects: [string, string],
): Promise<ExpectedPage> {
  const page = { externalSourceId: `page-${number}`, sourceApp: SOURCE_APP };
  const hashes = new Map<string, string>();
  const photos: object[] = [];
  const add = async () => {
    const externalSourceId = `photo-${photos.length + 1}`;
    const bytes = await createPicture(number * 1_000 + photos.length);
    hashes.set(externalSourceId, createHash('sha256').update(bytes).digest('hex'));
    const imageAttachment =
      photos.length % 2 === 0 ? await client.uploadToSignedUrl(bytes) : await client.uploadForm(bytes);
    photos.push({ externalSourceId, imageAttachment });
  };
  const sync = (projectId: string) =>
    client.sendUntilAccepted('POST', '/photo-gallery/bulk-upsert', {
      ...page,
      projectId,
      folderName: `Page ${number}`,
      photos,
    });
  for (let index = 1; index < count; index++) await add();
  await sync(projects[0]);
  await add();
  await sync(projects[0]);
  if (number % 2 === 0) await sync(projects[1]);
  if (number % 4 === 3) {
    await client.sendUntilAccepted('DELETE', '/photo-gallery/bulk-upsert', page);
    hashes.clear();
  }
  return { page: page.externalSourceId, projectId: projects[number % 2 === 0 ? 1 : 0], photos: hashes };
}

/** Returns a small picture with unique bytes. */
function createPicture(seed: number): Promise<Buffer> {
  const pixels = createHash('shake256', { outputLength: 48 * 36 * 3 })
    .update(String(seed))
    .digest();
  return sharp(pixels, { raw: { width: 48, height: 36, channels: 3 } })
    .jpeg()
    .toBuffer();
}

/** Kills an instance and the database by turns, a fixed number of times. All of them run afterwards. */
class BoundedKillLoop {
  instanceKills = 0;
  databaseKills = 0;
  /** Remaining faults. */
  remaining: number;
  readonly #running: Promise<void>;

  constructor(
    readonly postgres: KillablePostgres,
    readonly instances: Instance[],
    { pause, faults }: PhotoFaultsOptions,
    readonly log: (line: string) => void,
  ) {
    this.remaining = faults;
    this.#running = this.#run(pause);
    this.#running.catch(() => {
      this.remaining = 0;
    });
  }

  /** Rejects if a killed process could not be started again. */
  async end(): Promise<void> {
    this.remaining = 0;
    await this.#running;
  }

  async #run(pause: number): Promise<void> {
    for (let round = 0; this.remaining > 0; round++, this.remaining--) {
      await sleep(pause);
      if (round % 2 === 0) {
        const instance = this.instances[this.instanceKills++ % this.instances.length]!;
        await instance.kill();
        await instance.start();
      } else {
        this.databaseKills++;
        await this.postgres.kill();
        await this.postgres.restart();
      }
      this.log(`faults: ${this.instanceKills} instances, ${this.databaseKills} databases killed`);
    }
  }
}
