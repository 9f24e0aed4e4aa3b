import 'reflect-metadata';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildApp } from '../../src/app.ts';
import { AccessTokens } from '../../src/auth/access-tokens.ts';
import { loadConfig } from '../../src/config.ts';
import { Database, type Databases } from '../../src/database/database.ts';
import { runPendingMigrations } from '../../src/database/run-migrations.ts';
import { openCluster } from '../../src/dev-postgres/cluster.ts';
import { validatePageDocument } from '../../src/domain/photo-reports/page-document.ts';
import { REGIONS } from '../../src/shared/regions.ts';
import { loadDemoInto } from '../support/load-demo.ts';
import { toMarkdownTable } from './markdown-table.ts';

/*
 * Measures the largest photo reports relative to `JSON.parse` of their bodies, and how validation grows. It also runs as a program:
 * npm run build && node dist/test/bench/photo-report.bench.js
 */

/** Default document sizes. Each block has the maximum length of text. */
const DOCUMENT_SIZES: readonly DocumentSize[] = [
  [500, 200],
  [500, 1],
  [250, 200],
  [125, 200],
  [125, 1],
];

/** Maximum time to validate and store a report, as a multiple of `JSON.parse` of its body. */
const MAX_RATIO = 40;

type DocumentSize = readonly [blocks: number, runs: number];

interface PhotoReportOptions {
  sizes?: readonly DocumentSize[];
  /** Syncs of each size, of which the fastest counts. */
  rounds?: number;
  log?: (line: string) => void;
}

/** Times in milliseconds. The keys are those of `--json`. */
interface PhotoReportRow {
  blocks: number;
  runs: number;
  bytes: number;
  parse: number;
  validate: number;
  /** Time over HTTP until the response, with the report validated and stored. */
  sync: number;
  /** `sync` as a multiple of `parse`. */
  ratio: number;
  holds: boolean;
}
const BASE_URL = 'http://localhost:4000';
const TOKEN_KEY = Buffer.alloc(32, 7).toString('base64url');
const WORDS = 'slab edge protection is missing at the east facade before the pour of level three on thursday '.split(
  ' ',
);

/** Returns a pseudorandom text of that length; texts of different seeds differ. */
function createText(length: number, seed: number): string {
  let state = seed * 2_654_435_761 + 1;
  let text = '';
  while (text.length < length) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    text += `${WORDS[state % WORDS.length]} `;
  }
  return text.slice(0, length);
}

/** Returns a page document of TEXT blocks, each with the maximum length of a rich text. */
const createPageDocument = (blocks: number, runs: number) => ({
  schemaVersion: 1,
  title: createText(20_000, 1),
  blocks: Array.from({ length: blocks }, (_, index) => ({
    sourceBlockId: `block-${index}`,
    type: 'TEXT',
    properties: {},
    richText: Array.from({ length: runs }, (_, run) => ({
      text: createText(20_000 / runs, index * 200 + run + 2),
      ...(runs > 1 && { marks: ['BOLD'] }),
    })),
  })),
});

const createBody = (page: object, sourceRevision: number) => ({
  sourceApp: 'bench',
  sourceExternalId: 'walk',
  sourceRevision,
  sourceCreatedAt: '2026-03-02T07:30:00Z',
  walkthroughDate: '2026-03-02T07:30:00Z',
  sourceAuthor: { externalId: 'a', name: 'b' },
  page,
});

/** Returns the shortest time of the rounds: other processes of the machine can only increase it. */
async function measureMinimum(rounds: number, execute: (round: number) => unknown): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const startedAt = performance.now();
    await execute(round);
    times.push(performance.now() - startedAt);
  }
  return Math.min(...times);
}

function sendPost(url: string, headers: Record<string, string>, body: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      url,
      { method: 'POST', headers: { ...headers, 'content-length': body.length } },
      (response) => {
        response.resume().on('end', () => resolve(response.statusCode!));
      },
    );
    request.on('error', reject).end(body);
  });
}

const formatMs = (time: number) => `${time.toFixed(1)} ms`;

