import 'reflect-metadata';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspectPageDocument } from '../../resolvers/photo-report/page-document.ts';
import { buildApp } from '../../src/app.ts';
import { loadConfig } from '../../src/config.ts';
import { REGIONS } from '../../src/context.ts';
import { openCluster } from '../../src/database/cluster.ts';
import { Database, type Databases } from '../../src/database/database.ts';
import { loadDemoInto } from '../../src/database/demo/load.ts';
import { bringUpToDate } from '../../src/database/migrate.ts';
import { AccessTokens } from '../../src/tokens.ts';

/*
 * How long the largest photo reports take, beside `JSON.parse` of their bodies, and how validation grows. On its own:
 * npm run build && node dist/test/bench/photo-report.js
 */

const ROUNDS = 15;
const BASE_URL = 'http://localhost:4000';
const TOKEN_KEY = Buffer.alloc(32, 7).toString('base64url');
const WORDS = 'slab edge protection is missing at the east facade before the pour of level three on thursday '.split(
  ' ',
);

/** Text of so many characters, no two alike. */
function prose(length: number, seed: number): string {
  let state = seed * 2_654_435_761 + 1;
  let text = '';
  while (text.length < length) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    text += `${WORDS[state % WORDS.length]} `;
  }
  return text.slice(0, length);
}

/** So many TEXT blocks, each at the bound of a rich text, in so many runs. */
const pageOf = (blocks: number, runs: number) => ({
  schemaVersion: 1,
  title: prose(20_000, 1),
  blocks: Array.from({ length: blocks }, (_, at) => ({
    sourceBlockId: `block-${at}`,
    type: 'TEXT',
    properties: {},
    richText: Array.from({ length: runs }, (_, run) => ({
      text: prose(20_000 / runs, at * 200 + run + 2),
      ...(runs > 1 && { marks: ['BOLD'] }),
    })),
  })),
});

const request = (page: object, sourceRevision: number) => ({
  sourceApp: 'bench',
  sourceExternalId: 'walk',
  sourceRevision,
  sourceCreatedAt: '2026-03-02T07:30:00Z',
  walkthroughDate: '2026-03-02T07:30:00Z',
  sourceAuthor: { externalId: 'a', name: 'b' },
  page,
});

/** The best of so many rounds: what else runs on the machine only adds. */
async function best(rounds: number, work: (round: number) => unknown): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const begun = performance.now();
    await work(round);
    times.push(performance.now() - begun);
  }
  return Math.min(...times);
}

function post(url: string, headers: Record<string, string>, body: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const call = httpRequest(
      url,
      { method: 'POST', headers: { ...headers, 'content-length': body.length } },
      (answer) => {
        answer.resume().on('end', () => resolve(answer.statusCode!));
      },
    );
    call.on('error', reject).end(body);
  });
}

const ms = (time: number) => `${time.toFixed(1)} ms`;

async function main(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'builder-api-bench-'));
  await chmod(dataDir, 0o711);
  const cluster = await openCluster({ dataDir });
  const databases = {} as Databases;
  try {
    for (const region of REGIONS) {
      await cluster.ensureDatabase(`bench_${region}`);
      databases[region] = new Database(region, cluster.url(`bench_${region}`));
      await bringUpToDate(databases[region], 'auto');
      await databases[region].orm.schema.update();
    }
    const demo = await loadDemoInto(databases, { baseUrl: BASE_URL, timesheets: 0 });
    await measure(databases, demo.clients.find(({ name }) => name === 'A')!, dataDir);
  } finally {
    for (const region of REGIONS) await databases[region]?.close();
    await cluster.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function measure(
  databases: Databases,
  client: { clientId: string; builderIds: string[] },
  dataDir: string,
): Promise<void> {
  const off = { RATE_LIMIT_API: '0', RATE_LIMIT_SYNC: '0', RATE_LIMIT_TOKEN: '0', LOG_LEVEL: 'silent' };
  const config = loadConfig({ DATA_DIR: dataDir, BASE_URL, TOKEN_KEY, ...off });
  const clock = { now: () => Date.now() };
  const app = await buildApp(config, { databases, clock, tokenKey: TOKEN_KEY });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as { port: number };
  const url = `http://127.0.0.1:${port}/builders/${client.builderIds[0]}/photo-reports/sync`;
  const tokens = new AccessTokens({ key: TOKEN_KEY, issuer: BASE_URL, clock });
  const { token } = await tokens.sign({ sub: client.clientId, client_id: client.clientId, scope: 'write:photos' });
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  let revision = 0;
  try {
    console.log('blocks x runs        body     JSON.parse  validate   sync (HTTP, stored)  times JSON.parse');
    for (const [blocks, runs] of [
      [500, 200],
      [500, 1],
      [250, 200],
      [125, 200],
      [125, 1],
    ] as const) {
      const page = pageOf(blocks, runs);
      const bodies = Array.from({ length: ROUNDS }, () => JSON.stringify(request(page, ++revision)));
      const sent = bodies.map((body) => Buffer.from(body));
      const parse = await best(ROUNDS, (round) => JSON.parse(bodies[round]!));
      const validate = await best(ROUNDS, () => inspectPageDocument(page, 'page'));
      const sync = await best(ROUNDS, async (round) => {
        const status = await post(url, headers, sent[round]!);
        if (status !== 200) throw new Error(`The sync answered ${status}.`);
      });
      const size = `${(Buffer.byteLength(bodies[0]!) / 1024 / 1024).toFixed(1)} MiB`;
      const columns = [
        `${blocks} x ${runs}`.padEnd(18),
        size.padEnd(10),
        ms(parse).padEnd(11),
        ms(validate).padEnd(10),
      ];
      console.log(...columns, ms(sync).padEnd(20), (sync / parse).toFixed(1));
    }
  } finally {
    await app.close();
  }
}

await main();
