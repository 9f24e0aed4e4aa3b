import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildServiceSchema } from '../../resolvers/service-schema.ts';
import { createRouteTable } from '../../schema/route-table.ts';
import { buildApp } from '../../src/app.ts';
import { Database } from '../../src/database/database.ts';
import { createOpenApiDocument } from '../../src/rest/openapi.ts';
import { mapRegions, REGIONS } from '../../src/shared/regions.ts';
import { Contract, type Described } from '../proof/fuzz/contract.ts';
import { createDatabase } from '../setup/database.ts';
import { Calls, type Sent } from '../support/calls.ts';
import { BASE_URL, type Service, sharedDefinition, startService, TOKEN_KEY, testConfig } from '../support/harness.ts';
import { isOfResponse, startPrism, violationsOf } from '../support/prism.ts';
import { restoreSamples, samplesOf } from '../support/samples.ts';

const schema = buildServiceSchema();
const document = await createOpenApiDocument(schema, createRouteTable(schema), BASE_URL);
const contract = new Contract(document);
const { operations } = contract;

/** Every status that the document has, of every operation. */
const documented = operations.flatMap((operation) =>
  Object.keys(operation.responses).map((status) => ({
    operation,
    status: Number(status),
    name: operation.operationId,
  })),
);

/** What Prism cannot pass on: it follows redirects, knows no other method of a path, and reads no more than ten megabytes. */
const isBeyondPrism = (name: string, status: number, { body }: Sent) =>
  (name === 'authorize' && status === 302) || status === 405 || (body?.length ?? 0) > 10_000_000;

const produced = new Set<string>();
const undo: (() => Promise<unknown>)[] = [];
let service: Service;
let calls: Calls;
let server: string;
let proxy: string;

/**
 * The service as it usually is; with a budget of one request a day; with databases that refuse connections; with databases
 * that have no tables.
 */
beforeAll(async () => {
  service = await startService();
  undo.push(() => service.stop());
  const limits = { RATE_LIMIT_API: '1/86400', RATE_LIMIT_SYNC: '1/86400', RATE_LIMIT_TOKEN: '1/86400' };
  const limited = await startService(limits);
  undo.push(() => limited.stop());
  const empty = await createDatabase('template1');
  undo.push(() => empty.drop());
  const apps = {
    usual: service.app,
    limited: limited.app,
    away: await appOver('postgresql://nobody:x@127.0.0.1:1/none'),
    broken: await appOver(empty.url),
  };
  server = await listen(apps);
  const prism = await startPrism(JSON.stringify(document), server);
  undo.push(prism.stop);
  proxy = prism.url;
  const samples = await samplesOf(service.databases.au1, service.demo('A').builderIds[0]!);
  calls = await Calls.prepare(service, samples, (sent) => send(server, sent));
  for (const sent of calls.createBudgetCalls()) await send(server, { ...sent, app: 'limited' });
});
afterAll(async () => {
  for (const step of undo.reverse()) await step();
});

async function appOver(url: string): Promise<FastifyInstance> {
  const databases = mapRegions((region) => new Database(region, url));
  const { clock, dataDir } = service;
  const app = await buildApp(testConfig({ DATA_DIR: dataDir }), {
    databases,
    clock,
    tokenKeys: [TOKEN_KEY],
    definition: await sharedDefinition(),
  });
  undo.push(async () => {
    await app.close();
    await Promise.all(REGIONS.map((region) => databases[region].close()));
  });
  return app;
}

/** One address for all of them; a header says which one is meant. */
async function listen(apps: Record<string, FastifyInstance>): Promise<string> {
  for (const app of Object.values(apps)) await app.ready();
  const listening: Server = createServer((request, response) => {
    apps[String(request.headers['x-app'] ?? 'usual')]!.routing(request, response);
  });
  await new Promise<void>((ready) => listening.listen(0, '127.0.0.1', ready));
  undo.push(async () => void listening.close());
  return `http://127.0.0.1:${(listening.address() as AddressInfo).port}`;
}

function send(to: string, { url, app, ...options }: Sent): Promise<Response> {
  const headers = { ...options.headers, ...(app && { 'x-app': app }) };
  const body = options.body && new Uint8Array(options.body);
  return fetch(`${to}${url}`, { ...options, body, headers, redirect: 'manual' });
}

describe.each(operations)('behind Prism, $operationId', (operation: Described) => {
  it.each(Object.keys(operation.responses).map(Number))(
    'answers %i as documented (ERR-10, ERR-15, VER-3)',
    async (status) => {
      await restoreSamples(service.databases.au1);
      const sent = await calls.createCall(operation, status);
      const direct = isBeyondPrism(operation.operationId, status, sent);
      const response = await send(direct ? server : proxy, sent);
      const body = Buffer.from(await response.arrayBuffer());
      expect(response.status, body.toString()).toBe(status);
      if (direct) {
        const headers = Object.fromEntries(response.headers);
        expect(contract.violation(operation.method, sent.url, { status, headers, body })).toBeNull();
      }
      produced.add(`${operation.operationId} ${status}`);
      const violations = violationsOf(response);
      expect(violations.filter(isOfResponse)).toEqual([]);
      if (status < 400) expect(violations).toEqual([]);
    },
  );
});

describe('the ledger', () => {
  it('has seen every status of every operation of the document', () => {
    console.info(`ledger: ${produced.size} of ${documented.length} documented answers seen`);
    const missing = documented.map(({ name, status }) => `${name} ${status}`).filter((answer) => !produced.has(answer));
    expect(missing).toEqual([]);
  });
});

describe('behind Prism, a wrong query', () => {
  it('is refused by the document where the service refuses it', async () => {
    const headers = { authorization: `Bearer ${await service.as('A')}` };
    const response = await send(proxy, { method: 'GET', url: '/builders?limit=26', headers });
    expect(response.status).toBe(400);
    const violations = violationsOf(response);
    expect(violations.filter(isOfResponse)).toEqual([]);
    expect(violations.map(({ location }) => location.join('.'))).toContain('request.query.limit');
  });
});
