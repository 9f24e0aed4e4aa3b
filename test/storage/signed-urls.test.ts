import { parse as parseQuery } from 'node:querystring';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FairSemaphore } from '../../src/limits/fair-semaphore.ts';
import { createFairShares } from '../../src/limits/fair-shares.ts';
import { createUploadKey } from '../../src/storage/keys.ts';
import { type SignedUrlClaims, UrlSigner } from '../../src/storage/url-signer.ts';
import { createBuilderClient } from '../support/builder-client.ts';
import { type Service, startService } from '../support/harness.ts';
import { createPicture } from '../support/images.ts';
import { startStore, type TestStore } from '../support/stores.ts';

const TYPE = 'image/png';
const BUILDER = 'buil_a1';

/** One request of a share at a time; no other may wait. */
const aSemaphore = (perShare: number) =>
  new FairSemaphore({
    ...{ name: 'test', capacity: 2 * perShare, perShare },
    ...{ maxQueuedPerShare: 0, maxQueued: 10, maxWaitMs: 10_000 },
  });

const put = (url: string, body: string) =>
  fetch(url, { method: 'PUT', body, headers: { 'Content-Type': TYPE, Connection: 'close' } });

describe('PUT to an upload URL of the local store', () => {
  let store: TestStore;
  let other: TestStore;

  beforeAll(async () => {
    store = await startStore();
    other = await startStore({ DATA_DIR: store.folder });
  });
  afterAll(async () => {
    await other.stop();
    await store.stop();
  });

  const anUploadUrl = (size: number) => store.storages.au1.createUploadUrl(createUploadKey(BUILDER), TYPE, size);

  it('answers 200 when the same bytes are sent again (UPL-6)', async () => {
    const url = await anUploadUrl(5);
    expect((await put(url, 'first')).status).toBe(200);
    expect((await put(url, 'first')).status).toBe(200);
  });

  it('answers 409 when other bytes are sent, and keeps the first (UPL-6)', async () => {
    const key = createUploadKey(BUILDER);
    const url = await store.storages.au1.createUploadUrl(key, TYPE, 5);
    await put(url, 'first');
    const answer = await put(url, 'other');
    expect(answer.status).toBe(409);
    expect(await answer.json()).toMatchObject({ code: 'UPLOAD_CONFLICT' });
    const download = await fetch(store.storages.au1.createDownloadUrl(key, TYPE));
    expect(await download.text()).toBe('first');
  });

  it('lets one of many uploads at once win, on two instances that share the folder (UPL-6)', async () => {
    const url = await anUploadUrl(2);
    const bodies = Array.from({ length: 20 }, (_, index) => String(index + 10));
    const urls = bodies.map((_, index) => (index % 2 === 0 ? url : url.replace(store.baseUrl, other.baseUrl)));
    const answers = await Promise.all(bodies.map((body, index) => put(urls[index]!, body)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409)).toHaveLength(19);
    const winner = bodies[statuses.indexOf(200)]!;
    expect((await put(url, winner)).status).toBe(200);
  });
});

describe('several keys', () => {
  const [one, other] = [Buffer.alloc(32, 1).toString('base64url'), Buffer.alloc(32, 2).toString('base64url')];
  const clock = { now: () => Date.parse('2026-06-01T00:00:00.000Z') };
  const using = (...secrets: string[]) => new UrlSigner({ secrets, baseUrl: 'http://localhost:4000', clock });
  const KEY = 'photos/buil_a1/one.png';
  const verify = (signer: UrlSigner, url: string) =>
    signer.verify('GET', 'au1', KEY, Object.fromEntries(new URL(url).searchParams));

  it('sign URLs with the first, and verify with all', () => {
    const url = using(one, other).sign({ method: 'GET', region: 'au1', key: KEY, contentType: TYPE }, 900);
    expect(verify(using(one), url)).toMatchObject({ key: KEY });
    expect(verify(using(other, one), url)).toMatchObject({ key: KEY });
    expect(verify(using(other), url)).toBe('ALTERED');
  });
});

