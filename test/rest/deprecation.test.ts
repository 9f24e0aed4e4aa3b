import { Query, Resolver } from 'type-graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { resolvers as registered } from '../../resolvers/registry.ts';
import { buildServiceSchema } from '../../resolvers/service-schema.ts';
import { type Deprecation, Rest } from '../../schema/rest.ts';
import { createRouteTable } from '../../schema/route-table.ts';
import { createServiceDefinition } from '../../src/app.ts';
import { BASE_URL, type Service, startService } from '../support/harness.ts';

const resolvers = registered as unknown as (new () => object)[];
const count = resolvers.length;

/** Declares a deprecated operation in the schema of this test file; `name` is its field. */
function declareOperation(name: string, deprecated: Deprecation | undefined, deprecationReason?: string) {
  class DeprecatedResolver {
    read(): string {
      return 'still here';
    }
  }
  const method = Object.getOwnPropertyDescriptor(DeprecatedResolver.prototype, 'read')!;
  Query(() => String, { name, description: 'An old read.', deprecationReason })(
    DeprecatedResolver.prototype,
    'read',
    method,
  );
  const publish = Rest(`GET /${name}`, { scope: 'read:builders', tag: 'Builders', deprecated });
  publish(DeprecatedResolver.prototype, 'read', method);
  Resolver()(DeprecatedResolver);
  resolvers.push(DeprecatedResolver);
}

const REASON = 'Read `/builders` instead.';
const LINK = `<${BASE_URL}/docs>; rel="deprecation"; type="text/html"`;

let service: Service;

beforeAll(async () => {
  declareOperation('oldRead', { since: '2026-11-22' }, REASON);
  declareOperation('endingRead', { since: '2026-11-22', sunset: '2027-11-22' }, REASON);
  service = await startService({}, { definition: await createServiceDefinition() });
});

afterAll(async () => {
  // Test files share the list.
  resolvers.length = count;
  await service.stop();
});

describe('a deprecated operation (VER-10)', () => {
  it('has the day of its deprecation and a link to the reference in every response', async () => {
    const responses = [
      await service.get('/oldRead', await service.tokenOf('A')),
      await service.get('/oldRead', 'no token'),
      await service.get('/oldRead', await service.tokenOf('A', ['read:projects'])),
    ];
    expect(responses.map(({ statusCode }) => statusCode)).toEqual([200, 401, 403]);
    // 2026-11-22T00:00:00Z in seconds, as RFC 9745 writes a date.
    const help = ['UNAUTHENTICATED', 'INSUFFICIENT_SCOPE'].map(
      (code) => `, </docs/guides/error-codes#${code}>; rel="help"`,
    );
    for (const [index, { headers }] of responses.entries())
      expect(headers).toMatchObject({ deprecation: '@1795305600', link: `${LINK}${['', ...help][index]}` });
    expect(responses[0]!.body).toBe('still here');
    expect(responses[0]!.headers).not.toHaveProperty('sunset');
  });

  it('has the day of its removal once that is decided', async () => {
    const { headers } = await service.get('/endingRead', await service.tokenOf('A'));
    expect(headers).toMatchObject({
      deprecation: '@1795305600',
      sunset: 'Mon, 22 Nov 2027 00:00:00 GMT',
      link: `${LINK}, <${BASE_URL}/docs>; rel="sunset"; type="text/html"`,
    });
  });

  it('is marked in the OpenAPI document, with the days and the replacement', async () => {
    const { paths } = (await service.request({ url: '/openapi.json' })).json();
    expect(paths['/oldRead'].get).toMatchObject({
      deprecated: true,
      description: expect.stringContaining(`Deprecated since 2026-11-22. ${REASON}`),
    });
    expect(paths['/endingRead'].get.description).toContain('Deprecated since 2026-11-22, and removed on 2027-11-22.');
  });

  it('is marked in the GraphQL schema', () => {
    const { oldRead } = buildServiceSchema().getQueryType()!.getFields();
    expect(oldRead!.deprecationReason).toBe(REASON);
  });
});

describe('an operation that is not deprecated', () => {
  it('has none of the headers', async () => {
    const { statusCode, headers } = await service.get('/builders', await service.tokenOf('A'));
    expect(statusCode).toBe(200);
    for (const name of ['deprecation', 'sunset', 'link']) expect(headers).not.toHaveProperty(name);
  });
});

describe('the table of routes', () => {
  it.each([
    ['a reason without a day', 'noDay', undefined, REASON, 'needs both a deprecationReason and the day'],
    ['a day without a reason', 'noReason', { since: '2026-11-22' }, undefined, 'needs both a deprecationReason'],
    [
      'a removal within a year',
      'soon',
      { since: '2026-11-22', sunset: '2027-11-21' },
      REASON,
      'must stay for twelve months',
    ],
  ])('rejects %s', (_what, name, deprecated, reason, message) => {
    declareOperation(name, deprecated, reason);
    try {
      expect(() => createRouteTable(buildServiceSchema())).toThrow(`${name} ${message}`);
    } finally {
      resolvers.pop();
    }
  });
});
