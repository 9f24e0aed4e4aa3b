import type { InjectOptions } from 'fastify';
import { getIntrospectionQuery } from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildApp } from '../../src/app.ts';
import { loadConfig } from '../../src/config.ts';
import { definition } from '../support/definition.ts';
import { TOKEN_KEY, useService } from '../support/harness.ts';

const service = useService();
let token: string;

beforeAll(async () => {
  token = await service.tokenOf('A');
});

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
      errors: [{ fieldName: 'query', message: 'must not nest so many fields: it has 21, and the limit is 20' }],
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

  it.each([{ toString: 1 }, [{ toString: 1 }], [5], true, '5'])('with the limit %j is rejected', async (limit) => {
    const query = 'query ($limit: PageLimit) { builders(limit: $limit) { data { id } } }';
    const response = await post({ query, variables: { limit } });
    expect(response.statusCode).toBe(400);
    expect(response.json().errors[0].extensions.errors).toMatchObject([{ fieldName: 'limit' }]);
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

  it('may have 5,000 tokens, and not 5,001, with the number of all (LIM-18)', async () => {
    const names = Array.from({ length: 1_665 }, (_, at) => `a${at}: __typename`).join(' ');
    expect((await post({ query: `{ me { ${names} } }` })).json().errors).toBeUndefined();
    const { status, extensions } = await readRejection(`{ me { ${names} id name } }`);
    expect(extensions.errors[0].message).toContain('it has 5002, and the limit is 5000');
    expect([status, extensions.cost, extensions.limit]).toEqual([400, 1_667, 5_000]);
  });

  it('must be the only one of its request (ERR-25)', async () => {
    const response = await post([{ query: '{ me { id } }' }, { query: '{ me { id } }' }]);
    expect(response.statusCode).toBe(400);
  });
});

/** Returns the status and the extensions of the only error of a request that executed nothing. */
async function readRejection(query: string, variables = {}) {
  const response = await post({ query, variables });
  const { data, errors } = response.json();
  expect([data, errors.length]).toEqual([undefined, 1]);
  return { status: response.statusCode, path: errors[0].path, extensions: errors[0].extensions };
}

const repeat = (count: number, field: string) => Array.from({ length: count }, (_, at) => `a${at}: ${field}`).join(' ');

describe('a document that exceeds a limit (LIM-33)', () => {
  const createMeeting = () =>
    `createMeeting(builderId: "${service.findDemoClient('A').builderIds[0]}", title: "Limit") { id }`;
  const countMeetings = async () => {
    const rows = await service.databases.au1.fork().execute(`select from meeting where title = 'Limit'`);
    return rows.length;
  };

  it('executes none of 51 mutations, and all of 50 (LIM-17)', async () => {
    const rejection = await readRejection(`mutation { ${repeat(51, createMeeting())} }`);
    expect(rejection).toMatchObject({
      status: 400,
      extensions: { code: 'BAD_USER_INPUT', cost: 51, limit: 50, errors: [{ fieldName: 'query' }] },
    });
    expect(await countMeetings()).toBe(0);
    const { data, errors, extensions } = (await post({ query: `mutation { ${repeat(50, createMeeting())} }` })).json();
    expect([errors, Object.keys(data).length, extensions.cost]).toEqual([undefined, 50, 50]);
    expect(await countMeetings()).toBe(50);
  });

  it.each([
    ['root fields', repeat(51, 'me { id name }'), 50, 102],
    ['comparisons of fields', `me { ${'id '.repeat(4_900)} }`, 5_000, 4_900],
    ['depth', `me { id ${'... { '.repeat(250)} name ${'}'.repeat(250)} }`, 250, 2],
  ])('is rejected with its whole cost for its %s (LIM-17, LIM-18)', async (_, selections, limit, cost) => {
    const query = `{ ${selections} }`;
    expect(await readRejection(query)).toMatchObject({ status: 400, extensions: { cost, limit } });
  });

  it('is rejected with a number as its cost, however often its pages multiply (LIM-17)', async () => {
    const query = `{ builders { data { projects { data { ${'meetings { data { project { '.repeat(230)} id`;
    const { status, extensions } = await readRejection(`${query} ${'}'.repeat(230 * 3 + 5)}`);
    expect([status, extensions.cost > Number.MAX_SAFE_INTEGER / 2, extensions.limit]).toEqual([400, true, 250]);
  });

  it('is rejected for 51 root fields also in fragments of a query', async () => {
    const query = `{ ...A ...B } fragment A on Query { ${repeat(26, 'me { id }')} }
      fragment B on Query { ${repeat(25, 'me { id }').replaceAll('a', 'b')} }`;
    expect(await readRejection(query)).toMatchObject({ status: 400, extensions: { cost: 51, limit: 50 } });
  });

  it('is rejected for the records that it may read, where each page counts as 25 (LIM-17)', async () => {
    const pages = repeat(20, 'timesheets(limit: 1) { meta { totalCount } }');
    const query = `{ builders { data { projects { data { ${pages} } } } } }`;
    const records = 25 + 25 * 25 + 625 * 20 * 25;
    const { status, extensions } = await readRejection(query);
    expect(extensions.errors[0].message).toContain(`it has ${records}, and the limit is 250000`);
    expect([status, extensions.cost, extensions.limit]).toEqual([400, 25 + 625 * 20, 250_000]);
  });

  it('executes no mutation whose cost is too high, with the whole cost (LIM-15)', async () => {
    const query = `mutation { ${createMeeting().replace('{ id }', '{ project { ...Deep } }')} }
      fragment Deep on Project { ${repeat(10, 'timesheets { data { ...Wide } }')} }
      fragment Wide on Timesheet { ${repeat(401, 'id')} }`;
    const { status, extensions } = await readRejection(query);
    expect([status, extensions.limit]).toEqual([400, 100_000]);
    expect(extensions.cost).toBe(1 + 10 + 10 * 25 * 401);
    expect(await countMeetings()).toBe(50);
  });
});

