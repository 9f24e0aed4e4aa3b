import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { renderNext } from '../../src/domain/photos/render-photo.ts';
import { startRendering } from '../../src/domain/photos/rendition.job.ts';
import { retryRenditions } from '../../src/domain/photos/rendition-claims.ts';
import { toRenditionKey } from '../../src/domain/photos/renditions.ts';
import { sweep } from '../../src/domain/uploads/sweep.ts';
import { createFairShares } from '../../src/limits/fair-shares.ts';
import { openStorages, type Storages } from '../../src/storage/storage.ts';
import { type BuilderClient, createBuilderClient } from '../support/builder-client.ts';
import { BASE_URL, TOKEN_KEY, useService } from '../support/harness.ts';
import { createHeic, createPicture } from '../support/images.ts';

const DAY = 86_400_000;

const service = useService();
let storages: Storages;
let a: BuilderClient;
let b: BuilderClient;

beforeAll(async () => {
  service.clock.advance(Date.now() - service.clock.now());
  const config = loadConfig({ DATA_DIR: service.dataDir, BASE_URL });
  storages = openStorages(config, { secrets: [TOKEN_KEY], clock: service.clock });
  [a, b] = await Promise.all([createBuilderClient(service, 'A'), createBuilderClient(service, 'B')]);
});

// biome-ignore lint/suspicious/noExplicitAny: rows are walked by name.
const execute = (sql: string, values: unknown[] = []): Promise<any[]> =>
  service.databases.au1.fork().execute(sql, values);

const stateOf = async (id: string) =>
  (await execute('select status, width, height, problem, attempts from photo_rendition where photo_id = ?', [id]))[0];

const createPhoto = async (client: BuilderClient, bytes?: Buffer, type?: string) =>
  client.createPhoto({ imageAttachment: await client.upload(bytes, type) });

const context = () => ({ database: service.databases.au1, storage: storages.au1, shares: createFairShares() });

/** Renders everything that waits, and returns the shares in their order. */
async function renderAll(): Promise<string[]> {
  const shares: string[] = [];
  const cursor = { share: '' };
  while (await renderNext(context(), cursor)) shares.push(cursor.share);
  return shares;
}

const download = async (
  client: BuilderClient,
  photo: { id: string; key: string },
  size: 'SMALL' | 'LARGE' = 'SMALL',
) => {
  const key = toRenditionKey({ ...photo, builderId: client.builderId }, size);
  return client.download(storages.au1.createDownloadUrl(key));
};

describe('the jobs that render photos', () => {
  it('render accepted photos, alternating between the integrators (PHO-41)', async () => {
    const photos = [await createPhoto(a), await createPhoto(a), await createPhoto(a), await createPhoto(b)];
    const [first, second, third, fourth] = await renderAll();
    expect(new Set([first, second]).size).toBe(2);
    expect(third).toBe(fourth);
    for (const { id } of photos) expect(await stateOf(id)).toMatchObject({ status: 'READY', width: 40, height: 30 });
  });

  it('use no quota (PHO-42)', async () => {
    const usage = () => execute('select coalesce(sum(size), 0)::int as bytes from upload where consumed_at is null');
    await createPhoto(a, await createPicture('jpeg', { width: 800, height: 600 }));
    const before = await usage();
    await renderAll();
    expect(await usage()).toEqual(before);
  });

  it('run in the service until they are stopped', async () => {
    const { id } = await createPhoto(a);
    const log = { error: () => undefined, info: () => undefined };
    const stop = startRendering(service.databases, { storages, shares: createFairShares() }, log);
    await expect.poll(async () => (await stateOf(id)).status, { timeout: 60_000 }).toBe('READY');
    await stop();
  });

  it('take over the photo of a process that was killed, once its claim has ended', async () => {
    const { id } = await createPhoto(a);
    const claim = `update photo_rendition set attempts = 1, claimed_until = clock_timestamp() + ?::interval where photo_id = ?`;
    await execute(claim, ['1 minute', id]);
    expect(await renderAll()).toEqual([]);
    await execute(claim, ['-1 second', id]);
    expect(await renderAll()).toHaveLength(1);
    expect(await stateOf(id)).toMatchObject({ status: 'READY' });
  });

  it('give up a photo that ended three processes (PHO-40)', async () => {
    const { id } = await createPhoto(a);
    await execute('update photo_rendition set attempts = 3 where photo_id = ?', [id]);
    await renderAll();
    expect(await stateOf(id)).toMatchObject({
      status: 'FAILED',
      problem: expect.stringContaining('ended every process'),
    });
  });

  it('render again when the bytes of a photo are replaced', async () => {
    const photo = await createPhoto(a, await createPicture('jpeg', { width: 60, height: 20 }));
    const other = await createPhoto(a, await createPicture('jpeg', { width: 20, height: 60 }));
    await renderAll();
    await execute('update photo set key = ? where id = ?', [other.key, photo.id]);
    expect(await stateOf(photo.id)).toMatchObject({ status: 'PENDING', width: null });
    await renderAll();
    expect(await stateOf(photo.id)).toMatchObject({ status: 'READY', width: 20, height: 60 });
    expect((await download(a, photo)).statusCode).toBe(200);
    expect((await download(a, { id: photo.id, key: other.key })).statusCode).toBe(200);
  });
});

