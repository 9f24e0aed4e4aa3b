import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildApp } from '../../src/app.ts';
import { AccessTokens } from '../../src/auth/access-tokens.ts';
import { exportData, importData } from '../../src/cli/services/data-transfer.ts';
import { Database, type Databases } from '../../src/database/database.ts';
import type { DemoFile } from '../../src/demo/demo-file.ts';
import { storeDemoPictures } from '../../src/demo/store-pictures.ts';
import { validateReportRow } from '../../src/domain/photo-reports/stored-report.ts';
import { REGIONS } from '../../src/shared/regions.ts';
import { openStorages, type Storages } from '../../src/storage/storage.ts';
import { DataTransferFixture, SAMPLES } from '../data-transfer/data-transfer-fixture.ts';
import { createDatabase } from '../setup/database.ts';
import { OPERATOR } from '../support/audit.ts';
import { definition } from '../support/definition.ts';
import { BASE_URL, FakeClock, TOKEN_KEY, testConfig } from '../support/harness.ts';
import { loadDemoInto } from '../support/load-demo.ts';

interface Parameter {
  $ref?: string;
  name: string;
  in: string;
  example?: string;
}

let app: FastifyInstance;
let databases: Databases;
let demo: DemoFile;
let storages: Storages;
let dataDir: string;
const fixture = new DataTransferFixture();
const clock = new FakeClock();
const drops: (() => Promise<void>)[] = [];

/** Starts the service with the demo data and its pictures, as a first start does. */
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'demo-service-'));
  const config = testConfig({ DATA_DIR: dataDir });
  const made = await Promise.all(REGIONS.map(() => createDatabase()));
  drops.push(...made.map(({ drop }) => drop));
  databases = Object.fromEntries(
    REGIONS.map((region, index) => [region, new Database(region, made[index]!.url)]),
  ) as Databases;
  storages = openStorages(config, { secrets: [TOKEN_KEY], clock });
  const pictures = await storeDemoPictures(storages);
  demo = await loadDemoInto(databases, { baseUrl: BASE_URL, timesheets: 100, pictures });
  app = await buildApp(config, { databases, clock, tokenKeys: [TOKEN_KEY], definition });
});

afterAll(async () => {
  await app.close();
  await fixture.dispose();
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

describe('the examples of the interactive reference', () => {
  it('are reads of the demo company that succeed', async () => {
    const client = demo.clients.find(({ name }) => name === 'A')!;
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

describe('an export of the demo data', () => {
  const progress = { update: () => undefined, log: () => undefined, stop: () => undefined };
  const context = { clock, source: OPERATOR };
  let folder: string;

  beforeAll(async () => {
    folder = await fixture.createTemporaryFolder();
    const request = { database: databases.au1, ...context };
    expect((await exportData(request, storages.au1, { folder }, progress)).storedFiles).toBeGreaterThan(10);
  });

  it('has every photo with its files, and so has an import of it', async () => {
    const { au1 } = databases;
    const sources = await au1.fork().execute('select source, count(*)::int as photos from photo group by 1');
    expect(sources).toHaveLength(7);
    const defects = await au1.fork().execute('select unnest(photo_ids) as id from defect');
    expect(defects.length).toBeGreaterThan(3);
    const [copy, dataDir] = [await fixture.createEmptyDatabase(), await fixture.createTemporaryFolder()];
    const elsewhere = openStorages(testConfig({ DATA_DIR: dataDir }), { secrets: [TOKEN_KEY], clock });
    const request = { folder, builder: undefined, keepGood: false, collect: true, storage: elsewhere.au1 };
    await importData({ database: copy, ...context }, request, progress);
    const select = 'select id, key, file_size from photo order by id';
    const photos = await copy.fork().execute<Record<string, string>[]>(select);
    expect(photos).toEqual(await au1.fork().execute(select));
    for (const { key, file_size: size } of photos) {
      expect((await elsewhere.au1.byteStore.stat(key!))?.size, key).toBe(Number(size));
    }
  });

  it('has reports like those of a sync, and so have the sample data', async () => {
    for (const from of [folder, SAMPLES]) {
      const rows = (await readFile(join(from, 'photo-reports.ndjson'), 'utf8')).split('\n').filter(Boolean);
      expect(rows.length).toBeGreaterThan(0);
      expect(rows.flatMap((row) => validateReportRow(JSON.parse(row)))).toEqual([]);
    }
  });
});
