import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildApp } from '../../src/app.ts';
import { Database, type Databases } from '../../src/database/database.ts';
import type { DemoClient } from '../../src/demo/demo-file.ts';
import { createDatabase } from '../setup/database.ts';
import { BASE_URL, TOKEN_KEY, testConfig } from '../support/harness.ts';
import { BASE, loadDemoInto } from '../support/load-demo.ts';

interface Parameter {
  $ref?: string;
  name: string;
  in: string;
  example?: string;
}

let app: FastifyInstance;
let client: DemoClient;
const cleanups: (() => Promise<void>)[] = [];

beforeAll(async () => {
  const [au1, us1] = [await createDatabase(), await createDatabase()];
  const databases: Databases = { au1: new Database('au1', au1.url), us1: new Database('us1', us1.url) };
  const { clients } = await loadDemoInto(databases, { baseUrl: BASE_URL, timesheets: 100 });
  client = clients.find(({ name }) => name === 'A')!;
  app = await buildApp(testConfig({}), { databases, clock: { now: () => BASE }, tokenKeys: [TOKEN_KEY] });
  cleanups.push(
    au1.drop,
    us1.drop,
    () => databases.us1.close(),
    () => databases.au1.close(),
    () => app.close(),
  );
});

afterAll(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
});

describe('the examples of the interactive reference', () => {
  it('are reads of the demo company that succeed', async () => {
    const authorization = `Basic ${Buffer.from(`${client.clientId}:${client.clientSecret}`).toString('base64')}`;
    const payload = new URLSearchParams({
      grant_type: 'client_credentials',
      audience: BASE_URL,
      scope: client.scopes.join(' '),
    }).toString();
    const headers = { authorization, 'content-type': 'application/x-www-form-urlencoded' };
    const token = (await app.inject({ method: 'POST', url: '/oauth/token', headers, payload })).json().access_token;

    const { paths, components } = (await app.inject('/docs/openapi.json')).json();
    const reads = Object.entries(paths as Record<string, { get?: { parameters?: Parameter[] } }>).flatMap(
      ([path, { get }]) => {
        const own = get?.parameters?.filter(({ example }) => example !== undefined) ?? [];
        const hasRecords = own.every(({ example }) => !String(example).endsWith('_a0mkq3v8t2n4c7x1p9r5w6yzb'));
        if (!own.some((parameter) => parameter.in === 'path') || !hasRecords || path.startsWith('/storage')) return [];
        return [own.reduce((url, { name, example }) => url.replace(`{${name}}`, example!), path)];
      },
    );
    expect(reads.length).toBeGreaterThan(18);
    for (const url of reads) {
      const builder = { 'x-service-builder-id': components.parameters.BuilderId.example };
      const { statusCode, body } = await app.inject({ url, headers: { authorization: `Bearer ${token}`, ...builder } });
      expect(statusCode, `${url}: ${body}`).toBe(200);
    }
  });
});
