import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildApp } from '../../src/app.ts';
import { definition } from '../support/definition.ts';
import { TOKEN_KEY, testConfig, useService } from '../support/harness.ts';

const service = useService();
let production: FastifyInstance;
let token: string;

beforeAll(async () => {
  token = await service.tokenOf('A');
  const { databases, clock, dataDir } = service;
  const addresses = { DATABASE_URL_AU1: databases.au1.url, DATABASE_URL_US1: databases.us1.url };
  const config = testConfig({ NODE_ENV: 'production', DATA_DIR: dataDir, ...addresses });
  production = await buildApp(config, {
    databases,
    clock,
    tokenKeys: [TOKEN_KEY],
    definition,
  });
});

afterAll(() => production.close());

async function post(query: string, { app = service.app, variables = {} as Record<string, unknown> } = {}) {
  const headers = { authorization: `Bearer ${token}` };
  const response = await app.inject({ method: 'POST', url: '/graphql', headers, payload: { query, variables } });
  return { status: response.statusCode, text: response.body, ...response.json() };
}

describe('a message in production', () => {
  const builderId = () => service.findDemoClient('A').builderIds[0]!;
  const wrong: [what: string, query: string, variables?: Record<string, unknown>][] = [
    ['field', '{ me { nam } }'],
    ['type', '{ me { ... on Identty { id } } }'],
    ['argument', '{ builders(limt: 1) { data { id } } }'],
    ['type of a variable', 'query ($s: ProjectStatu) { me { id @skip(if: $s) } }'],
    ['enum literal of an edge', '{ builders { data { projects(status: IN_PROGRES) { data { id } } } } }'],
    [
      'enum default of a variable',
      'query ($s: ProjectStatus = IN_PROGRES) { builders { data { projects(status: $s) { data { id } } } } }',
    ],
    ['directive argument', '{ me { id @skip(iff: true) } }'],
    ['enum literal', 'query ($b: BuilderId!) { projects(builderId: $b, status: IN_PROGRES) { data { id } } }'],
    [
      'enum variable',
      'query ($s: ProjectStatus, $b: BuilderId!) { projects(builderId: $b, status: $s) { data { id } } }',
      { s: 'IN_PROGRES' },
    ],
    [
      'input field of a literal',
      'mutation ($b: BuilderId!) { upsertMeetingNote(builderId: $b, meetingId: "meet_a1", externalSourceId: "a", actionItems: [{ txt: "a" }]) { id } }',
    ],
    [
      'input field of a variable',
      'mutation ($b: BuilderId!, $items: [ActionItemInput!]) { upsertMeetingNote(builderId: $b, meetingId: "meet_a1", externalSourceId: "a", actionItems: $items) { id } }',
      { items: [{ txt: 'a', text: 'b' }] },
    ],
  ];

  it.each(wrong)('suggests no names for an invalid %s (ERR-26)', async (_, query, variables) => {
    const sent = { b: builderId(), ...variables };
    const open = await post(query, { variables: sent });
    const closed = await post(query, { app: production, variables: sent });
    expect([open.status, closed.status]).toEqual([400, 400]);
    expect(closed.text).not.toContain('Did you mean');
    expect(closed.errors[0].extensions.code).toBe(open.errors[0].extensions.code);
    expect(closed.errors[0].message).not.toBe('');
  });

  it('suggests similar names outside production', async () => {
    expect((await post('{ me { nam } }')).text).toContain('Did you mean');
  });
});

describe('GET /graphql by a browser', () => {
  const page = (app: FastifyInstance) => app.inject({ url: '/graphql', headers: { accept: 'text/html' } });

  it('loads nothing from another origin in production', async () => {
    const { statusCode, headers, body } = await page(production);
    expect([statusCode, headers['content-type']]).toEqual([200, 'text/html']);
    expect(headers['content-security-policy']).toBe("default-src 'none'; frame-ancestors 'none'");
    expect(body).not.toMatch(/<script|https?:|apollo/i);
    expect(body).toContain('href="/docs"');
  });

  it('is Apollo Sandbox outside production', async () => {
    expect((await page(service.app)).body).toContain('apollo');
  });
});
