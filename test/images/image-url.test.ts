import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { approveImageHost, revokeImageHost } from '../../src/domain/access/image-hosts.ts';
import { listImageHosts } from '../../src/domain/access/list-access.ts';
import type { Network } from '../../src/network/guarded-network.ts';
import { isPublicAddress } from '../../src/network/public-address.ts';
import { parseImageHost, RemoteDownloader } from '../../src/storage/remote-downloader.ts';
import { Spool } from '../../src/storage/spool.ts';
import { OPERATOR } from '../support/audit.ts';
import { type BuilderClient, createBuilderClient } from '../support/builder-client.ts';
import { type Service, startService } from '../support/harness.ts';
import { createDatedPicture, createPicture } from '../support/images.ts';
import { freePort } from '../support/ports.ts';
import { addProject } from '../support/rows.ts';

const pem = readFileSync(join(import.meta.dirname, '../fixtures', 'images-test.pem'), 'utf8');

/** Handlers of the image server by path. */
const pages: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {
  '/hang': () => undefined,
  '/drip': (_request, response) => {
    response.writeHead(200);
    const timer = setInterval(() => response.write('x'), 50);
    response.on('close', () => clearInterval(timer));
  },
  '/huge': (_request, response) => {
    response.writeHead(200, { 'content-length': 41_943_041 });
    response.write('x');
  },
  '/endless': (_request, response) => {
    response.writeHead(200);
    const block = Buffer.alloc(1_000_000);
    const more = () => {
      while (response.write(block));
    };
    response.on('drain', more);
    more();
  },
  '/text': (_request, response) => void response.end('no image at all, just text'),
  '/missing': (_request, response) => void response.writeHead(404).end(),
  '/cut': (_request, response) => {
    response.writeHead(200, { 'content-length': 1000 });
    response.write('x');
    setTimeout(() => response.destroy(), 50);
  },
};

let server: Server;
let port: number;
/** Addresses that the resolver returns, by host name. */
const names: Record<string, string[]> = {};

const resolve = ((hostname: string, _options: object, done: (error: Error | null, found: object[]) => void) => {
  const addresses = names[hostname];
  if (!addresses) return done(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }), []);
  done(
    null,
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
  );
}) as NonNullable<Network['resolve']>;