describe('a mutation of which a root field fails (ERR-28)', () => {
  it('has the results of the others', async () => {
    const [builderId] = service.findDemoClient('A').builderIds;
    const query = `mutation { first: createMeeting(builderId: "${builderId}", title: "One") { title }
      second: startMeeting(builderId: "${builderId}", meetingId: "meet_anone") { title } }`;
    const { data, errors } = (await post({ query })).json();
    expect(data).toEqual({ first: { title: 'One' }, second: null });
    expect(errors).toMatchObject([{ path: ['second'], extensions: { code: 'NOT_FOUND' } }]);
  });

  it('executes nothing where one may not be called', async () => {
    const [builderId] = service.findDemoClient('A').builderIds;
    const query = `mutation { first: createMeeting(builderId: "${builderId}", title: "None") { title }
      second: createMeeting(builderId: "buil_anone", title: "None") { title } }`;
    expect(await readRejection(query)).toMatchObject({ status: 404, path: ['second'] });
    const rows = await service.databases.au1.fork().execute(`select from meeting where title = 'None'`);
    expect(rows).toEqual([]);
  });
});

describe('the cost of a response', () => {
  it.each([
    ['a query', '{ builders(limit: 5) { meta { totalCount } data { id name } } }', 10],
    ['a query of one record', '{ me { id } }', 1],
    ['an invalid document', '{ nothing }', 0],
    ['a document with a syntax error', '{', 0],
    ['invalid input', '{ builders(limit: 26) { data { id } } }', 25],
    ['too high a cost', `{ ${repeat(51, 'me { id }')} }`, 51],
  ])('is in the extensions: %s', async (_, query, cost) => {
    expect((await post({ query })).json().extensions).toEqual({ cost });
  });

  it.each<[string, number, InjectOptions]>([
    ['an empty object', 400, { payload: {} }],
    ['a batch', 400, { payload: [{ query: '{ __typename }' }] }],
    ['variables that are a list', 400, { payload: { query: '{ __typename }', variables: [1] } }],
    ['variables that are text', 400, { payload: { query: '{ __typename }', variables: 'x' } }],
    ['a query that is a number', 400, { payload: { query: 5 } }],
    ['an operation name that is a number', 400, { payload: { query: '{ __typename }', operationName: 5 } }],
    ['extensions that are text', 400, { payload: { query: '{ __typename }', extensions: 'x' } }],
    ['Accept: text/csv', 406, { payload: { query: '{ me { id } }' }, headers: { accept: 'text/csv' } }],
    ['Accept without JSON', 406, { payload: { query: '{ me { id } }' }, headers: { accept: 'application/json;q=0' } }],
    ['GET without a preflight header', 400, { method: 'GET', url: '/graphql?query={__typename}' }],
  ])('is 0 in a rejection of %s', async (_, status, request) => {
    const headers = { authorization: `Bearer ${token}`, ...request.headers };
    const response = await service.app.inject({ method: 'POST', url: '/graphql', ...request, headers });
    const { errors, extensions } = response.json();
    expect([response.statusCode, errors.length, extensions]).toEqual([status, 1, { cost: 0 }]);
  });

  it('is 0 for a mutation whose client accepts no response: it is not executed', async () => {
    const { builderIds } = service.findDemoClient('A');
    const response = await service.app.inject({
      method: 'POST',
      url: '/graphql',
      headers: { authorization: `Bearer ${token}`, accept: 'text/csv' },
      payload: { query: `mutation { createMeeting(builderId: "${builderIds[0]}", title: "Accept") { id } }` },
    });
    expect([response.statusCode, response.json().extensions]).toEqual([406, { cost: 0 }]);
    const found = await service.databases.au1.fork().execute(`select from meeting where title = 'Accept'`);
    expect(found).toHaveLength(0);
  });

  it('is 0 in a response to a request without a token', async () => {
    const response = await service.app.inject({ method: 'POST', url: '/graphql', payload: { query: '{ me { id } }' } });
    expect([response.statusCode, response.json().extensions]).toEqual([401, { cost: 0 }]);
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
      definition,
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
