import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import sharp from 'sharp';
import { afterAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import type { Database } from '../../src/database/database.ts';
import { storeDemoPictures } from '../../src/demo/store-pictures.ts';
import { toRenditionKey } from '../../src/domain/photos/renditions.ts';
import { sweep } from '../../src/domain/uploads/sweep.ts';
import { RENDITION_SIZES } from '../../src/images/render.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { PACKAGE_ROOT } from '../../src/shared/version.ts';
import { openStorages, type Storage } from '../../src/storage/storage.ts';
import { DataTransferFixture, SAMPLES } from '../data-transfer/data-transfer-fixture.ts';
import { Instance } from '../proof/instance.ts';
import { BASE_URL, TOKEN_KEY } from '../support/harness.ts';
import { createHeicGrid } from '../support/heic-grid.ts';
import { loadDemoInto } from '../support/load-demo.ts';

const DAY_MS = 86_400_000;

const fixture = new DataTransferFixture();
afterAll(() => fixture.dispose());

interface Installation {
  database: Database;
  storage: Storage;
  env: Record<string, string>;
}

/** Databases and a store with the demo data, whose photos are not rendered. */
async function createDemoInstallation(): Promise<Installation> {
  const site = await createEmptyInstallation();
  const us1 = await fixture.createEmptyDatabase();
  const config = loadConfig({ DATA_DIR: site.env.DATA_DIR!, BASE_URL });
  const pictures = await storeDemoPictures(openStorages(config, { secrets: [TOKEN_KEY], clock: systemClock }));
  await loadDemoInto({ au1: site.database, us1 }, { baseUrl: BASE_URL, timesheets: 1, pictures });
  return site;
}

async function createEmptyInstallation(): Promise<Installation> {
  const [database, us1, folder] = [
    await fixture.createEmptyDatabase(),
    await fixture.createEmptyDatabase(),
    await fixture.createTemporaryFolder(),
  ];
  const config = loadConfig({ DATA_DIR: folder, BASE_URL });
  const { au1 } = openStorages(config, { secrets: [TOKEN_KEY], clock: systemClock });
  const env = {
    ...{ PATH: process.env.PATH!, DATA_DIR: folder, LOG_LEVEL: 'silent', TOKEN_KEY, BASE_URL },
    ...{ DATABASE_URL_AU1: database.url, DATABASE_URL_US1: us1.url },
  };
  return { database, storage: au1, env };
}

const startCommand = async (args: string[], env: Record<string, string>): Promise<ChildProcess> =>
  spawn(process.execPath, [join(PACKAGE_ROOT, 'dist/src/cli.js'), ...args], { env, stdio: 'pipe' });

/** Runs a command to its end, which must be a success, and returns the object that it prints. */
// biome-ignore lint/suspicious/noExplicitAny: each command has its own result.
async function runCommand(args: string[], env: Record<string, string>): Promise<any> {
  const child = await startCommand([...args, '--json'], env);
  let output = '';
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (chunk) => (output += chunk));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(output);
  return JSON.parse(output);
}

const rowsOf = async (database: Database, sql: string): Promise<Record<string, string>[]> =>
  database.fork().execute(sql);
const countOf = async (database: Database, condition: string): Promise<number> =>
  Number((await rowsOf(database, `select count(*) from photo_rendition where ${condition}`))[0]!.count);

const IS_CLAIMED = `status = 'PENDING' and claimed_until > clock_timestamp()`;
/** Ends all claims, as a minute after the end of a process. */
const endClaims = (database: Database) => rowsOf(database, 'update photo_rendition set claimed_until = null');

/** Fails unless the store has every rendition of every photo and nothing else, also after the sweep. */
async function expectEachOnce({ database, storage }: Installation): Promise<void> {
  const photos = await rowsOf(database, 'select id, builder_id, key from photo');
  const expected = photos.flatMap(({ id, builder_id, key }) =>
    RENDITION_SIZES.map((size) => toRenditionKey({ id: id!, builderId: builder_id!, key: key! }, size)),
  );
  await sweep(database, storage, Date.now() + 2 * DAY_MS);
  const stored: string[] = [];
  for await (const { key } of storage.byteStore.list('renditions/')) stored.push(key);
  expect(stored.sort()).toEqual(expected.sort());
  for (const key of stored.slice(0, 9)) {
    const { stream } = (await storage.byteStore.open(key))!;
    expect((await sharp(Buffer.concat(await stream.toArray())).metadata()).format).toBe('webp');
  }
}

describe('an instance that is killed while it renders', () => {
  it('leaves no photo behind: another renders each once (PHO-41)', async () => {
    const site = await createDemoInstallation();
    const { database, storage, env } = site;
    await rowsOf(
      database,
      `delete from photo where id not in (select id from photo where content_type = 'image/jpeg' limit 4)`,
    );
    // Pictures whose decode takes long, so that the instance is killed within one.
    const tile = await readFile('test/fixtures/heic/tile.heic');
    const large = createHeicGrid(tile, { columns: 8, rows: 6, width: 4032, height: 3024 });
    const keys = await rowsOf(database, 'select distinct key from photo');
    expect(keys.length).toBeGreaterThan(1);
    for (const { key } of keys) {
      await storage.byteStore.remove([key!]);
      await storage.store(key!, Readable.from([large]), 'image/jpeg', large.length);
    }
    const instance = await Instance.start(env);
    // The service gives up a photo after three process ends during its rendering.
    for (const delayMs of [0, 300]) {
      await expect.poll(() => countOf(database, IS_CLAIMED), { timeout: 30_000, interval: 5 }).toBeGreaterThan(0);
      await sleep(delayMs);
      await instance.kill();
      await endClaims(database);
      await instance.start();
    }
    await expect.poll(() => countOf(database, `status = 'PENDING'`), { timeout: 120_000 }).toBe(0);
    await instance.kill();
    expect(await countOf(database, `status = 'FAILED' or claimed_until is not null`)).toBe(0);
    expect(await countOf(database, 'attempts > 1')).toBeGreaterThan(0);
    await expectEachOnce(site);
  });
});

describe('an import', () => {
  it('has its photos rendered by the instances (PHO-41)', async () => {
    const site = await createEmptyInstallation();
    await runCommand(['import', SAMPLES], site.env);
    expect(await countOf(site.database, `status = 'PENDING'`)).toBeGreaterThan(0);
    const instance = await Instance.start(site.env);
    await expect.poll(() => countOf(site.database, `status = 'PENDING'`), { timeout: 60_000 }).toBe(0);
    await instance.kill();
    expect(await countOf(site.database, `status <> 'READY'`)).toBe(0);
    await expectEachOnce(site);
  });
});
