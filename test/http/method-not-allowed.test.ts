import { describe, expect, it } from 'vitest';
import { useService } from '../support/harness.ts';

/** Methods that Fastify routes. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'QUERY'] as const;

const service = useService({ METRICS_TOKEN: 'metrics-token-of-a-test' });

describe.each([
  ['/', 'GET, HEAD'],
  ['/favicon.ico', 'GET, HEAD'],
  ['/openapi.json', 'GET, HEAD'],
  ['/docs', 'GET, HEAD'],
  ['/docs/', 'GET, HEAD'],
  ['/docs/js/scalar.js', 'GET, HEAD'],
  ['/health/live', 'GET, HEAD'],
  ['/health/ready', 'GET, HEAD'],
  ['/metrics', 'GET, HEAD'],
  ['/.well-known/oauth-authorization-server', 'GET, HEAD'],
  ['/.well-known/oauth-protected-resource/mcp', 'GET, HEAD'],
  ['/oauth/authorize', 'GET, HEAD, POST'],
  ['/oauth/sign-out', 'POST'],
  ['/oauth/signed-out', 'GET, HEAD'],
  ['/account/applications', 'GET, HEAD, POST'],
  ['/reports/phrep_none', 'GET, HEAD'],
  ['/reports/sign-out', 'POST'],
  ['/console', 'GET, HEAD'],
  ['/console/people', 'GET, HEAD'],
  ['/console/graphql', 'POST'],
  ['/storage/au1/uploads/a', 'GET, HEAD, OPTIONS, PUT'],
])('405 of the public path %s', (url, allow) => {
  const others = METHODS.filter((method) => method !== 'OPTIONS' && !allow.split(', ').includes(method));

  it.each(others)('is for %s without a token, with Allow (ERR-14, ACC-17)', async (method) => {
    const { statusCode, headers } = await service.request({ method: method as 'POST', url });
    expect([statusCode, headers.allow]).toEqual([405, allow]);
  });
});

describe('OPTIONS without Origin', () => {
  it.each([
    ['/builders', 'GET, HEAD'],
    ['/builders/buil_none/photos/att_none', 'GET, HEAD, PATCH, DELETE'],
    ['/builders/buil_none/attachments/upload', 'POST'],
    ['/graphql', 'GET, HEAD, POST'],
    ['/oauth/token', 'POST'],
    ['/health/live', 'GET, HEAD'],
  ])('%s is 204 with Allow, without a token (ERR-14)', async (url, allow) => {
    const { statusCode, headers, body } = await service.request({ method: 'OPTIONS', url });
    const methods = String(headers.allow).split(', ').sort();
    expect([statusCode, methods, body]).toEqual([204, allow.split(', ').sort(), '']);
  });
});

describe('405 of an operation', () => {
  it('is for HEAD where the path has no GET (ERR-14)', async () => {
    const token = await service.tokenOf('A');
    const url = `/builders/${service.findDemoClient('A').builderIds[0]}/attachments/upload`;
    const { statusCode, headers } = await service.request({
      method: 'HEAD',
      url,
      headers: { authorization: `Bearer ${token}` },
    });
    expect([statusCode, headers.allow]).toEqual([405, 'POST']);
  });
});

describe('an unknown path', () => {
  it.each(METHODS)('is no error of the service for %s, without a token (ERR-13)', async (method) => {
    const { statusCode } = await service.request({ method: method as 'POST', url: '/nowhere' });
    // QUERY needs a Content-Type (RFC 10008), without which Fastify calls no handler.
    expect(statusCode).toBe(method === 'QUERY' ? 415 : 401);
  });

  it('has every method that Fastify routes', () => {
    expect([...METHODS].sort()).toEqual([...service.app.supportedMethods].sort());
  });
});

describe('the routes', () => {
  it('have every method at every path: pass the path of a new route to `rejectOtherMethods` (ERR-13, ERR-14)', () => {
    const paths = service.app.printRoutes({ commonPrefix: false }).trim().split('\n');
    const isComplete = (path: string) => METHODS.every((method) => path.includes(method));
    expect(paths.filter((path) => !isComplete(path))).toEqual([]);
  });
});
