import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerConsoleFiles } from '../../../src/console/server/files.ts';
import { installErrorHandler } from '../../../src/http/errors.ts';

const FILES = {
  'index.html': '<!doctype html><title>Console</title>',
  'graphiql.html': '<!doctype html><title>GraphiQL</title>',
  'assets/main-4f2a.js': 'export {};',
  '.fingerprint': 'abc',
  'icon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
};

/** Folder that holds the console's folder and a file that must not be served. */
let parent: string;
let folder: string;
let app: FastifyInstance;
let limited = 0;

async function createApp(from: string, production = false): Promise<FastifyInstance> {
  const created = Fastify();
  installErrorHandler(created);
  await registerConsoleFiles(created, {
    folder: from,
    images: ['https://photos.example'],
    production,
    limitPageRequest: async () => {
      limited++;
    },
  });
  return created;
}

beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'builder-api-console-'));
  folder = join(parent, 'console');
  await mkdir(join(folder, 'assets'), { recursive: true });
  for (const [name, text] of Object.entries(FILES)) await writeFile(join(folder, name), text);
  await writeFile(join(parent, 'console-secret.txt'), 'private text');
  app = await createApp(folder);
});
afterAll(async () => {
  await app.close();
  await rm(parent, { recursive: true });
});

const get = (url: string, headers = {}) => app.inject({ url, headers });

describe('GET /console', () => {
  it.each(['/console', '/console/', '/console/people', '/console/projects/proj_a/attendance?date=2026-06-01'])(
    '%s is the page, for every route of the browser, which no browser keeps (CON-12)',
    async (url) => {
      const response = await get(url);
      expect(response).toMatchObject({ statusCode: 200, body: FILES['index.html'] });
      expect(response.headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
      });
    },
  );

  it('allows scripts and styles of this origin only, and images of the store (CON-13)', async () => {
    const policy = String((await get('/console')).headers['content-security-policy']);
    expect(policy).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: https://photos.example; " +
        "font-src 'self' data:; connect-src 'self'; worker-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    );
  });

  it.each([
    ['/console/explorer', FILES['index.html']],
    ['/console/explorer/', FILES['index.html']],
    ['/graphiql', FILES['graphiql.html']],
  ])('allows style elements on %s, a page of GraphiQL (CON-13)', async (url, body) => {
    const response = await get(url);
    expect(response.body).toBe(body);
    const policy = String(response.headers['content-security-policy']);
    expect(policy).toContain("style-src 'self' 'unsafe-inline';");
    expect(policy).toContain("script-src 'self';");
  });

  it('does not serve GraphiQL in production', async () => {
    const production = await createApp(folder, true);
    for (const url of ['/graphiql', '/console/graphiql.html'])
      expect((await production.inject(url)).statusCode, url).toBe(404);
    expect((await production.inject('/console')).statusCode).toBe(200);
    await production.close();
  });

  it('caches files with a hash for ever, and revalidates the others (CON-12)', async () => {
    const asset = await get('/console/assets/main-4f2a.js');
    expect(asset.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
    });
    const icon = await get('/console/icon.svg');
    const again = await get('/console/icon.svg', { 'if-none-match': icon.headers.etag });
    expect([icon.statusCode, again.statusCode, again.body]).toEqual([200, 304, '']);
  });

  it.each([
    '/console/assets/old-1.js',
    '/console/.fingerprint',
    '/console/favicon.ico',
    '/console/..%2fconsole-secret.txt',
    '/console/%2e%2e/console-secret.txt',
  ])('is 404 for a file that is not built: %s', async (url) => {
    const response = await get(url);
    expect(response.statusCode).toBe(404);
    expect(response.body).not.toContain('private text');
  });

  it('counts pages and unknown files to the rate limit of the address', async () => {
    limited = 0;
    await get('/console/assets/main-4f2a.js');
    expect(limited).toBe(0);
    await get('/console/people');
    await get('/console/missing.js');
    expect(limited).toBe(2);
  });
});

describe('other methods on /console', () => {
  it('are 405', async () => {
    const response = await app.inject({ method: 'POST', url: '/console/people' });
    expect(response).toMatchObject({ statusCode: 405, headers: expect.objectContaining({ allow: 'GET, HEAD' }) });
  });
});

describe('a service without the built console', () => {
  it('says how to build it, with 503', async () => {
    const other = await createApp(join(folder, 'none'));
    const response = await other.inject({ url: '/console/people' });
    expect(response).toMatchObject({ statusCode: 503, body: expect.stringContaining('npm run build') });
    await other.close();
  });
});
