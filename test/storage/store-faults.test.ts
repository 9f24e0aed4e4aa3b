import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BuilderClient, createBuilderClient } from '../support/builder-client.ts';
import { type Service, startService } from '../support/harness.ts';
import { mountSmallDisk, mountUnavailableReason } from '../support/small-disk.ts';

const BOUNDARY = 'a-boundary-of-ours';

/** A multipart form with one file of that size. */
const createForm = (size: number) =>
  Buffer.concat([
    Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="type"\r\n\r\nattachment\r\n`),
    Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.jpg"\r\n`),
    Buffer.from('Content-Type: image/jpeg\r\n\r\n'),
    Buffer.alloc(size, 7),
    Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
  ]);

/** Sends requests of one client over a socket, because a fault may also close the connection. */
class ApiClient {
  constructor(
    readonly origin: string,
    readonly client: BuilderClient,
  ) {}

  static async of(service: Service): Promise<ApiClient> {
    const { port } = service.app.server.address() as AddressInfo;
    return new ApiClient(`http://127.0.0.1:${port}`, await createBuilderClient(service, 'A'));
  }

  form(size: number): Promise<Response> {
    const { builderId, token } = this.client;
    const headers = { authorization: `Bearer ${token}`, 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };
    const url = `${this.origin}/builders/${builderId}/attachments/upload`;
    return fetch(url, { method: 'POST', headers, body: createForm(size) });
  }

  async put(size: number): Promise<Response> {
    const bytes = Buffer.alloc(size, 7);
    const { pathname, search } = new URL((await this.client.presign(bytes)).uploadUrl);
    const headers = { 'content-type': 'image/jpeg' };
    return fetch(`${this.origin}${pathname}${search}`, { method: 'PUT', headers, body: bytes });
  }
}

async function expectUnavailable(response: Response): Promise<void> {
  const { code } = (await response.json()) as { code: string };
  expect([response.status, response.headers.get('retry-after'), code]).toEqual([503, '1', 'UNAVAILABLE']);
}

if (mountUnavailableReason) console.warn(`The full disk is not tested: ${mountUnavailableReason}`);

describe.skipIf(mountUnavailableReason)('a full disk', () => {
  const SMALL = 50_000;
  const LARGE = 4_000_000;
  let service: Service;
  let unmount: () => void;
  let caller: ApiClient;

  beforeAll(async () => {
    service = await startService();
    await service.app.listen({ host: '127.0.0.1', port: 0 });
    unmount = mountSmallDisk(join(service.dataDir, 'storage'), 1_048_576);
    caller = await ApiClient.of(service);
  });

  afterAll(async () => {
    unmount();
    await service.stop();
  });

  it.each([
    ['a form', (size: number) => caller.form(size), 201],
    ['a PUT', (size: number) => caller.put(size), 200],
  ])('makes %s that does not fit 503, and leaves nothing behind: what fits is taken (UPL-33)', async (_, send, ok) => {
    await expectUnavailable(await send(LARGE));
    await expectUnavailable(await send(LARGE));
    expect((await send(SMALL)).status).toBe(ok);
  });
});

describe('an S3 store', () => {
  let store: Server;
  let service: Service;
  let caller: ApiClient;
  let calls = 0;

  beforeAll(async () => {
    store = createServer((request, response) => {
      calls++;
      request.resume();
      response.writeHead(500, { 'content-type': 'application/xml' });
      response.end('<Error><Code>InternalError</Code><Message>disk 7 of node 12 is broken</Message></Error>');
    }).listen(0, '127.0.0.1');
    await once(store, 'listening');
    const { port } = store.address() as AddressInfo;
    service = await startService({
      ...{ STORAGE: 's3', S3_BUCKET: 'attachments', S3_ENDPOINT: `http://127.0.0.1:${port}` },
      ...{ S3_ACCESS_KEY_ID: 'key', S3_SECRET_ACCESS_KEY: 'secret' },
    });
    await service.app.listen({ host: '127.0.0.1', port: 0 });
    caller = await ApiClient.of(service);
  });

  afterAll(async () => {
    store.close();
    await service.stop();
  });

  const download = () => {
    const { client, origin } = caller;
    const sql = `update builder set logo_key = 'logos/${client.builderId}/a.png' where id = ?`;
    return service.databases.au1
      .fork()
      .execute(sql, [client.builderId])
      .then(async () => {
        const builder = (await client.sendOk('GET', '')) as { logoUrl: string };
        const { pathname, search } = new URL(builder.logoUrl);
        return fetch(`${origin}${pathname}${search}`);
      });
  };

  // UPL-33
  it('that responds with an error is 503 without its message, after some attempts at a read', async () => {
    await expectUnavailable(await caller.form(10_000));
    calls = 0;
    await expectUnavailable(await download());
    expect(calls).toBeGreaterThan(1);
  });

  it('that is not there is 503 (ERR-19, UPL-33)', async () => {
    store.closeAllConnections();
    store.close();
    await expectUnavailable(await caller.form(10_000));
    await expectUnavailable(await download());
  });
});
