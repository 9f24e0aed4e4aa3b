import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { arbitraryText } from '../support/arbitrary-text.ts';
import { operations } from '../support/definition.ts';
import { useService } from '../support/harness.ts';
import { createSamples, type Samples } from '../support/samples.ts';

const service = useService();
let token: string;
let samples: Samples;

beforeAll(async () => {
  token = await service.tokenOf('A');
  samples = await createSamples(service.databases.au1, service.findDemoClient('A').builderIds[0]!);
});

/** Text that often causes errors: quotes, control characters, percent signs, SQL, long runs, every plane of Unicode. */
const hostileText = fc.oneof(
  arbitraryText({ maxLength: 40 }),
  fc.string({ maxLength: 40 }),
  fc.constantFrom(
    "' or 1=1 --",
    '%00',
    '%',
    '%zz',
    '../..',
    '\u0000',
    '\ud800',
    'a'.repeat(500),
    '-0',
    'NaN',
    '1e309',
    '__proto__',
  ),
);

/** A part of a path: real ids half of the time, so that the checks behind the shape are reached too. */
const segment = fc.oneof(
  fc.constantFrom(...['BuilderId', 'ProjectId', 'SubcontractorId', 'TimesheetId']).map((kind) => samples[kind]!),
  hostileText,
);

const queryName = fc.oneof(
  fc.constantFrom(
    'limit',
    'offset',
    'projectId',
    'status',
    'startDate',
    'endDate',
    'includeBuilderCompany',
    'isPrimary',
  ),
  hostileText,
);

/** Header values that HTTP can carry at all. */
const headerValue = fc.string({ maxLength: 60 }).map((text) => text.replace(/[^\x20-\x7e]/g, '~').trim());

const headerName = fc.constantFrom(
  'x-service-api-version',
  'x-service-builder-id',
  'x-service-region-id',
  'x-request-id',
  'accept',
  'content-type',
  'x-forwarded-for',
  'range',
);

/** Expects a documented response that is not 5xx. */
function expectDocumented(response: { statusCode: number; body: string; headers: Record<string, unknown> }): void {
  expect(response.statusCode).toBeLessThan(500);
  if (response.statusCode === 200 || response.body === '') return;
  const body = JSON.parse(response.body);
  if (response.statusCode === 400) {
    expect(Object.keys(body)).toEqual(['errors']);
    expect(body.errors.length).toBeGreaterThan(0);
    for (const error of body.errors) {
      expect(Object.keys(error).sort()).toEqual(['fieldName', 'message']);
      expect(typeof error.fieldName).toBe('string');
    }
  } else {
    expect(Object.keys(body).sort()).toEqual(['code', 'message']);
    expect(body.code).toMatch(/^[A-Z_]+$/);
  }
}

describe('a random request', () => {
  it.each(operations.map(({ method, path }) => ({ method, path })))(
    '$method $path answers in a documented shape (ERR-1, ERR-10)',
    async ({ method, path }) => {
      const parts = path.split('/').filter((part) => part.startsWith('{'));
      await fc.assert(
        fc.asyncProperty(
          fc.array(segment, { minLength: parts.length, maxLength: parts.length }),
          fc.array(fc.tuple(queryName, hostileText), { maxLength: 4 }),
          fc.dictionary(headerName, headerValue, { maxKeys: 3 }),
          fc.oneof(fc.constant(undefined), fc.json(), hostileText),
          fc.boolean(),
          async (values, query, headers, body, realBuilder) => {
            const rest = [...values];
            const encode = (text: string) => encodeURIComponent(text.toWellFormed());
            const url = path.replace(/\{\w+\}/g, () => encode(rest.shift()!));
            const search = query.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');
            const builder = realBuilder ? { 'x-service-builder-id': samples.BuilderId! } : {};
            const response = await service.request({
              method,
              url: `${url}?${search}`,
              headers: { ...builder, ...headers, authorization: `Bearer ${token}` },
              ...(body === undefined ? {} : { payload: body }),
            });
            expectDocumented(response);
          },
        ),
        { numRuns: 40 },
      );
    },
  );

  it('has a GraphQL response without a 5xx, whose errors have a code and a status', async () => {
    const value = fc.jsonValue({ maxDepth: 3 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...operations), value, value, async ({ field, kind }, first, second) => {
        const { type } = { type: kind === 'Query' ? 'query' : 'mutation' };
        const query = `${type} ($limit: PageLimit, $builderId: BuilderId!) { ${field}(builderId: $builderId, limit: $limit) { __typename } }`;
        const response = await service.request({
          method: 'POST',
          url: '/graphql',
          headers: { authorization: `Bearer ${token}` },
          payload: { query, variables: { limit: first, builderId: second } },
        });
        expect(response.statusCode).toBeLessThan(500);
        for (const error of response.json().errors ?? []) {
          expect(error.extensions.code).toMatch(/^[A-Z_]+$/);
          expect(error.extensions.http.status).toBeLessThan(500);
        }
      }),
      { numRuns: 200 },
    );
  });

  it.each([
    '',
    '{',
    '[]',
    'null',
    '"x"',
    '{"query":5}',
    '{"query":"{ me { id } }","variables":"x"}',
    '{"__proto__":{}}',
    `${'['.repeat(70)}${']'.repeat(70)}`,
  ])('the body %s of a GraphQL request is a 400', async (payload) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const response = await service.request({ method: 'POST', url: '/graphql', headers, payload });
    expect(response.statusCode).toBe(400);
    expect(response.json().errors[0].extensions.http.status).toBe(400);
  });
});
