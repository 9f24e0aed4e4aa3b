import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerDocs } from '../../src/http/documents/docs.ts';
import { PACKAGE_ROOT } from '../../src/shared/version.ts';
import { type Service, startService } from '../support/harness.ts';

let app: FastifyInstance;
/** HTML of every page by path. */
const pages = new Map<string, string>();

const idsOf = (html: string) => [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!);

const get = async (url: string) => {
  const response = await app.inject(url);
  expect(response.statusCode, url).toBe(200);
  return response;
};

beforeAll(async () => {
  const document = JSON.parse(await readFile(join(PACKAGE_ROOT, 'schema', 'openapi.json'), 'utf8'));
  app = Fastify();
  await registerDocs(app, { document, baseUrl: 'http://service', production: true });
  const paths = ['/docs/', '/docs/guides'];
  for (const path of paths) {
    const html = (await get(path)).body;
    pages.set(path, html);
    for (const [, href] of html.matchAll(/href="(\/docs\/guides[^"#]*)/g))
      if (!paths.includes(href!)) paths.push(href!);
  }
});

afterAll(() => app.close());

describe('GET /docs/guides', () => {
  it('serves the guides and the rules of the contract', () => {
    expect([...pages.keys()]).toEqual(
      expect.arrayContaining(['/docs/guides/stay-in-sync', '/docs/guides/contract/errors', '/docs/guides/error-codes']),
    );
    expect(pages.get('/docs/guides/contract/errors')).toContain('<li id="ERR-1">');
  });

  it('has pages whose links all lead to a page, with the anchor that they name', () => {
    const broken = [...pages].flatMap(([path, html]) =>
      [...html.matchAll(/<a href="([^"]*)"/g)].flatMap(([, href]) => {
        const { origin, pathname, hash } = new URL(href!, `http://service${path}`);
        if (origin !== 'http://service' || !pathname.startsWith('/docs')) return [];
        const target = pages.get(pathname);
        const isComplete = target && (hash === '' || idsOf(target).includes(decodeURIComponent(hash.slice(1))));
        return isComplete ? [] : `${path}: ${href}`;
      }),
    );
    expect(broken).toEqual([]);
    expect(pages.get('/docs/guides/error-codes')).toContain('<a href="/docs/#tag/');
  });

  it('has each id once on a page', () => {
    for (const [path, html] of pages) {
      const ids = idsOf(html);
      expect(
        ids.filter((id, index) => ids.indexOf(id) < index),
        path,
      ).toEqual([]);
    }
  });

  it('loads nothing but styles, and runs no script', async () => {
    for (const [path, html] of pages) expect(html, path).not.toMatch(/<script|\son\w+=|javascript:|src=/i);
    const { headers } = await get('/docs/guides/webhooks');
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'self';/);
  });

  it('is 404 for a page for operators, and for other files', async () => {
    for (const path of ['operations', 'decisions/README', '../package.json', '%2e%2e/package'])
      expect((await app.inject(`/docs/guides/${path}`)).statusCode, path).toBe(404);
  });
});

describe('GET /docs/search', () => {
  it('finds the sections that contain all words, with a link to each', async () => {
    const { body } = await get('/docs/search?q=webhook%20SECRET');
    const [, href] = /<main>.*?<a href="([^"]+)"/s.exec(body)!;
    const [path, anchor] = href!.split('#');
    expect(pages.get(path!)).toBeDefined();
    if (anchor) expect(idsOf(pages.get(path!)!)).toContain(anchor);
    expect(body).toContain('value="webhook SECRET"');
  });

  it.each(['', 'q=', 'q=xyzzyx', 'q=a&q=b', `q=${encodeURIComponent('<b onclick="x">')}`, 'q=%ff%00'])(
    'shows a page without markup of the query for %j',
    async (query) => {
      const { body, headers } = await get(`/docs/search?${query}`);
      expect(body).not.toMatch(/<b |onclick="x"/);
      expect(headers['content-security-policy']).toMatch(/^default-src 'none'/);
    },
  );
});

describe('errors', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  it('link to the explanation of their code (ERR-29)', async () => {
    const responses = [
      await service.request({ url: '/builders' }),
      await service.request({
        url: '/builders',
        headers: { authorization: `Bearer ${await service.tokenOf('A')}`, 'x-service-region-id': 'xx' },
      }),
      await service.request({ url: '/nothing', headers: { authorization: `Bearer ${await service.tokenOf('A')}` } }),
      await service.request({ method: 'PUT', url: '/health/live' }),
    ];
    expect(responses.map(({ statusCode }) => statusCode)).toEqual([401, 400, 404, 405]);
    for (const { headers } of responses) {
      const [, path, anchor] = /^<([^#>]+)#([^>]+)>; rel="help"$/.exec(String(headers.link))!;
      expect(idsOf(pages.get(path!)!), String(headers.link)).toContain(anchor);
    }
  });
});