beforeAll(async () => {
  port = await freePort();
  const jpeg = await createDatedPicture('2025:03:04 05:06:07');
  const redirect = (status: number, to: () => string) => (_request: IncomingMessage, response: ServerResponse) =>
    void response.writeHead(status, { location: to() }).end();
  pages['/a.jpg'] = (_request, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end(jpeg);
  pages['/moved'] = redirect(302, () => '/a.jpg');
  pages['/away'] = redirect(302, () => `https://other.test:${port}/a.jpg`);
  pages['/plain'] = redirect(301, () => `http://images.test:${port}/a.jpg`);
  pages['/port'] = redirect(307, () => 'https://images.test/a.jpg');
  pages['/inside'] = redirect(302, () => 'https://127.0.0.1/a.jpg');
  pages['/metadata'] = redirect(302, () => 'https://169.254.169.254/latest/meta-data');
  pages['/loop'] = redirect(302, () => '/loop');
  server = createServer({ key: pem, cert: pem }, (request, response) => {
    const page = pages[request.url!];
    if (page) page(request, response);
    else response.writeHead(404).end();
  });
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** A network configuration that allows public addresses and the loopback address of the test's server. */
const testNetwork: Network = {
  isAllowedAddress: (address) => address === '127.0.0.1' || isPublicAddress(address),
  resolve,
  ca: pem,
};

describe('an address', () => {
  it.each([
    ...['0.0.0.0', '10.1.2.3', '100.64.0.1', '127.0.0.1', '127.255.255.254', '169.254.169.254', '172.16.0.1'],
    ...['172.31.255.255', '192.0.0.192', '192.168.1.1', '198.18.0.1', '224.0.0.1', '240.0.0.1', '255.255.255.255'],
    ...[
      '::',
      '::1',
      '::ffff:127.0.0.1',
      '::ffff:10.0.0.1',
      '::ffff:8.8.8.8',
      '64:ff9b::a00:1',
      'fc00::1',
      'fd00:ec2::254',
    ],
    ...['fe80::1', 'fec0::1', 'ff02::1', '2002:7f00:1::', '2001::1', '2001:db8::1', '100::1', 'localhost', ''],
  ])('is not public: %s', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each(['8.8.8.8', '1.1.1.1', '172.32.0.1', '192.0.1.1', '2606:4700:4700::1111', '2a00:1450:4001::1'])(
    'is public: %s',
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );
});

describe('a download', () => {
  let folder: string;
  let spool: Spool;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'remote-'));
    spool = new Spool(folder);
    names['images.test'] = ['127.0.0.1'];
    names['other.test'] = ['127.0.0.1'];
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const fetchFrom = (url: string, network: Partial<Network> = {}) =>
    new RemoteDownloader(spool, { ...testNetwork, ...network }).download(url, 41_943_040);
  const at = (path: string, host = 'images.test') => `https://${host}:${port}${path}`;

  it('is written to the spool, also after a redirect on the same host (UPL-26)', async () => {
    for (const path of ['/a.jpg', '/moved']) {
      const file = await fetchFrom(at(path));
      expect(file.size).toBeGreaterThan(100);
      await spool.discard(file.path);
    }
  });

  it.each([
    ['/away', 'redirects to another host'],
    ['/plain', 'redirects to another host'],
    ['/port', 'redirects to another host'],
    ['/inside', 'redirects to another host'],
    ['/metadata', 'redirects to another host'],
    ['/loop', 'redirects too often'],
    ['/missing', 'status 404'],
    ['/huge', 'more than 41943040 bytes'],
    ['/endless', 'more than 41943040 bytes'],
    ['/cut', 'could not be downloaded'],
  ])('fails at %s: %s (UPL-26)', async (path, message) => {
    await expect(fetchFrom(at(path))).rejects.toThrow(message);
    expect(await readdir(folder)).toEqual([]);
  });

  it.each(['/hang', '/drip'])('ends at its deadline: %s', async (path) => {
    const timeout = vi.spyOn(AbortSignal, 'timeout');
    onTestFinished(() => timeout.mockRestore());
    await expect(fetchFrom(at(path), { timeoutMs: 300 })).rejects.toThrow('took too long');
    expect(timeout).toHaveBeenCalledExactlyOnceWith(300);
    expect(await readdir(folder)).toEqual([]);
  });

  it('never connects to an address that is not public, however the URL or the name leads there (UPL-26)', async () => {
    const strict = { isAllowedAddress: isPublicAddress };
    names['inside.test'] = ['127.0.0.1'];
    names['both.test'] = ['8.8.8.8', '10.0.0.1'];
    names['mapped.test'] = ['::ffff:127.0.0.1'];
    names['metadata.test'] = ['169.254.169.254'];
    const hosts = [
      'inside.test',
      'both.test',
      'mapped.test',
      'metadata.test',
      '127.0.0.1',
      '[::1]',
      '[::ffff:7f00:1]',
      '2130706433',
      '0x7f.1',
    ];
    for (const host of hosts)
      await expect(fetchFrom(at('/a.jpg', host), strict), host).rejects.toThrow('public address');
  });

  it('checks the address that it is connected to, not only the one that the name had (UPL-26)', async () => {
    let asked = 0;
    const allows = () => asked++ === 0;
    await expect(fetchFrom(at('/a.jpg'), { isAllowedAddress: allows })).rejects.toThrow('public address');
    expect(asked).toBe(2);
  });

  it('fails for a name that does not resolve, and for a certificate of another host', async () => {
    await expect(fetchFrom(at('/a.jpg', 'unknown.test'))).rejects.toThrow('could not be downloaded');
    names['wrong.test'] = ['127.0.0.1'];
    await expect(fetchFrom(at('/a.jpg', 'wrong.test'))).rejects.toThrow('could not be downloaded');
    await expect(fetchFrom(at('/a.jpg'), { ca: undefined })).rejects.toThrow('could not be downloaded');
  });

  it('must be HTTPS without credentials (UPL-25)', () => {
    for (const url of [
      'http://images.test/a',
      'ftp://images.test/a',
      'file:///etc/passwd',
      'images.test/a',
      '//images.test/a',
    ]) {
      expect(() => parseImageHost(url)).toThrow('HTTPS');
    }
    expect(() => parseImageHost('https://a:b@images.test/a')).toThrow('credentials');
    expect(parseImageHost('HTTPS://Images.Test:443/a')).toBe('images.test');
    expect(parseImageHost('https://images.test:8443/a')).toBe('images.test:8443');
  });
});

describe('imageUrl', () => {
  const outside: Network = { ...testNetwork };
  let service: Service;
  let client: BuilderClient;
  const url = (path: string, host = 'images.test') => `https://${host}:${port}${path}`;

  beforeAll(async () => {
    service = await startService({}, { outside });
    client = await createBuilderClient(service, 'A');
    const place = { database: service.databases.au1, clock: service.clock, source: OPERATOR };
    expect(await approveImageHost(place, `Images.test:${port}`)).toEqual({
      host: `images.test:${port}`,
      changed: true,
    });
    expect(await approveImageHost(place, `images.test:${port}`)).toMatchObject({ changed: false });
  });
  afterAll(() => service.stop());

  it('makes a photo of an image on an approved host, by its bytes, with its date in the time zone of the builder (PHO-7, UPL-25, UPL-26)', async () => {
    const body = { fileName: 'a.jpg', imageUrl: url('/a.jpg'), externalSourceId: 'by-url' };
    const photo = await client.sendOk('POST', '/photos', body, 201);
    expect(photo).toMatchObject({ contentType: 'image/jpeg', photoTakenDate: '2025-03-03T18:06:07.000Z' });
    expect((await client.download(photo.imageUrl)).headers['content-type']).toBe('image/jpeg');
    const [row] = await service.databases.au1.fork().execute('select key from photo where id = ?', [photo.id]);
    expect(row!.key).toMatch(new RegExp(`^photos/${client.builderId}/`));
    expect((await client.sendOk('POST', '/photos', body, 200)).id).toBe(photo.id);
  });

  it.each([
    ['/text', 'images.test', /accepted type/],
    ['/missing', 'images.test', /404/],
    ['/hang', 'images.test', /took too long/],
    ['/away', 'images.test', /another host/],
    ['/a.jpg', 'other.test', /not approved/],
    ['/a.jpg', 'sub.images.test', /not approved/],
    ['/a.jpg', 'images.test.evil.test', /not approved/],
  ])('is 400 at %s of %s (UPL-25, UPL-26)', async (path, host, message) => {
    // Only what never ends is to reach its deadline.
    if (path === '/hang') outside.timeoutMs = 300;
    onTestFinished(() => void delete outside.timeoutMs);
    const answer = await client.send('POST', '/photos', { fileName: 'a.jpg', imageUrl: url(path, host) });
    expect(answer.statusCode).toBe(400);
    expect(answer.json().errors).toEqual([{ fieldName: 'imageUrl', message: expect.stringMatching(message) }]);
  });

  it('is accepted by the bulk upsert, whose failures are independent (PHO-25)', async () => {
    const projectId = await addProject(service, client.builderId);
    const photos = ['/a.jpg', '/text', '/cut', '/moved'].map((path) => ({
      externalSourceId: path,
      imageUrl: url(path),
    }));
    const result = await client.sendOk('POST', '/photo-gallery/bulk-upsert', {
      ...{ externalSourceId: 'page', sourceApp: 'app', projectId, folderName: 'Page' },
      photos: [...photos, { externalSourceId: 'own', imageAttachment: await client.upload(await createPicture()) }],
    });
    expect(result.createdPhotos.map((photo: { externalSourceId: string }) => photo.externalSourceId)).toEqual([
      '/a.jpg',
      '/moved',
      'own',
    ]);
    expect(result.failedPhotos.map((photo: { code: string }) => photo.code)).toEqual([
      'INVALID_IMAGE',
      'DOWNLOAD_FAILED',
    ]);
    expect(await client.sendOk('GET', `/photos/${result.createdAttachmentIds[0]}`)).toMatchObject({
      fileName: 'a.jpg',
    });
  });

  it('is rejected once the host is revoked (UPL-25)', async () => {
    const place = { database: service.databases.au1, clock: service.clock, source: OPERATOR };
    expect(await listImageHosts(place, {}, { limit: 10 })).toMatchObject({ hosts: [{ host: `images.test:${port}` }] });
    expect(await revokeImageHost(place, `images.test:${port}`)).toMatchObject({ changed: true });
    const answer = await client.send('POST', '/photos', { fileName: 'a.jpg', imageUrl: url('/a.jpg') });
    expect(answer.json().errors[0].message).toMatch('not approved');
    for (const name of ['', 'localhost', '127.0.0.1', 'https://a.example', 'a.example/b', 'a b.example', '[::1]']) {
      expect(() => approveImageHost(place, name), name).toThrow('is not the name of a host');
    }
  });
});