/** Measures in a new database and logs a row for each size. */
export async function measurePhotoReports({
  sizes = DOCUMENT_SIZES,
  rounds = 15,
  log = console.log,
}: PhotoReportOptions = {}): Promise<PhotoReportRow[]> {
  const dataDir = await mkdtemp(join(tmpdir(), 'builder-api-bench-'));
  await chmod(dataDir, 0o711);
  const cluster = await openCluster({ dataDir });
  const databases = {} as Databases;
  try {
    for (const region of REGIONS) {
      await cluster.ensureDatabase(`bench_${region}`);
      databases[region] = new Database(region, cluster.url(`bench_${region}`));
      await runPendingMigrations(databases[region], 'auto');
      await databases[region].orm.schema.update();
    }
    const demo = await loadDemoInto(databases, { baseUrl: BASE_URL, timesheets: 0 });
    const client = demo.clients.find(({ name }) => name === 'A')!;
    return await measure({ databases, client, dataDir, sizes, rounds, log });
  } finally {
    for (const region of REGIONS) await databases[region]?.close();
    await cluster.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

interface Measurement extends Required<PhotoReportOptions> {
  databases: Databases;
  client: { clientId: string; builderIds: string[] };
  dataDir: string;
}

async function measure({ databases, client, dataDir, sizes, rounds, log }: Measurement): Promise<PhotoReportRow[]> {
  const limits = { RATE_LIMIT_API: '0', RATE_LIMIT_SYNC: '0', RATE_LIMIT_TOKEN: '0', LOG_LEVEL: 'silent' };
  const config = loadConfig({ DATA_DIR: dataDir, BASE_URL, TOKEN_KEY, ...limits });
  const clock = { now: () => Date.now() };
  const app = await buildApp(config, { databases, clock, tokenKeys: [TOKEN_KEY] });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as { port: number };
  const url = `http://127.0.0.1:${port}/builders/${client.builderIds[0]}/photo-reports/sync`;
  const tokens = new AccessTokens({ keys: [TOKEN_KEY], issuer: BASE_URL, clock });
  const { token } = tokens.sign('au1', { sub: client.clientId, client_id: client.clientId, scope: 'write:photos' });
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  let revision = 0;
  const rows: PhotoReportRow[] = [];
  try {
    log(
      ['blocks x runs', 'body', 'JSON.parse', 'validate', 'sync (HTTP, stored)', 'times JSON.parse']
        .map(padCell)
        .join(''),
    );
    for (const [blocks, runs] of sizes) {
      const page = createPageDocument(blocks, runs);
      const bodies = Array.from({ length: rounds }, () => JSON.stringify(createBody(page, ++revision)));
      const buffers = bodies.map((body) => Buffer.from(body));
      const parse = await measureMinimum(rounds, (round) => JSON.parse(bodies[round]!));
      const validate = await measureMinimum(rounds, () => validatePageDocument(page, 'page'));
      const sync = await measureMinimum(rounds, async (round) => {
        const status = await sendPost(url, headers, buffers[round]!);
        if (status !== 200) throw new Error(`The sync was answered with ${status}.`);
      });
      const ratio = sync / parse;
      rows.push({ blocks, runs, bytes: buffers[0]!.length, parse, validate, sync, ratio, holds: ratio < MAX_RATIO });
      const size = `${(buffers[0]!.length / 1024 / 1024).toFixed(1)} MiB`;
      log(
        [`${blocks} x ${runs}`, size, formatMs(parse), formatMs(validate), formatMs(sync), ratio.toFixed(1)]
          .map(padCell)
          .join(''),
      );
    }
  } finally {
    await app.close();
  }
  return rows;
}

const padCell = (text: string) => text.padEnd(20);

/** Returns the rows as a Markdown table. */
export function toPhotoReportTable(rows: readonly PhotoReportRow[]): string {
  const header = [
    'blocks x runs',
    'body, MiB',
    'JSON.parse, ms',
    'validate, ms',
    'sync, ms',
    'times JSON.parse',
    'at most',
  ];
  const cells = rows.map(({ blocks, runs, bytes, parse, validate, sync, ratio }) => [
    `${blocks} x ${runs}`,
    ...[bytes / 2 ** 20, parse, validate, sync, ratio].map((value) => value.toFixed(1)),
    String(MAX_RATIO),
  ]);
  return `\n${toMarkdownTable(header, cells)}\n\nSync is the time over HTTP until the response, with the report validated and stored.\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const rows = await measurePhotoReports();
  if (rows.some(({ holds }) => !holds)) {
    console.error(`A report takes more than ${MAX_RATIO} times as long as JSON.parse of its body.`);
    process.exitCode = 1;
  }
}
