import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import { REGIONS } from '../../src/context.ts';
import { Database, type Databases } from '../../src/database/database.ts';
import { loadDemoInto } from '../../src/database/demo/load.ts';
import { bringUpToDate } from '../../src/database/migrate.ts';
import { Instance } from './instance.ts';
import { MortalPostgres } from './postgres.ts';

export interface PhotoFaultsOptions {
  /** Pages that are synced, moved to another project, and in part deleted. */
  pages: number;
  photosPerPage: number;
  /** Pages at a time. */
  workers: number;
  /** Milliseconds between one fault and the next. */
  pause: number;
  say?: (line: string) => void;
}

export interface PhotoFaultsReport {
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

interface Expected {
  page: string;
  projectId: string;
  /** SHA-256 of each photo's bytes by its external id; none once the page is deleted. */
  photos: Map<string, string>;
}

/**
 * Clients upload photos and sync their pages through two instances, which are killed all the time, and PostgreSQL with them;
 * every client sends the same again until it is answered. No photo may be without its bytes, doubled or lost, and no folder
 * without a photo.
 */
export async function photoFaults(options: PhotoFaultsOptions): Promise<PhotoFaultsReport> {
  const { pages, photosPerPage, workers, pause, say = () => {} } = options;
  const undo: (() => Promise<unknown>)[] = [];
  try {
    const postgres = await MortalPostgres.start();
    undo.push(() => postgres.remove());
    const databases = await openDatabases(postgres);
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
    const env = {
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
    const instances = [await Instance.start(env), await Instance.start(env)];
    for (const instance of instances) undo.push(() => instance.kill());

    const caller = new Caller(instances, builderId, client.clientId, client.clientSecret!);
    const expected: Expected[] = [];
    const begun = Date.now();
    const faults = new Faults(postgres, instances, pause, say);
    let next = 0;
    const work = async () => {
      while (next < pages) expected.push(await playPage(caller, next++, photosPerPage, projects));
    };
    await Promise.all(Array.from({ length: workers }, work)).finally(() => faults.end());
    const seconds = (Date.now() - begun) / 1000;

    const after = new Database('au1', postgres.url('au1'));
    undo.push(() => after.close());
    const wrong = await wrongThings(after, join(dataDir, 'storage', 'objects', 'au1'), expected);
    const { instanceKills, databaseKills } = faults;
    const photos = expected.reduce((sum, each) => sum + each.photos.size, 0);
    return { pages, photos, instanceKills, databaseKills, retries: caller.retries, seconds, wrong };
  } finally {
    for (const step of undo.reverse()) await step().catch((error) => say(String(error)));
  }
}

async function openDatabases(postgres: MortalPostgres): Promise<Databases> {
  const opened = REGIONS.map(async (region) => {
    const database = new Database(region, await postgres.createDatabase(region));
    await bringUpToDate(database, 'auto');
    return [region, database] as const;
  });
  return Object.fromEntries(await Promise.all(opened)) as Databases;
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
    photos.push({ externalSourceId, imageAttachment: await caller.upload(bytes) });
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

/** One client of the API, which never gives up. */
class Caller {
  retries = 0;
  #turn = 0;
  #token: Promise<string> | null = null;

  constructor(
    readonly instances: Instance[],
    readonly builderId: string,
    readonly clientId: string,
    readonly clientSecret: string,
  ) {}

  async upload(bytes: Buffer): Promise<object> {
    const intent = { contentType: 'image/jpeg', fileName: 'site.jpg', size: bytes.length, type: 'attachment' };
    const { uploadUrl, uploadHeaders, key, regionId, type } = await this.settle('POST', '/attachments/presign', intent);
    const { pathname, search } = new URL(uploadUrl);
    const headers = { 'Content-Type': uploadHeaders['Content-Type'] };
    await this.#until(`${pathname}${search}`, { method: 'PUT', headers, body: bytes as never });
    return { key, regionId, type };
  }

  /** Sends until it is answered, and until no photo has failed for a passing reason. */
  // biome-ignore lint/suspicious/noExplicitAny: an answer is walked by name.
  async settle(method: string, path: string, body: object): Promise<any> {
    const headers = { Authorization: `Bearer ${await this.#bearer()}`, 'Content-Type': 'application/json' };
    const answer = await this.#until(`/builders/${this.builderId}${path}`, {
      method,
      headers,
      body: JSON.stringify(body),
    });
    const result = (await answer.json()) as { failedPhotos?: { code: string }[] };
    if (result.failedPhotos?.some(({ code }) => code === 'TIMEOUT')) return this.settle(method, path, body);
    if (result.failedPhotos?.length) throw new Error(`${path}: ${JSON.stringify(result.failedPhotos)}`);
    return result;
  }

  #bearer(): Promise<string> {
    const body = { grant_type: 'client_credentials', client_id: this.clientId, client_secret: this.clientSecret };
    this.#token ??= this.#until('/oauth/token', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ ...body, audience: BASE_URL, scope: 'read:photos write:photos' }),
    }).then(async (answer) => ((await answer.json()) as { access_token: string }).access_token);
    return this.#token;
  }

  async #until(path: string, init: RequestInit): Promise<Response> {
    for (;;) {
      const { origin } = this.instances[this.#turn++ % this.instances.length]!;
      try {
        const answer = await fetch(`${origin}${path}`, { ...init, signal: AbortSignal.timeout(30_000) });
        // The whole answer: it may be cut off as well.
        const body = await answer.arrayBuffer();
        if (answer.ok) return new Response(body, { status: 200 });
        if (answer.status < 500) throw new Refused(`${path}: ${answer.status} ${Buffer.from(body)}`);
      } catch (error) {
        if (error instanceof Refused) throw error;
      }
      this.retries++;
      await sleep(50);
    }
  }
}

