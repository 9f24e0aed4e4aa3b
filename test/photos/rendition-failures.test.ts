import { readFile } from 'node:fs/promises';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type RenditionContext, renderNext } from '../../src/domain/photos/render-photo.ts';
import { retryRenditions } from '../../src/domain/photos/rendition-claims.ts';
import { toRenditionKey } from '../../src/domain/photos/renditions.ts';
import { createRenderProcess, type RenderProcess, renderCounts } from '../../src/images/render.ts';
import { WorkerProcess } from '../../src/images/worker-process.ts';
import { createFairShares } from '../../src/limits/fair-shares.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { type BuilderClient, createBuilderClient } from '../support/builder-client.ts';
import { useService } from '../support/harness.ts';
import { createHeic } from '../support/images.ts';
import { openTestStorages } from '../support/stores.ts';

const service = useService();
let storage: Storage;
let client: BuilderClient;
let camera: Buffer;

beforeAll(async () => {
  service.clock.advance(Date.now() - service.clock.now());
  client = await createBuilderClient(service, 'A');
  storage = openTestStorages(service).au1;
  camera = await readFile('test/fixtures/heic/plain.heic');
});

beforeEach(() => execute('delete from photo_rendition'));
// biome-ignore lint/suspicious/noExplicitAny: rows are walked by name.
const execute = (sql: string, values: unknown[] = []): Promise<any[]> =>
  service.databases.au1.fork().execute(sql, values);

/** `seconds` is what remains of the pause, rounded up to a multiple of five, as all pauses are: the time since the failure does not matter. */
const stateOf = async (id: string) => {
  const [row] = await execute(
    `select status, attempts, failures, problem, 5 * ceil(extract(epoch from claimed_until - clock_timestamp()) / 5)::int as seconds
      from photo_rendition where photo_id = ?`,
    [id],
  );
  return row;
};

const createPhoto = async (bytes?: Buffer, type?: string) =>
  client.createPhoto({ imageAttachment: await client.upload(bytes, type) });

/** Renders all photos that may be claimed now. */
async function renderAll(parts: Partial<RenditionContext> = {}): Promise<void> {
  const context = { database: service.databases.au1, storage, shares: createFairShares(), ...parts };
  const cursor = { share: '' };
  for (let waited = true; waited; ) {
    waited = await renderNext(context, cursor).catch((error) => {
      expect(error).toMatchObject({ status: 503 });
      return true;
    });
  }
}

/** Ends the pause after a failure. */
const endPause = (id: string) => execute('update photo_rendition set claimed_until = null where photo_id = ?', [id]);

const createFailingStorage = (): Storage =>
  Object.create(storage, { store: { value: () => Promise.reject(new Error('The store does not answer.')) } });

const countGivenUp = () => new Map(renderCounts.entries()).get('given_up')?.outcomes.get('error') ?? 0;

describe('a photo that a failure of the machine or the store prevents from being rendered (PHO-43)', () => {
  it('stays pending, and is tried again after a pause', async () => {
    const { id } = await createPhoto();
    await renderAll({ storage: createFailingStorage() });
    const problem = 'The store does not answer.';
    expect(await stateOf(id)).toEqual({ status: 'PENDING', attempts: 0, failures: 1, problem, seconds: 15 });
    await renderAll();
    expect(await stateOf(id)).toMatchObject({ status: 'PENDING' });
    await endPause(id);
    await renderAll();
    expect(await stateOf(id)).toMatchObject({ status: 'READY', problem: null });
  });

  it('is tried again after longer and longer pauses, and given up after ten failures', async () => {
    const { id } = await createPhoto();
    const before = countGivenUp();
    const pauses: number[] = [];
    for (let failure = 1; failure < 10; failure++) {
      await renderAll({ storage: createFailingStorage() });
      pauses.push((await stateOf(id)).seconds);
      await endPause(id);
    }
    expect(pauses).toEqual([15, 45, 135, 405, 1_215, 3_645, 10_935, 14_400, 14_400]);
    expect(countGivenUp()).toBe(before);
    await renderAll({ storage: createFailingStorage() });
    expect(await stateOf(id)).toMatchObject({ status: 'FAILED', problem: 'The store does not answer.' });
    expect(countGivenUp()).toBe(before + 1);
    await retryRenditions(service.databases.au1);
    await renderAll();
    expect(await stateOf(id)).toMatchObject({ status: 'READY' });
  });

  it('is tried again when its bytes are not in the store', async () => {
    const photo = await createPhoto();
    await storage.byteStore.remove([photo.key]);
    await renderAll();
    expect(await stateOf(photo.id)).toMatchObject({ status: 'PENDING', failures: 1, problem: 'has no stored bytes' });
  });

  it('answers 503 at once until it is tried again', async () => {
    const photo = await createPhoto();
    await renderAll({ storage: createFailingStorage() });
    const key = toRenditionKey({ ...photo, builderId: client.builderId }, 'SMALL');
    const url = storage.createDownloadUrl(key);
    expect((await client.download(url)).statusCode).toBe(503);
    expect(await stateOf(photo.id)).toMatchObject({ status: 'PENDING', failures: 1 });
    await endPause(photo.id);
    expect((await client.download(url)).statusCode).toBe(200);
  });
});

describe('a photo whose decoder does not finish (PHO-43)', () => {
  it('is tried again, and given up after three attempts', async () => {
    const { id } = await createPhoto(camera, 'image/heic');
    const renderProcess = createRenderProcess({ memory: 64 * 1024 * 1024, timeoutMs: 1 });
    await renderAll({ renderProcess });
    const problem = 'takes too long to decode';
    expect(await stateOf(id)).toEqual({ status: 'PENDING', attempts: 1, failures: 0, problem, seconds: 15 });
    for (const _ of [2, 3]) {
      await endPause(id);
      await renderAll({ renderProcess });
    }
    expect(await stateOf(id)).toMatchObject({ status: 'FAILED', attempts: 3, problem });
  });

  it('is given up after three attempts when it ends the process that renders it', async () => {
    const { id } = await createPhoto();
    const file = new URL('../support/worker-process-program.ts', import.meta.url);
    const renderProcess: RenderProcess = new WorkerProcess({ file, timeoutMs: 60_000, idleMs: 60_000 });
    for (const attempts of [1, 2]) {
      await renderAll({ renderProcess });
      expect(await stateOf(id)).toMatchObject({ status: 'PENDING', attempts, failures: 0 });
      await endPause(id);
    }
    await renderAll({ renderProcess });
    const problem = 'ended the process that rendered it';
    expect(await stateOf(id)).toMatchObject({ status: 'FAILED', attempts: 3, problem });
  });

  it('is rendered when the machine has time for it', async () => {
    const { id } = await createPhoto(camera, 'image/heic');
    await renderAll({ renderProcess: createRenderProcess({ memory: 64 * 1024 * 1024, timeoutMs: 1 }) });
    await endPause(id);
    await renderAll();
    expect(await stateOf(id)).toMatchObject({ status: 'READY' });
  });
});

describe('a photo that cannot be decoded (PHO-40)', () => {
  it('fails at once', async () => {
    const { id } = await createPhoto(createHeic(), 'image/heic');
    await renderAll();
    expect(await stateOf(id)).toMatchObject({ status: 'FAILED', attempts: 1, problem: 'cannot be decoded' });
  });
});