describe('GET of a signed rendition', () => {
  it('renders the photo first where that has not happened (PHO-41)', async () => {
    const photo = await createPhoto(a, await createPicture('jpeg', { width: 400, height: 200 }));
    const answers = await Promise.all([download(a, photo), download(a, photo), download(a, photo, 'LARGE')]);
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200]);
    expect(await sharp(answers[0]!.rawPayload).metadata()).toMatchObject({ format: 'webp', width: 160, height: 80 });
    expect((await stateOf(photo.id)).attempts).toBe(1);
  });

  it('renders again what the store has lost', async () => {
    const photo = await createPhoto(a);
    await renderAll();
    await storages.au1.byteStore.remove([toRenditionKey({ ...photo, builderId: a.builderId }, 'SMALL')]);
    expect((await download(a, photo)).statusCode).toBe(200);
  });

  it('is a placeholder, which is not cached, for a photo that cannot be rendered (PHO-40)', async () => {
    const photo = await createPhoto(a, createHeic(), 'image/heic');
    const { statusCode, headers, rawPayload } = await download(a, photo);
    expect(statusCode).toBe(200);
    expect(headers).toMatchObject({ 'cache-control': 'no-store', 'content-type': 'image/webp' });
    expect(headers).not.toHaveProperty('etag');
    expect(await sharp(rawPayload).metadata()).toMatchObject({ width: 160, height: 120 });
    expect(await stateOf(photo.id)).toMatchObject({ status: 'FAILED', problem: 'cannot be decoded' });
  });

  it("is 404 for other bytes, and for another builder's photo (PHO-42)", async () => {
    const photo = await createPhoto(a);
    expect((await download(a, { id: photo.id, key: 'photos/other.jpg' })).statusCode).toBe(404);
    expect((await download(b, photo)).statusCode).toBe(404);
    expect((await download(a, { id: 'att_none', key: photo.key })).statusCode).toBe(404);
  });
});

describe('the sweep', () => {
  it('deletes the renditions of photos that no longer exist or have other bytes, and no others (PHO-42)', async () => {
    const photos = [await createPhoto(a), await createPhoto(a), await createPhoto(a), await createPhoto(a)] as const;
    const [, shared, deleted, replaced] = photos;
    await renderAll();
    const keyOf = (photo: { id: string; key: string }) => toRenditionKey({ ...photo, builderId: a.builderId }, 'LARGE');
    await execute('delete from photo where id = ?', [deleted.id]);
    await execute('update photo set key = ? where id = ?', [shared.key, replaced.id]);
    await sweep(service.databases.au1, storages.au1, Date.now() + 2 * DAY);
    const left = await Promise.all(photos.map((photo) => storages.au1.byteStore.stat(keyOf(photo))));
    expect(left.map((found) => found !== null)).toEqual([true, true, false, false]);
    expect(await stateOf(deleted.id)).toBeUndefined();
  });
});

describe('renditions retry', () => {
  it('has failed photos rendered again, and those that wait for their next attempt', async () => {
    await execute(`delete from photo where id in (select photo_id from photo_rendition where status = 'FAILED')`);
    const photos = [await createPhoto(a), await createPhoto(a)];
    const [failed, postponed] = photos.map(({ id }) => id);
    const change = (values: string, id?: string) =>
      execute(`update photo_rendition set problem = 'x', attempts = 3, ${values} where photo_id = ?`, [id]);
    await change(`status = 'FAILED'`, failed);
    await change(`claimed_until = now() + interval '1 hour'`, postponed);
    expect(await retryRenditions(service.databases.au1)).toBe(2);
    await renderAll();
    for (const { id } of photos) expect(await stateOf(id)).toMatchObject({ status: 'READY', attempts: 1 });
  });
});
