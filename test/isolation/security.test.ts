import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Service, startService } from '../support/harness.ts';

let service: Service;
let token: string;

beforeAll(async () => {
  service = await startService({
    ...{ NODE_ENV: 'production', BASE_URL: 'https://api.example.com', METRICS_TOKEN: 'metrics-token-of-a-test' },
    // Required in production; the test's own databases are used.
    ...{ DATABASE_URL_AU1: 'postgresql://localhost/none', DATABASE_URL_US1: 'postgresql://localhost/none_us1' },
  });
  token = await service.tokenOf('A');
});

afterAll(() => service?.stop());

const RESPONSES: [what: string, url: string, authorized?: boolean][] = [
  ['a record', '/me', true],
  ['a refusal', '/me'],
  ['a path that is not there', '/nowhere', true],
  ['GraphQL', '/graphql?query=%7Bme%7Bid%7D%7D', true],
  ['the reference page', '/docs/'],
  ['a guide', '/docs/guides/rest'],
  ['a search of the guides', '/docs/search?q=token'],
  ['the OpenAPI document', '/openapi.json'],
  ['the console', '/console/today'],
  ['the sign-in of the console', '/console/sign-in'],
  ['the page of GraphQL', '/graphql'],
  ['a page of the sign-in', '/oauth/authorize'],
  ['a photo report that nobody has signed in for', '/reports/phrep_none'],
  ['a signed URL without a signature', '/storage/au1/photos/x'],
  ['health', '/health/live'],
];

/** Public documents, which are revalidated. */
const PUBLIC = ['/docs/', '/docs/guides/rest', '/openapi.json'];

describe('the headers of an answer', () => {
  it.each(RESPONSES)(
    'keep browsers from guessing, framing, telling and keeping: %s (HDR-1, HDR-15)',
    async (_what, url, authorized) => {
      const { headers } = await service.app.inject({
        url,
        headers: { ...(authorized && { authorization: `Bearer ${token}` }), 'apollo-require-preflight': '1' },
      });
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'permissions-policy': expect.stringContaining('camera=()'),
        'cache-control': PUBLIC.includes(url) ? 'public, no-cache' : 'no-store',
        'strict-transport-security': 'max-age=31536000; includeSubDomains',
      });
      const policy = String(headers['content-security-policy']);
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).toMatch(/^default-src 'none'/);
      expect(policy.includes('script-src')).toBe(url === '/console/today');
      expect(headers).not.toHaveProperty('x-powered-by');
      expect(headers).not.toHaveProperty('server');
    },
  );

  it.each(['a b', 'a\u00e9', 'a'.repeat(129), '', '{"a":1}\u0085'])(
    'do not repeat a request id such as %j (HDR-14)',
    async (id) => {
      const { headers } = await service.app.inject({ url: '/me', headers: { 'x-request-id': id } });
      expect(headers['x-request-id']).not.toBe(id);
      expect(headers['x-request-id']).toMatch(/^[\x21-\x7e]{1,128}$/);
    },
  );
});

describe('the pages of the guides', () => {
  it.each(['/docs/', '/docs/guides/rest', '/docs/guides', '/docs/search?q=token'])(
    'run no script and load nothing from elsewhere: %s (ACC-17)',
    async (url) => {
      const { headers, body } = await service.app.inject({ url });
      expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'self'; /);
      expect(body).not.toMatch(/<script|\son\w+=|javascript:/i);
    },
  );

  it.each(['"><script>alert(1)</script>', '" onfocus=alert(1) autofocus x="', '</title><img src=x onerror=alert(1)>'])(
    'show what is searched for as text: %s',
    async (text) => {
      for (const q of [text, `token ${text}`, `limit&q=${text}`]) {
        const { statusCode, body } = await service.app.inject({ url: `/docs/search?q=${encodeURIComponent(q)}` });
        expect(statusCode).toBe(200);
        expect(body).not.toContain(text);
        expect(body).not.toMatch(/<script|<img|value="[^"]*"[^>]+on\w+=/i);
      }
    },
  );

  it.each([
    '/docs/guides/../../package.json',
    '/docs/guides/%2e%2e/operations',
    '/docs/guides/..%2foperations',
    '/docs/guides/operations',
    '/docs/guides/decisions',
    '/docs/guides/contract/../operations',
    '/docs/guides//etc/passwd',
    '/docs/guides/__proto__',
  ])('are those for integrators alone, not %s', async (url) => {
    expect((await service.app.inject({ url })).statusCode).toBeGreaterThanOrEqual(400);
  });
});

describe('the metrics', () => {
  it('name routes, never what is in a path, a query or a token', async () => {
    const url = '/builders/buil_hidden/photos?projectId=proj_hidden';
    await service.app.inject({ url, headers: { authorization: `Bearer ${token}` } });
    const { body } = await service.app.inject({
      url: '/metrics',
      headers: { authorization: 'Bearer metrics-token-of-a-test' },
    });
    expect(body).toContain('/builders/:builderId/photos');
    expect(body).not.toMatch(/hidden|Bearer|eyJ/);
  });
});
