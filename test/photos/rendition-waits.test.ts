import { request } from 'node:http';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ensureRenditions } from '../../src/domain/photos/render-photo.ts';
import { type RenderedPhoto, toRenditionKey } from '../../src/domain/photos/renditions.ts';
import { createFairShares, type FairShares } from '../../src/limits/fair-shares.ts';
import { type BuilderClient, createBuilderClient } from '../support/builder-client.ts';
import { useService } from '../support/harness.ts';
import { useLongerTimeLimits } from '../support/longer-time-limits.ts';
import { openTestStorages, startStore, type TestStore } from '../support/stores.ts';

const service = useService();
let client: BuilderClient;
let shares: FairShares;

useLongerTimeLimits();
beforeAll(async () => {
  service.clock.advance(Date.now() - service.clock.now());
  client = await createBuilderClient(service, 'A');
});

beforeEach(() => {
  shares = createFairShares();
});
// biome-ignore lint/suspicious/noExplicitAny: rows are walked by name.
const execute = (sql: string, values: unknown[] = []): Promise<any[]> =>
  service.databases.au1.fork().execute(sql, values);

async function createPhoto(): Promise<RenderedPhoto> {
  const { id, key } = await client.createPhoto();
  return { id, key, builderId: client.builderId };
}

const claimsOf = async ({ id }: RenderedPhoto) =>
  (await execute('select status, attempts, claimed_until from photo_rendition where photo_id = ?', [id]))[0];

const context = () => ({
  ...{ database: service.databases.au1, storage: openTestStorages(service).au1 },
  ...{ shares, shareKey: 'intg_test' },
});

describe('requests that wait for the renditions of one photo (PHO-41)', () => {
  it('have the state that another process has rendered', async () => {
    const photo = await createPhoto();
    const claim = `update photo_rendition set attempts = 1, claimed_until = clock_timestamp() + interval '1 minute' where photo_id = ?`;
    await execute(claim, [photo.id]);
    const states = Array.from({ length: 5 }, () => ensureRenditions(context(), photo));
    await execute(`update photo_rendition set status = 'READY', width = 4, height = 3 where photo_id = ?`, [photo.id]);
    for (const state of await Promise.all(states)) expect(state).toMatchObject({ status: 'READY', width: 4 });
  });

  it('render it once', async () => {
    const photo = await createPhoto();
    await Promise.all(Array.from({ length: 20 }, () => ensureRenditions(context(), photo)));
    expect(await claimsOf(photo)).toMatchObject({ status: 'READY', attempts: 1 });
  });

  it('leave it to others while their share has no capacity', async () => {
    const photo = await createPhoto();
    const release = await shares.largeImages.acquire('intg_test');
    const state = ensureRenditions(context(), photo);
    await expect.poll(() => shares.largeImages.stats().queued).toBe(1);
    expect(await claimsOf(photo)).toMatchObject({ status: 'PENDING', attempts: 0, claimed_until: null });
    release();
    expect(await state).toMatchObject({ status: 'READY' });
  });

  it('do not wait in the queue of another share that requested the photo first', async () => {
    const photo = await createPhoto();
    const release = await shares.largeImages.acquire('intg_test');
    const first = ensureRenditions(context(), photo);
    await expect.poll(() => shares.largeImages.stats().queued).toBe(1);
    expect(await ensureRenditions({ ...context(), shareKey: 'user_b' }, photo)).toMatchObject({ status: 'READY' });
    expect(shares.largeImages.stats().queued).toBe(1);
    release();
    expect(await first).toMatchObject({ status: 'READY' });
    expect(await claimsOf(photo)).toMatchObject({ attempts: 1 });
  });

  it('end their wait when their client has gone', async () => {
    const photo = await createPhoto();
    await shares.largeImages.acquire('intg_test');
    const clients = [new AbortController(), new AbortController()];
    const states = clients.map(({ signal }) => ensureRenditions(context(), photo, signal));
    await expect.poll(() => shares.largeImages.stats().queued).toBe(2);
    for (const [index, client] of clients.entries()) {
      client.abort();
      await expect(states[index]).rejects.toThrow(/abort/);
      await expect.poll(() => shares.largeImages.stats().queued).toBe(1 - index);
    }
    expect(await claimsOf(photo)).toMatchObject({ status: 'PENDING', attempts: 0 });
    shares = createFairShares();
    expect(await ensureRenditions(context(), photo)).toMatchObject({ status: 'READY' });
  });
});

describe('GET of a rendition that is not stored (PHO-41)', () => {
  let store: TestStore;

  const urlOf = (photo: RenderedPhoto): string =>
    store.storages.au1.withShareKey('intg_test').createDownloadUrl(toRenditionKey(photo, 'SMALL'));

  beforeEach(async () => {
    store = await startStore({}, { shares, databases: service.databases });
    return () => store.stop();
  });

  it('ends its work when its client has gone', async () => {
    await shares.largeImages.acquire('intg_test');
    const sent = request(urlOf(await createPhoto()));
    sent.on('error', () => undefined).end();
    await expect.poll(() => shares.largeImages.stats().queued).toBe(1);
    sent.destroy();
    await expect.poll(() => shares.largeImages.stats().queued).toBe(0);
    await expect.poll(() => shares.waits.stats().used).toBe(0);
  });

  it('is 429 when 64 others of its share wait', async () => {
    await shares.waits.acquire('intg_test', 64);
    const answer = await fetch(urlOf(await createPhoto()));
    expect(answer.status).toBe(429);
    expect(answer.headers.get('retry-after')).toBe('1');
  });
});
