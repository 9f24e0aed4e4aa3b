import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { buildApp } from '../../src/app.ts';
import { Database } from '../../src/database/database.ts';
import { createOpenApiDocument } from '../../src/rest/openapi.ts';
import { mapRegions, REGIONS } from '../../src/shared/regions.ts';
import { Contract, type ContractOperation } from '../proof/fuzz/contract.ts';
import { createDatabase } from '../setup/database.ts';
import { definition, operations as routes, schema } from '../support/definition.ts';
import { BASE_URL, type Service, startService, TOKEN_KEY, testConfig } from '../support/harness.ts';
import { RequestFactory, type TestRequest } from '../support/request-factory.ts';
import { createSamples, restoreSamples } from '../support/samples.ts';

const document = await createOpenApiDocument(schema, routes, BASE_URL);
const contract = new Contract(document);
const { operations } = contract;

/** Every documented status of every operation. */
const documentedStatuses = operations.flatMap((operation) =>
  Object.keys(operation.responses).map((status) => ({
    operation,
    status: Number(status),
    name: operation.operationId,
  })),
);

const producedStatuses = new Set<string>();
const cleanups: (() => Promise<unknown>)[] = [];
let service: Service;
let requestFactory: RequestFactory;
let server: string;

/** Starts instances without faults, with rate limits of one request a day, with unreachable databases, and with databases without tables. */
beforeAll(async () => {
  service = await startService();
  cleanups.push(() => service.stop());
  const limits = { RATE_LIMIT_API: '1/86400', RATE_LIMIT_SYNC: '1/86400', RATE_LIMIT_TOKEN: '1/86400' };
  const limited = await startService(limits);
  cleanups.push(() => limited.stop());
  const empty = await createDatabase('template1');
  cleanups.push(() => empty.drop());
  const apps = {
    normal: service.app,
    limited: limited.app,
    unavailable: await buildAppOver('postgresql://nobody:x@127.0.0.1:1/none'),
    broken: await buildAppOver(empty.url),
  };
  server = await listen(apps);
  const samples = await createSamples(service.databases.au1, service.findDemoClient('A').builderIds[0]!);
  requestFactory = await RequestFactory.create(service, samples, (sent) => send(server, sent));
  for (const sent of requestFactory.createRateLimitRequests()) await send(server, { ...sent, app: 'limited' });
});
afterEach(() => requestFactory.endWaitingRequests());
afterAll(async () => {
  for (const step of cleanups.reverse()) await step();
});

async function buildAppOver(url: string): Promise<FastifyInstance> {
  const databases = mapRegions((region) => new Database(region, url));
  const { clock, dataDir } = service;
  // A PUT to an upload URL uses the database for its rate limit only.
  const app = await buildApp(testConfig({ DATA_DIR: dataDir, RATE_LIMIT_API: '1000/10' }), {
    databases,
    clock,
    tokenKeys: [TOKEN_KEY],
    definition,
  });
  cleanups.push(async () => {
    await app.close();
    await Promise.all(REGIONS.map((region) => databases[region].close()));
  });
  return app;
}

/** Listens on one address for all instances. The header `x-app` selects one. */
async function listen(apps: Record<string, FastifyInstance>): Promise<string> {
  for (const app of Object.values(apps)) await app.ready();
  const listening: Server = createServer((request, response) => {
    apps[String(request.headers['x-app'] ?? 'normal')]!.routing(request, response);
  });
  await new Promise<void>((ready) => listening.listen(0, '127.0.0.1', ready));
  cleanups.push(async () => void listening.close());
  return `http://127.0.0.1:${(listening.address() as AddressInfo).port}`;
}

function send(to: string, { url, app, ...options }: TestRequest): Promise<Response> {
  const headers = { ...options.headers, ...(app && { 'x-app': app }) };
  const body = options.body && new Uint8Array(options.body);
  return fetch(`${to}${url}`, { ...options, body, headers, redirect: 'manual' });
}

describe.each(operations)('$operationId', (operation: ContractOperation) => {
  it.each(Object.keys(operation.responses).map(Number))(
    'answers %i as documented (ERR-10, ERR-15, VER-3)',
    async (status) => {
      await restoreSamples(service.databases.au1);
      const sent = await requestFactory.createRequest(operation, status);
      const response = await send(server, sent);
      const body = Buffer.from(await response.arrayBuffer());
      expect(response.status, body.toString()).toBe(status);
      const headers = Object.fromEntries(response.headers);
      expect(contract.findResponseViolation(sent.method, sent.url, { status, headers, body })).toBeNull();
      producedStatuses.add(`${operation.operationId} ${status}`);
      if (status < 400) expect(contract.findRequestViolations(operation, sent)).toEqual([]);
    },
  );
});

describe('the documented statuses', () => {
  it('are all produced by the service, for every operation', () => {
    console.info(
      `documented statuses: ${producedStatuses.size} of ${documentedStatuses.length} documented statuses produced`,
    );
    const missing = documentedStatuses
      .map(({ name, status }) => `${name} ${status}`)
      .filter((answer) => !producedStatuses.has(answer));
    expect(missing).toEqual([]);
  });
});

describe('a request that the service rejects', () => {
  it('violates the document too', async () => {
    const headers = { authorization: `Bearer ${await service.tokenOf('A')}` };
    const sent = { method: 'GET', url: '/builders?limit=26', headers };
    expect((await send(server, sent)).status).toBe(400);
    const operation = operations.find(({ operationId }) => operationId === 'listBuilders')!;
    expect(contract.findRequestViolations(operation, sent)).toEqual([expect.stringMatching(/^query\.limit /)]);
  });
});
