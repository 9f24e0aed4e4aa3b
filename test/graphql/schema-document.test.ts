import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { buildSchema, isScalarType, isSpecifiedScalarType } from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { scalars } from '../../docs/graphql-codegen.ts';
import { buildApp } from '../../src/app.ts';
import { loadConfig } from '../../src/config.ts';
import { definition } from '../support/definition.ts';
import { TOKEN_KEY, useService } from '../support/harness.ts';

const URL = '/graphql/schema.graphql';
const committed = readFileSync(join(import.meta.dirname, '../../schema/schema.graphql'), 'utf8');

const service = useService();
let token: string;

beforeAll(async () => {
  token = await service.tokenOf('A');
});

/** Returns the status of the document on another instance with these settings. */
async function statusWith(settings: Record<string, string>): Promise<number> {
  const { databases, clock, dataDir } = service;
  const addresses = { DATABASE_URL_AU1: databases.au1.url, DATABASE_URL_US1: databases.us1.url };
  const base = { LOG_LEVEL: 'silent', DATA_DIR: dataDir, BASE_URL: 'http://localhost:4000', ...addresses };
  const config = loadConfig({ ...base, TOKEN_KEY, ...settings });
  const app: FastifyInstance = await buildApp(config, {
    databases,
    clock,
    tokenKeys: [TOKEN_KEY],
    definition,
  });
  const response = await app.inject({ url: URL, headers: { authorization: `Bearer ${token}` } });
  await app.close();
  if (response.statusCode !== 200) expect(response.json()).toEqual({ code: 'NOT_FOUND', message: 'Route not found.' });
  return response.statusCode;
}

describe('GET /graphql/schema.graphql', () => {
  it('200 returns the schema as text (VER-5)', async () => {
    const response = await service.get(URL, token);
    expect([response.statusCode, response.headers['content-type']]).toEqual([200, 'text/plain; charset=utf-8']);
    expect(response.body).toBe(committed);
    expect(buildSchema(response.body).getQueryType()?.name).toBe('Query');
  });

  it('200 for an internal client, which may introspect too', async () => {
    expect((await service.get(URL, await service.tokenOf('internal'))).statusCode).toBe(200);
  });

  it('200 without a body for HEAD (ERR-14)', async () => {
    const headers = { authorization: `Bearer ${token}` };
    const response = await service.request({ method: 'HEAD', url: URL, headers });
    expect([response.statusCode, response.body]).toEqual([200, '']);
  });

  it('401 without a token', async () => {
    const response = await service.request({ url: URL });
    expect([response.statusCode, response.json().code]).toEqual([401, 'UNAUTHENTICATED']);
  });

  it('400 for another API version', async () => {
    const response = await service.get(URL, token, { 'x-service-api-version': 'v2' });
    expect(response.json().errors).toMatchObject([{ fieldName: 'X-Service-Api-Version' }]);
  });

  it.each([
    ['404 where the operator has switched introspection off', { GRAPHQL_INTROSPECTION: '0' }, 404],
    ['404 in production', { NODE_ENV: 'production' }, 404],
    ['200 in production where introspection is on', { NODE_ENV: 'production', GRAPHQL_INTROSPECTION: '1' }, 200],
  ])('%s', async (_, settings, status) => {
    expect(await statusWith(settings as Record<string, string>)).toBe(status);
  });

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'] as const)('405 for %s', async (method) => {
    const response = await service.request({ method, url: URL, headers: { authorization: `Bearer ${token}` } });
    expect([response.statusCode, response.json().code]).toEqual([405, 'METHOD_NOT_ALLOWED']);
    expect(response.headers.allow).toBe('GET, HEAD');
  });
});

describe('the scalars', () => {
  const custom = Object.values(buildSchema(committed).getTypeMap())
    .filter(isScalarType)
    .filter((type) => !isSpecifiedScalarType(type));

  it('are exactly those of the scalar map', () => {
    expect(Object.keys(scalars).sort()).toEqual(custom.map(({ name }) => name).sort());
  });

  it('of a standard have @specifiedBy', () => {
    const standards = Object.fromEntries(custom.map(({ name, specifiedByURL }) => [name, specifiedByURL]));
    expect(standards).toMatchObject({
      Timestamp: 'https://www.rfc-editor.org/rfc/rfc3339',
      CalendarDate: 'https://www.rfc-editor.org/rfc/rfc3339',
      JsonObject: 'https://www.rfc-editor.org/rfc/rfc8259',
      AuthorEmail: 'https://www.rfc-editor.org/rfc/rfc5321',
      DeepLink: 'https://www.rfc-editor.org/rfc/rfc3986',
      ImageUrl: 'https://www.rfc-editor.org/rfc/rfc3986',
    });
  });

  it('for identifiers have one type per prefix', () => {
    expect(scalars.BuilderId).toBe('`buil_$' + '{string}`');
    const described = custom.filter(({ description }) => /begins with `\w+_`/.test(description ?? ''));
    expect(described.length).toBeGreaterThan(25);
    for (const { name, description } of described) {
      const prefix = /begins with `(\w+_)`/.exec(description!)![1];
      expect(scalars[name as keyof typeof scalars], name).toContain(`\`${prefix}$`);
    }
  });
});