describe('the parameters of a signed URL', () => {
  const signer = new UrlSigner({
    ...{ secrets: [Buffer.alloc(32, 'secret').toString('base64url')], baseUrl: 'http://api' },
    clock: { now: () => 0 },
  });
  const key = createUploadKey(BUILDER);
  const claims = { region: 'au1', key, contentType: TYPE } as const;
  const urls: [string, SignedUrlClaims][] = [
    ['a download', { ...claims, method: 'GET' }],
    ['a named download', { ...claims, method: 'GET', fileName: 'a.png', shareKey: 'intg_a' }],
    ['an upload', { ...claims, method: 'PUT', size: 5, shareKey: 'intg_a' }],
  ];
  const verify = (method: 'GET' | 'PUT', query: string) => signer.verify(method, 'au1', key, parseQuery(query));
  const NAMES = ['type', 'size', 'name', 'issuer', 'expires', 'signature', 'other', '__proto__', 'constructor'];
  const VALUES = ['', '0', '-0', '5', '05', '5.0', '+5', ' 5', '5e0', '0x5', 'NaN', 'Infinity', 'null', 'undefined'];

  it.each(urls)('of %s cannot be added, changed, repeated or removed', (_, signed) => {
    const query = new URL(signer.sign(signed, 900)).searchParams;
    expect(verify(signed.method, query.toString())).toEqual(signed);
    const accepted: string[] = [];
    for (const name of NAMES) {
      const removed = new URLSearchParams(query);
      removed.delete(name);
      const changes = VALUES.filter((value) => value !== query.get(name)).map((value) => `${removed}&${name}=${value}`);
      const repeated = [...VALUES, query.get(name) ?? ''].map((value) => `${query}&${name}=${value}`);
      const others = query.has(name)
        ? [removed.toString(), `${removed}&${name}[]=${query.get(name)}`, ...repeated]
        : [];
      for (const each of [...changes, ...others]) {
        if (verify(signed.method, each) !== 'ALTERED') accepted.push(each);
      }
    }
    expect(accepted).toEqual([]);
  });
});

describe('the issuer of a signed URL', () => {
  const limits = { shares: { ...createFairShares(), transfers: aSemaphore(8) } };
  let store: TestStore;

  beforeAll(async () => {
    store = await startStore({}, limits);
  });
  afterAll(() => store.stop());

  const issuedTo = (issuer: string) => store.storages.au1.withShareKey(issuer);

  it('cannot be changed or removed', async () => {
    const url = await issuedTo('intg_a').createUploadUrl(createUploadKey(BUILDER), TYPE, 5);
    for (const change of [
      (query: URLSearchParams) => query.set('issuer', 'intg_b'),
      (query: URLSearchParams) => query.delete('issuer'),
      (query: URLSearchParams) => query.append('issuer', 'intg_b'),
    ]) {
      const wrong = new URL(url);
      change(wrong.searchParams);
      expect((await put(wrong.href, 'bytes')).status).toBe(403);
    }
    expect((await put(url, 'bytes')).status).toBe(200);
  });

  it('is charged for uploads: 429 while its share is full, and 200 for others (LIM-9, LIM-19, UPL-9)', async () => {
    const release = await limits.shares.transfers.acquire('intg_a', 8);
    const refused = await put(await issuedTo('intg_a').createUploadUrl(createUploadKey(BUILDER), TYPE, 5), 'bytes');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    expect(
      (await put(await issuedTo('intg_b').createUploadUrl(createUploadKey(BUILDER), TYPE, 5), 'bytes')).status,
    ).toBe(200);
    release();
    expect(
      (await put(await issuedTo('intg_a').createUploadUrl(createUploadKey(BUILDER), TYPE, 5), 'bytes')).status,
    ).toBe(200);
  });

  it('is charged for downloads: 429 while its share is full, and 200 for others (LIM-9, LIM-19)', async () => {
    const key = createUploadKey(BUILDER);
    await put(await store.storages.au1.createUploadUrl(key, TYPE, 5), 'bytes');
    const get = (issuer: string) =>
      fetch(issuedTo(issuer).createDownloadUrl(key, TYPE), { headers: { Connection: 'close' } });
    const release = await limits.shares.transfers.acquire('intg_a', 8);
    expect((await get('intg_a')).status).toBe(429);
    expect(await (await get('intg_b')).text()).toBe('bytes');
    release();
    expect(await (await get('intg_a')).text()).toBe('bytes');
  });

  it('is charged no longer once a request has ended', async () => {
    const key = createUploadKey(BUILDER);
    await put(await issuedTo('intg_c').createUploadUrl(key, TYPE, 5), 'bytes');
    await (await fetch(issuedTo('intg_c').createDownloadUrl(key, TYPE), { headers: { Connection: 'close' } })).text();
    await (await fetch(issuedTo('intg_c').createDownloadUrl('photos/buil_a1/none.png'))).text();
    await expect.poll(() => limits.shares.transfers.stats().used).toBe(0);
  });
});

describe('PUT to an upload URL, many times', () => {
  let service: Service;

  beforeAll(async () => {
    service = await startService({ RATE_LIMIT_API: '4/10' });
  });
  afterAll(() => service.stop());

  it('answers 429 with Retry-After beyond the limit of its integrator, whose API calls and other integrators go on (LIM-9, UPL-9)', async () => {
    const [client, other] = [await createBuilderClient(service, 'A'), await createBuilderClient(service, 'B')];
    const image = await createPicture();
    const { uploadUrl } = await client.presign(image);
    for (let sent = 0; sent < 4; sent++) expect((await client.put(uploadUrl, image)).statusCode).toBe(200);
    const refused = await client.put(uploadUrl, image);
    expect([refused.statusCode, refused.json().code]).toEqual([429, 'RATE_LIMITED']);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await client.send('GET', '')).statusCode).toBe(200);
    await other.upload(image);
    service.clock.advance(10_000);
    expect((await client.put(uploadUrl, image)).statusCode).toBe(200);
  });
});
