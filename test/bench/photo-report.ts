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
import { loadDemoInto } from '../../src/demo/load.ts';
import { openCluster } from '../../src/dev-postgres/cluster.ts';
import { validatePageDocument } from '../../src/domain/photo-reports/page-document.ts';
import { REGIONS } from '../../src/shared/regions.ts';
import { markdown } from './table.ts';

/*
 * How long the largest photo reports take, beside `JSON.parse` of their bodies, and how validation grows. On its own:
 * npm run build && node dist/test/bench/photo-report.js
 */

/** What is measured when nothing else is asked for: `[blocks, runs of each]`, each block with as much text as it may have. */
const SHAPES: readonly Shape[] = [
  [500, 200],
  [500, 1],
  [250, 200],
  [125, 200],
  [125, 1],
];

/** How many times as long as `JSON.parse` of its body a report may take to be validated and stored. */
const BOUND = 40;

type Shape = readonly [blocks: number, runs: number];

interface PhotoReportOptions {
  shapes?: readonly Shape[];
  /** How often each is synced; the best counts. */
  rounds?: number;
  print?: (line: string) => void;
}

/** Times in milliseconds. */
interface PhotoReportRow {
  blocks: number;
  runs: number;
  bytes: number;
  parse: number;
  validate: number;
  /** Over HTTP, until the answer: validated and stored. */
  sync: number;
  /** `sync` in times of `parse`. */
  ratio: number;
  holds: boolean;
}
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
const createPage = (blocks: number, runs: number) => ({
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

/** Measures on a database of its own, and prints a row for each shape. */
export async function photoReports({
  shapes = SHAPES,
  rounds = 15,
  print = console.log,
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
    return await measure({ databases, client, dataDir, shapes, rounds, print });
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

async function measure({ databases, client, dataDir, shapes, rounds, print }: Measurement): Promise<PhotoReportRow[]> {
  const off = { RATE_LIMIT_API: '0', RATE_LIMIT_SYNC: '0', RATE_LIMIT_TOKEN: '0', LOG_LEVEL: 'silent' };
  const config = loadConfig({ DATA_DIR: dataDir, BASE_URL, TOKEN_KEY, ...off });
  const clock = { now: () => Date.now() };
  const app = await buildApp(config, { databases, clock, tokenKeys: [TOKEN_KEY] });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as { port: number };
  const url = `http://127.0.0.1:${port}/builders/${client.builderIds[0]}/photo-reports/sync`;
  const tokens = new AccessTokens({ keys: [TOKEN_KEY], issuer: BASE_URL, clock });
  const { token } = tokens.sign({ sub: client.clientId, client_id: client.clientId, scope: 'write:photos' });
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  let revision = 0;
  const rows: PhotoReportRow[] = [];
  try {
    print(
      ['blocks x runs', 'body', 'JSON.parse', 'validate', 'sync (HTTP, stored)', 'times JSON.parse'].map(cell).join(''),
    );
    for (const [blocks, runs] of shapes) {
      const page = createPage(blocks, runs);
      const bodies = Array.from({ length: rounds }, () => JSON.stringify(request(page, ++revision)));
      const sent = bodies.map((body) => Buffer.from(body));
      const parse = await best(rounds, (round) => JSON.parse(bodies[round]!));
      const validate = await best(rounds, () => validatePageDocument(page, 'page'));
      const sync = await best(rounds, async (round) => {
        const status = await post(url, headers, sent[round]!);
        if (status !== 200) throw new Error(`The sync answered ${status}.`);
      });
      const ratio = sync / parse;
      rows.push({ blocks, runs, bytes: sent[0]!.length, parse, validate, sync, ratio, holds: ratio < BOUND });
      const size = `${(sent[0]!.length / 1024 / 1024).toFixed(1)} MiB`;
      print([`${blocks} x ${runs}`, size, ms(parse), ms(validate), ms(sync), ratio.toFixed(1)].map(cell).join(''));
    }
  } finally {
    await app.close();
  }
  return rows;
}

const cell = (text: string) => text.padEnd(20);

/** The rows as a Markdown table. */
export function photoReportTable(rows: readonly PhotoReportRow[]): string {
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
    String(BOUND),
  ]);
  return `\n${markdown(header, cells)}\n\nSync is the time over HTTP until the response, with the report validated and stored.\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const rows = await photoReports();
  if (rows.some(({ holds }) => !holds)) {
    console.error(`A report takes more than ${BOUND} times as long as JSON.parse of its body.`);
    process.exitCode = 1;
  }
}
