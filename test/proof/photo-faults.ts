import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import { loadConfig } from '../../src/config.ts';
import { Database } from '../../src/database/database.ts';
import { loadDemoInto } from '../../src/demo/load.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { REGIONS } from '../../src/shared/regions.ts';
import { openStorages } from '../../src/storage/storage.ts';
import { startSwift } from '../support/swift.ts';
import { Instance } from './instance.ts';
import { Caller } from './photo-caller.ts';
import { type Expected, wrongThings } from './photo-rows.ts';
import { MortalPostgres } from './postgres.ts';

interface PhotoFaultsOptions {
  /** Where the bytes are kept: on the local disk, or in Swift behind its S3 API. */
  store: 'local' | 's3';
  /** Least pages that are synced, moved to another project, and in part deleted. */
  pages: number;
  photosPerPage: number;
  /** Pages at a time. */
  workers: number;
  /** Milliseconds between one fault and the next. */
  pause: number;
  /** How many faults there are. Pages go on until the last of them. */
  faults: number;
  say?: (line: string) => void;
}

interface PhotoFaultsReport {
  pages: number;
  photos: number;
  instanceKills: number;
  databaseKills: number;
  retries: number;
  seconds: number;
  wrong: string[];
}

const BASE_URL = 'http://localhost:4000';
const SOURCE_APP = 'proof';

/**
 * Clients upload photos and sync their pages through two instances, which are killed all the time, and PostgreSQL with them;
 * every client sends the same again until it is answered. No photo may be without its bytes, doubled or lost, and no folder
 * without a photo.
 */
export async function photoFaults(options: PhotoFaultsOptions): Promise<PhotoFaultsReport> {
  const { store, photosPerPage, workers, say = () => {} } = options;
  const undo: (() => Promise<unknown>)[] = [];
  try {
    const postgres = await MortalPostgres.start();
    undo.push(() => postgres.remove());
    const databases = await postgres.openRegions();
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

    const caller = new Caller(instances, builderId, client.clientId, client.clientSecret!, BASE_URL);
    const expected: Expected[] = [];
    const begun = Date.now();
    const faults = new Faults(postgres, instances, options, say);
    let next = 0;
    const work = async () => {
      while (next < options.pages || faults.left > 0)
        expected.push(await playPage(caller, next++, photosPerPage, projects));
    };
    await Promise.all(Array.from({ length: workers }, work)).finally(() => faults.end());
    const seconds = (Date.now() - begun) / 1000;

    const after = new Database('au1', postgres.url('au1'));
    undo.push(() => after.close());
    const { byteStore } = openStorages(loadConfig(env), { secrets: [env.TOKEN_KEY], clock: systemClock }).au1;
    const wrong = await wrongThings(after, byteStore, SOURCE_APP, expected);
    const { instanceKills, databaseKills } = faults;
    const photos = expected.reduce((sum, each) => sum + each.photos.size, 0);
    return { pages: next, photos, instanceKills, databaseKills, retries: caller.retries, seconds, wrong };
  } finally {
    for (const step of undo.reverse()) await step().catch((error) => say(String(error)));
  }
}

/** Sync, sync with one photo more, move; every fourth page is deleted in the end. */
async function playPage(caller: Caller, number: number, count: number, projects: [string, string]): Promise<Expected> {
  const page = { externalSourceId: `page-${number}`, sourceApp: SOURCE_APP };
  const hashes = new Map<string, string>();
  const photos: object[] = [];
  const add = async () => {
    const externalSourceId = `photo-${photos.length + 1}`;
    const bytes = await picture(number * 1_000 + photos.length);
    hashes.set(externalSourceId, createHash('sha256').update(bytes).digest('hex'));
    const imageAttachment = photos.length % 2 === 0 ? await caller.put(bytes) : await caller.send(bytes);
    photos.push({ externalSourceId, imageAttachment });
  };
  const sync = (projectId: string) =>
    caller.settle('POST', '/photo-gallery/bulk-upsert', { ...page, projectId, folderName: `Page ${number}`, photos });
  for (let index = 1; index < count; index++) await add();
  await sync(projects[0]);
  await add();
  await sync(projects[0]);
  if (number % 2 === 0) await sync(projects[1]);
  if (number % 4 === 3) {
    await caller.settle('DELETE', '/photo-gallery/bulk-upsert', page);
    hashes.clear();
  }
  return { page: page.externalSourceId, projectId: projects[number % 2 === 0 ? 1 : 0], photos: hashes };
}

/** A small picture whose bytes no other has. */
function picture(seed: number): Promise<Buffer> {
  const pixels = createHash('shake256', { outputLength: 48 * 36 * 3 })
    .update(String(seed))
    .digest();
  return sharp(pixels, { raw: { width: 48, height: 36, channels: 3 } })
    .jpeg()
    .toBuffer();
}

/** Kills an instance and the database in turn; all of them run afterwards. */
class Faults {
  instanceKills = 0;
  databaseKills = 0;
  /** Faults that are still to come. */
  left: number;
  readonly #working: Promise<void>;

  constructor(
    readonly postgres: MortalPostgres,
    readonly instances: Instance[],
    { pause, faults }: PhotoFaultsOptions,
    readonly say: (line: string) => void,
  ) {
    this.left = faults;
    this.#working = this.#work(pause);
    this.#working.catch(() => {
      this.left = 0;
    });
  }

  /** Rejects when what was killed did not come back. */
  async end(): Promise<void> {
    this.left = 0;
    await this.#working;
  }

  async #work(pause: number): Promise<void> {
    for (let turn = 0; this.left > 0; turn++, this.left--) {
      await sleep(pause);
      if (turn % 2 === 0) {
        const instance = this.instances[this.instanceKills++ % this.instances.length]!;
        await instance.kill();
        await instance.start();
      } else {
        this.databaseKills++;
        await this.postgres.kill();
        await this.postgres.restart();
      }
      this.say(`faults: ${this.instanceKills} instances, ${this.databaseKills} databases killed`);
    }
  }
}
