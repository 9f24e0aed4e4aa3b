import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Encoding, selectEncoding } from '../../src/http/documents/compression.ts';
import { createBuilderClient } from '../support/builder-client.ts';
import { useService } from '../support/harness.ts';
import { addTimesheets } from '../support/rows.ts';

const DECODERS: Record<Encoding, (bytes: Buffer) => Buffer> = { br: brotliDecompressSync, gzip: gunzipSync };

const service = useService();
let token: string;
let builder: Record<string, string>;

const list = '/timesheets';

beforeAll(async () => {
  token = await service.tokenOf('A');
  const builderId = service.findDemoClient('A').builderIds[0]!;
  await addTimesheets(service, builderId, new Array(10).fill({}));
  builder = { 'x-service-builder-id': builderId };
});

describe('the choice of an encoding', () => {
  it.each([
    [undefined, null],
    ['', null],
    ['gzip', 'gzip'],
    ['gzip, deflate, br', 'br'],
    ['br;q=0.1, gzip;q=0.8', 'gzip'],
    ['br;q=0, gzip;q=0', null],
    ['*', 'br'],
    ['*;q=0', null],
    ['identity', null],
    ['GZIP', 'gzip'],
    ['br;q=nonsense', null],
    ['gzip ; q=0.5 , br ; q=0.2', 'gzip'],
  ])('%j is %j', (header, encoding) => {
    expect(selectEncoding(header)).toBe(encoding);
  });

  it('takes time in proportion to the header (LIM-19)', () => {
    // A search that restarts at each space would take minutes.
    expect(selectEncoding(`a${' '.repeat(1_000_000)}b, gzip`)).toBe('gzip');
  });
});

describe('a JSON response of more than 1 KB (HDR-16)', () => {
  it('is the same bytes without Accept-Encoding', async () => {
    const response = await service.get(list, token, builder);
    expect(response.rawPayload.length).toBeGreaterThan(1024);
    expect(response.headers).not.toHaveProperty('content-encoding');
    expect(response.headers.vary).toBe('Origin');
    expect(response.headers['content-length']).toBe(String(response.rawPayload.length));
  });

  it.each(['br', 'gzip'] as const)('is compressed with %s', async (encoding) => {
    const compressed = await service.get(list, token, { ...builder, 'accept-encoding': encoding });
    expect(compressed.headers).toMatchObject({ 'content-encoding': encoding, 'cache-control': 'no-store' });
    expect(compressed.headers.vary).toBe('Origin');
    const body = JSON.parse(DECODERS[encoding](compressed.rawPayload).toString());
    expect(body.meta).toEqual((await service.get(list, token, builder)).json().meta);
  });

  it('is compressed in GraphQL, and in large responses that are sent in chunks', async () => {
    const query = `{ ${Array.from({ length: 40 }, (_, n) => `p${n}: builders { data { id name projects { data { id name status } } } }`).join(' ')} }`;
    const post = (headers: Record<string, string>) =>
      service.request({
        ...{ method: 'POST', url: '/graphql', payload: { query } },
        headers: { authorization: `Bearer ${token}`, ...headers },
      });
    const plain = await post({});
    const compressed = await post({ 'accept-encoding': 'gzip' });
    expect(compressed.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(compressed.rawPayload).toString()).toBe(plain.body);
  });

  it('is not compressed for HEAD, nor when it is small', async () => {
    const headers = { authorization: `Bearer ${token}`, 'accept-encoding': 'br', ...builder };
    const head = await service.request({ method: 'HEAD', url: list, headers });
    expect(head.headers).not.toHaveProperty('content-encoding');
    const small = await service.get('/nowhere', token, { 'accept-encoding': 'br' });
    expect(small.headers).not.toHaveProperty('content-encoding');
    expect(small.json()).toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('a public document that may be read by other origins (HDR-16)', () => {
  it('varies by origin and by encoding', async () => {
    const { headers } = await service.request({
      url: '/.well-known/oauth-authorization-server',
      headers: { 'accept-encoding': 'br' },
    });
    expect(headers).toMatchObject({ 'content-encoding': 'br', vary: 'Origin, Accept-Encoding' });
  });
});

describe('the OpenAPI document and the reference page (HDR-17)', () => {
  it.each(['/openapi.json', '/docs/'])('%s is 304 for a client that has it', async (url) => {
    const first = await service.request({ url });
    const { etag } = first.headers;
    expect(first.headers['cache-control']).toBe('public, no-cache');
    expect(etag).toMatch(/^W\/"[0-9a-f]{16}"$/);
    for (const known of [etag!, etag!.slice(2), `"other", ${etag}`, '*']) {
      const again = await service.request({ url, headers: { 'if-none-match': known } });
      expect([again.statusCode, again.body]).toEqual([304, '']);
      expect(again.headers).toMatchObject({ etag, 'cache-control': 'public, no-cache' });
    }
    expect((await service.request({ url, headers: { 'if-none-match': '"other"' } })).statusCode).toBe(200);
    const compressed = await service.request({ url, headers: { 'accept-encoding': 'br' } });
    expect(brotliDecompressSync(compressed.rawPayload).toString()).toBe(first.body);
    expect(compressed.headers).toMatchObject({ 'content-encoding': 'br', vary: 'Accept-Encoding' });
  });

  it('refers to a script that browsers keep for ever, of a quarter of its size', async () => {
    const page = await service.request({ url: '/docs/' });
    const [name] = /js\/scalar-[0-9a-f]{16}\.js/.exec(page.body)!;
    const plain = await service.request({ url: `/docs/${name}` });
    expect(plain.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    const script = await service.request({ url: `/docs/${name}`, headers: { 'accept-encoding': 'gzip, br' } });
    expect(brotliDecompressSync(script.rawPayload).equals(plain.rawPayload)).toBe(true);
    expect(script.rawPayload.length).toBeLessThan(plain.rawPayload.length / 3);
    expect((await service.request({ url: '/docs/js/scalar-0000000000000000.js' })).statusCode).toBe(404);
  });
});

describe('a stored file (HDR-17, UPL-32)', () => {
  it('has an ETag for If-None-Match and If-Range', async () => {
    const client = await createBuilderClient(service, 'A');
    const { id } = await client.createPhoto();
    const { imageUrl } = await client.sendOk('GET', `/photos/${id}`);
    const { pathname, search } = new URL(imageUrl);
    const get = (headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') =>
      service.request({ method, url: `${pathname}${search}`, headers });
    const whole = await get({ 'accept-encoding': 'br' });
    const etag = whole.headers.etag as string;
    expect(whole.headers).not.toHaveProperty('content-encoding');
    for (const method of ['GET', 'HEAD'] as const) {
      const known = await get({ 'if-none-match': etag }, method);
      expect([known.statusCode, known.rawPayload.length]).toEqual([304, 0]);
      expect(known.headers).not.toHaveProperty('content-length');
    }
    expect((await get({ range: 'bytes=0-9', 'if-range': etag })).statusCode).toBe(206);
    expect((await get({ range: 'bytes=0-9', 'if-range': '"other"' })).statusCode).toBe(200);
    const another = await client.sendOk('GET', `/photos/${(await client.createPhoto()).id}`);
    const url = new URL(another.imageUrl);
    const other = await service.request({ url: `${url.pathname}${url.search}`, headers: { 'if-none-match': etag } });
    expect(other.statusCode).toBe(200);
  });
});
