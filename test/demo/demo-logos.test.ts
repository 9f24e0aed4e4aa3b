import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildApp } from '../../src/app.ts';
import { AccessTokens } from '../../src/auth/access-tokens.ts';
import { Database, type Databases } from '../../src/database/database.ts';
import type { DemoFile } from '../../src/demo/demo-file.ts';
import { storeDemoPictures } from '../../src/demo/store-pictures.ts';
import { REGIONS } from '../../src/shared/regions.ts';
import { openStorages } from '../../src/storage/storage.ts';
import { createDatabase } from '../setup/database.ts';
import { BASE_URL, FakeClock, sharedDefinition, TOKEN_KEY, testConfig } from '../support/harness.ts';
import { loadDemoInto } from '../support/load-demo.ts';

let app: FastifyInstance;
let databases: Databases;
let demo: DemoFile;
let dataDir: string;
const clock = new FakeClock();
const drops: (() => Promise<void>)[] = [];

/** Starts the service with the demo data and its pictures, as a first start does. */
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'demo-logos-'));
  const config = testConfig({ DATA_DIR: dataDir });
  const made = await Promise.all(REGIONS.map(() => createDatabase()));
  drops.push(...made.map(({ drop }) => drop));
  databases = Object.fromEntries(
    REGIONS.map((region, index) => [region, new Database(region, made[index]!.url)]),
  ) as Databases;
  const pictures = await storeDemoPictures(openStorages(config, { secrets: [TOKEN_KEY], clock }));
  demo = await loadDemoInto(databases, { baseUrl: BASE_URL, timesheets: 1, pictures });
  app = await buildApp(config, { databases, clock, tokenKeys: [TOKEN_KEY], definition: await sharedDefinition() });
});

afterAll(async () => {
  await app.close();
  for (const region of REGIONS) await databases[region].close();
  for (const drop of drops) await drop();
  await rm(dataDir, { recursive: true, force: true });
});

async function headersOf(name: string): Promise<Record<string, string>> {
  const { clientId, regionId } = demo.clients.find((client) => client.name === name)!;
  const tokens = new AccessTokens({ keys: [TOKEN_KEY], issuer: BASE_URL, clock });
  const { token } = tokens.sign(regionId, { sub: clientId, client_id: clientId, scope: 'read:builders' });
  return { authorization: `Bearer ${token}`, 'x-service-region-id': regionId };
}

async function expectImage(url: string): Promise<void> {
  expect(url).toMatch(/^http:\/\/localhost:4000\/storage\/.*[?&]signature=[\w-]+/);
  const { pathname, search } = new URL(url);
  const download = await app.inject({ method: 'GET', url: pathname + search });
  expect([download.statusCode, download.headers['content-type']]).toEqual([200, 'image/png']);
  expect(download.rawPayload.subarray(1, 4).toString()).toBe('PNG');
}

describe('a demo builder', () => {
  it.each(['A', 'B', 'us1'])('of client %s has a signed logoUrl that downloads as an image (RED-3)', async (name) => {
    const headers = await headersOf(name);
    const { data } = (await app.inject({ method: 'GET', url: '/builders', headers })).json();
    expect(data.length).toBeGreaterThan(0);
    for (const { logoUrl } of data) await expectImage(logoUrl);
  });

  it('has the same logo as a signed builderLogoUrl in GET /me', async () => {
    const headers = await headersOf('A');
    const { memberships } = (await app.inject({ method: 'GET', url: '/me', headers })).json();
    expect(memberships).toHaveLength(2);
    for (const { builderLogoUrl } of memberships) await expectImage(builderLogoUrl);
  });

  it('is the only one of four without a logo, and its logoUrl is left out (IDN-9, RED-3)', async () => {
    const headers = await headersOf('internal');
    const payload = { query: '{ builders { data { name logoUrl } } }' };
    const { data } = (await app.inject({ method: 'POST', url: '/graphql', headers, payload })).json();
    const missing = data.builders.data.filter(({ logoUrl }: { logoUrl: string | null }) => logoUrl === null);
    expect([data.builders.data.length, missing.length]).toEqual([4, 1]);
  });
});