class Refused extends Error {}

/** Kills the instances one after the other, each third time the database, until told to end; all of them run afterwards. */
class Faults {
  instanceKills = 0;
  databaseKills = 0;
  readonly #working: Promise<void>;
  #over = false;

  constructor(
    readonly postgres: MortalPostgres,
    readonly instances: Instance[],
    readonly pause: number,
    readonly say: (line: string) => void,
  ) {
    this.#working = this.#work();
  }

  async end(): Promise<void> {
    this.#over = true;
    await this.#working;
  }

  async #work(): Promise<void> {
    for (let turn = 0; ; turn++) {
      await sleep(this.pause);
      if (this.#over) return;
      if (turn % 3 === 2) {
        this.databaseKills++;
        await this.postgres.kill();
        await this.postgres.restart();
      } else {
        const instance = this.instances[this.instanceKills++ % this.instances.length]!;
        await instance.kill();
        await instance.start();
      }
      this.say(`faults: ${this.instanceKills} instances, ${this.databaseKills} databases killed`);
    }
  }
}

async function wrongThings(database: Database, objects: string, expected: Expected[]): Promise<string[]> {
  const em = database.fork();
  const wrong: string[] = [];
  const photos = (await em.execute(
    `select id, key, file_size, project_id, folder_id, page_external_source_id as page, external_source_id as photo,
       archived_at is null as active from photo where source_app = ?`,
    [SOURCE_APP],
  )) as {
    id: string;
    key: string;
    file_size: number;
    project_id: string;
    page: string;
    photo: string;
    active: boolean;
  }[];
  const byPage = new Map(expected.map((each) => [each.page, each]));
  const found = new Set<string>();
  for (const { id, key, file_size: size, project_id: project, page, photo, active } of photos) {
    const bytes = await readFile(join(objects, key)).catch(() => null);
    if (!bytes || bytes.length !== size) wrong.push(`${id} of ${page} has no bytes, or not all of them`);
    if (!active) continue;
    const { projectId, photos: hashes } = byPage.get(page)!;
    if (found.has(`${page} ${photo}`)) wrong.push(`${photo} of ${page} is there twice`);
    found.add(`${page} ${photo}`);
    if (!hashes.has(photo)) wrong.push(`${photo} of ${page} should be deleted`);
    else if (bytes && createHash('sha256').update(bytes).digest('hex') !== hashes.get(photo))
      wrong.push(`${photo} of ${page} has other bytes`);
    if (project !== projectId) wrong.push(`${photo} of ${page} is in another project`);
  }
  for (const { page, photos: hashes } of expected) {
    for (const photo of hashes.keys()) if (!found.has(`${page} ${photo}`)) wrong.push(`${photo} of ${page} is lost`);
  }
  const folders = (await em.execute(
    `select f.id, f.page_external_source_id as page, count(p.id)::int as photos from photo_folder f
     left join photo p on p.folder_id = f.id and p.archived_at is null
     where f.source_app = ? and f.archived_at is null group by f.id`,
    [SOURCE_APP],
  )) as { id: string; page: string; photos: number }[];
  for (const { id, page, photos: count } of folders)
    if (count === 0) wrong.push(`the folder ${id} of ${page} is empty`);
  const pages = folders.map(({ page }) => page);
  for (const page of new Set(pages))
    if (pages.indexOf(page) !== pages.lastIndexOf(page)) wrong.push(`${page} has two folders`);
  return wrong;
}
