import { getIntrospectionQuery } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildApp } from '../../src/app.ts';
import { loadConfig } from '../../src/config.ts';
import { type Service, sharedDefinition, startService, TOKEN_KEY } from '../support/harness.ts';

let service: Service;
let token: string;

beforeAll(async () => {
  service = await startService();
  token = await service.tokenOf('A');
});

afterAll(() => service.stop());

const post = (payload: object, app = service.app) =>
  app.inject({ method: 'POST', url: '/graphql', headers: { authorization: `Bearer ${token}` }, payload });

/** Returns the errors of a query that is rejected as a whole. */
async function readError(query: string) {
  const response = await post({ query });
  const { data, errors } = response.json();
  return { status: response.statusCode, data, code: errors[0].extensions.code, errors: errors[0].extensions.errors };
}

describe('a query', () => {
  it('may nest 20 fields deep, and not 21, with and without fragments (LIM-18)', async () => {
    const query = (levels: number) => `{ __schema { types { ${chain(levels - 2)} } } }`;
    const chain = (levels: number) => `${'ofType { '.repeat(levels - 1)}name${' }'.repeat(levels - 1)}`;
    expect((await post({ query: query(20) })).json().errors).toBeUndefined();
    const refused = {
      status: 400,
      code: 'BAD_USER_INPUT',
      errors: [{ fieldName: 'query', message: 'must not nest deeper than 20 fields' }],
    };
    expect(await readError(query(21))).toMatchObject(refused);
    const half = chain(10).replace('name', '...Rest');
    const inFragments = `{ __schema { types { ${half} } } } fragment Rest on __Type { ${chain(10)} }`;
    expect(await readError(inFragments)).toMatchObject(refused);
  });

  it('with invalid variables occupies nothing, also when it is rejected while its cost waits for the share', async () => {
    const fields = Array.from({ length: 800 }, (_, at) => `a${at}: id`).join(' ');
    const query = `query ($builderId: BuilderId!) { timesheets(builderId: $builderId, limit: 25) { data { ${fields} } } }`;
    const valid = () => post({ query, variables: { builderId: service.findDemoClient('A').builderIds[0] } });
    const invalid = () => post({ query, variables: { builderId: 7 } });
    const together = await Promise.all([valid(), valid(), ...Array.from({ length: 6 }, invalid)]);
    expect(together.map(({ statusCode }) => statusCode)).toEqual([200, 200, 400, 400, 400, 400, 400, 400]);
    expect((await valid()).statusCode).toBe(200);
  });

  it('with recursive fragments is rejected', async () => {
    const query = '{ ...A } fragment A on Query { me { id } ...B } fragment B on Query { ...A }';
    expect(await readError(query)).toMatchObject({ status: 400 });
  });

  it('with fragments that multiply is rejected quickly', async () => {
    const fragments = Array.from({ length: 60 }, (_, at) => `fragment F${at} on Query { ...F${at + 1} ...F${at + 1} }`);
    const query = `{ ...F0 } ${fragments.join(' ')} fragment F60 on Query { me { id } }`;
    expect((await post({ query })).statusCode).toBeLessThan(500);
  });

  it('may read 25,000 records: fifty aliases of an operation, and not 51 (LIM-17)', async () => {
    const query = (count: number) => `{ ${Array.from({ length: count }, (_, at) => `a${at}: me { id }`).join(' ')} }`;
    expect((await post({ query: query(50) })).json().errors).toBeUndefined();
    const { errors } = (await post({ query: query(51) })).json();
    expect(errors[0].extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      errors: [{ fieldName: 'query', message: 'must not ask for more than 25000 records' }],
    });
  });

  it('may have 5,000 tokens, and not 5,001 (LIM-18)', async () => {
    const names = Array.from({ length: 1_665 }, (_, at) => `a${at}: __typename`).join(' ');
    expect((await post({ query: `{ me { ${names} } }` })).json().errors).toBeUndefined();
    expect(await readError(`{ me { ${names} id } }`)).toMatchObject({ status: 400 });
  });

  it('must be the only one of its request (ERR-25)', async () => {
    const response = await post([{ query: '{ me { id } }' }, { query: '{ me { id } }' }]);
    expect(response.statusCode).toBe(400);
  });
});

describe('the schema', () => {
  /** Starts another instance with other settings. */
  async function tells(settings: Record<string, string>): Promise<boolean> {
    const { databases, clock, dataDir } = service;
    const addresses = { DATABASE_URL_AU1: databases.au1.url, DATABASE_URL_US1: databases.us1.url };
    const base = { LOG_LEVEL: 'silent', DATA_DIR: dataDir, BASE_URL: 'http://localhost:4000', ...addresses };
    const config = loadConfig({ ...base, TOKEN_KEY, ...settings });
    const app = await buildApp(config, {
      databases,
      clock,
      tokenKeys: [TOKEN_KEY],
      definition: await sharedDefinition(),
    });
    const response = await post({ query: getIntrospectionQuery() }, app);
    await app.close();
    return response.json().data?.__schema !== undefined;
  }

  it.each([
    ['is told in development', {}, true],
    ['is not told there when the operator says so', { GRAPHQL_INTROSPECTION: '0' }, false],
    ['is not told in production', { NODE_ENV: 'production' }, false],
    ['is told there when the operator allows it', { NODE_ENV: 'production', GRAPHQL_INTROSPECTION: '1' }, true],
  ])('%s', async (_, settings, told) => {
    expect(await tells(settings as Record<string, string>)).toBe(told);
  });
});
