import { beforeAll, describe, expect, it } from 'vitest';
import { MAX_CHARACTERS, MAX_NODE_DEPTH } from '../../src/graphql/server/document-limits.ts';
import { useService } from '../support/harness.ts';

const service = useService();
let token: string;

beforeAll(async () => {
  token = await service.tokenOf('A');
});

async function post(query: string, variables: Record<string, unknown> = {}) {
  const headers = { authorization: `Bearer ${token}` };
  const response = await service.request({ method: 'POST', url: '/graphql', headers, payload: { query, variables } });
  return { status: response.statusCode, ...response.json() };
}

/** Returns the only message of a document that is rejected before validation. */
async function problemWith(query: string): Promise<string> {
  const { status, errors, data } = await post(query);
  expect([status, data, errors.length]).toEqual([400, undefined, 1]);
  expect(errors[0].extensions).toMatchObject({ code: 'BAD_USER_INPUT', errors: [{ fieldName: 'query' }] });
  return errors[0].extensions.errors[0].message;
}

const repeat = (count: number, write: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => write(i)).join(' ');

describe('a subscription (ERR-25)', () => {
  it.each([
    ['alone', 'subscription { timesheets { id } }'],
    ['with an unknown field', 'subscription S { nothing }'],
    ['beside a query', 'query Q { me { id } } subscription S { me { id } }'],
  ])('400 %s', async (_, query) => {
    const { status, errors } = await post(query);
    expect(status).toBe(400);
    expect(errors).toMatchObject([
      {
        message: 'There are no subscriptions: send a query or a mutation.',
        extensions: { code: 'SUBSCRIPTION_NOT_SUPPORTED', http: { status: 400 } },
      },
    ]);
  });

  it('400 with GET too', async () => {
    const url = `/graphql?query=${encodeURIComponent('subscription { me { id } }')}`;
    const response = await service.get(url, token, { 'apollo-require-preflight': 'true' });
    expect([response.statusCode, response.json().errors[0].extensions.code]).toEqual([
      400,
      'SUBSCRIPTION_NOT_SUPPORTED',
    ]);
  });
});

describe('a document (LIM-18)', () => {
  it('400 above its limit of characters, before it is parsed', async () => {
    const query = (length: number) => `{ me { id } }${' '.repeat(length - 13)}`;
    expect((await post(query(MAX_CHARACTERS))).errors).toBeUndefined();
    // The text is invalid, so that parsing it would fail with another error.
    expect(await problemWith(`"""${query(MAX_CHARACTERS)}`)).toMatch(
      /must not have so many characters: it has 100003, and the limit is 100000/,
    );
  });

  it('400 where the name of its operation is longer than 1,000 characters', async () => {
    const headers = { authorization: `Bearer ${token}` };
    const send = (length: number) => {
      const payload = { query: '{ me { id } }', operationName: 'n'.repeat(length) };
      return service.request({ method: 'POST', url: '/graphql', headers, payload });
    };
    expect((await send(1_000)).json().errors[0].message).toContain('Unknown operation named');
    expect((await send(1_001)).json().errors[0].extensions.errors).toEqual([
      { fieldName: 'operationName', message: 'must have at most 1000 characters' },
    ]);
  });

  it('400 above its limit of characters in a URL', async () => {
    const url = `/graphql?query=${encodeURIComponent('{ me { id } }')}${'+'.repeat(MAX_CHARACTERS)}`;
    const response = await service.get(url, token, { 'apollo-require-preflight': 'true' });
    expect(response.json().errors[0].extensions.errors).toMatchObject([{ fieldName: 'query' }]);
  });

  it.each([
    ['lists', (n: number) => `{ projects(builderId: ${'['.repeat(n)}${']'.repeat(n)}) { data { id } } }`],
    ['objects', (n: number) => `{ projects(builderId: ${'{a:'.repeat(n)}1${'}'.repeat(n)}) { data { id } } }`],
    ['inline fragments', (n: number) => `{ ${'... { '.repeat(n)}me { id }${'}'.repeat(n)} }`],
    ['types', (n: number) => `query ($a: ${'['.repeat(n)}Int${']'.repeat(n)}) { me { id } }`],
  ])('400 when %s nest too deep', async (_, query) => {
    expect(await problemWith(query(300))).toMatch(`and the limit is ${MAX_NODE_DEPTH}`);
  });

  it('400, not 500, when it nests deeper than a parser can follow', async () => {
    const { status } = await post(`{ projects(builderId: ${'['.repeat(2_480)}${']'.repeat(2_480)}) { data { id } } }`);
    expect(status).toBe(400);
  });

  it.each([
    ['a field', () => `{ ${repeat(900, () => 'me { id }')} }`],
    ['a field with arguments', () => `{ ${repeat(300, () => 'projects(builderId: "buil_a1") { data { id } }')} }`],
    ['a leaf', () => `{ me { ${repeat(4_900, () => 'id')} } }`],
    [
      'fragments',
      () =>
        `{ me { ${repeat(450, (i) => `...F${i}`)} } } ${repeat(450, (i) => `fragment F${i} on Identity { a${i}: id }`)}`,
    ],
    [
      'fragments in one another',
      () =>
        `{ me { ...F0 } } ${repeat(450, (i) => `fragment F${i} on Identity { a${i}: id ...F${i + 1} }`)} fragment F450 on Identity { id }`,
    ],
  ])('400 with the count and the limit when it repeats %s too often', async (_, query) => {
    const message = await problemWith(query());
    const [count, limit] = message.match(/\d+/g)!.map(Number);
    expect(message).toMatch(/^must not need so many comparisons of fields and fragments/);
    expect([count! > limit!, limit]).toEqual([true, 5_000]);
  });

  it('400 with the count and the limit when many operations share many fragments', async () => {
    const query = `${repeat(160, (i) => `query A${i}($b: BuilderId!) { ...F }`)} fragment F on Query { ${repeat(160, (i) => `a${i}: builder(builderId: $b) { id }`)} }`;
    expect(await problemWith(query)).toMatch(
      /share fragments among so many operations: it has \d+, and the limit is 10000/,
    );
  });
});

describe('the variables', () => {
  it('400 with the first hundred errors of a list of wrong values', async () => {
    const query = 'query ($b: BuilderId!, $s: [PhotoSource!]) { photos(builderId: $b, source: $s) { data { id } } }';
    const [b] = service.findDemoClient('A').builderIds;
    const variables = { b, s: Array.from({ length: 40_000 }, () => 'GALERY') };
    const { status, errors } = await post(query, variables);
    expect(status).toBe(400);
    expect(errors[0].extensions.errors).toHaveLength(100);
    expect(errors[0].extensions.errors.at(-1).fieldName).toBe('source[99]');
    expect(errors[0].message.length).toBeLessThan(20_000);
  });
});
