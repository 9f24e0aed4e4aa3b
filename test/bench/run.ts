/**
 * The service beside its hand-written twin, one after the other in turn, over the same data. The ratios are what counts: the
 * load generator and PostgreSQL take their share of the same processors, so that the absolute figures are those of the whole.
 */
import 'reflect-metadata';
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SCOPES } from '../../schema/scopes.ts';
import { systemClock } from '../../src/clock.ts';
import { REGIONS } from '../../src/context.ts';
import { type Cluster, openCluster } from '../../src/database/cluster.ts';
import { Database } from '../../src/database/database.ts';
import { bringUpToDate } from '../../src/database/migrate.ts';
import { AccessTokens } from '../../src/tokens.ts';
import { type DataSet, loadData } from './data.ts';
import { type Probe, probesOf, requireSameAnswers } from './probes.ts';
import { Contestant, databaseProcessorTime, LoadGenerator } from './processes.ts';

const HELP = `npm run bench -- [options]

  --seconds N       of each measurement (5)
  --rounds N        of each endpoint, ours and the twin's in turn (5)
  --connections N   repeatable (32 and 1)
  --only TEXT       endpoints whose path holds the text
  --timesheets N    rows in the largest table (20000)
  --json            prints the figures as JSON
`;

const BASE_URL = 'http://localhost:4000';
const WARM_UP_SECONDS = 2;

interface Options {
  seconds: number;
  rounds: number;
  connections: number[];
  only: string;
  timesheets: number;
  json: boolean;
}

interface Sample {
  requestsPerSecond: number;
  /** Milliseconds. */
  p99: number;
  /** Microseconds of processor time per request: of the service's process, and of PostgreSQL's. */
  service: number;
  database: number;
}

interface Figures {
  endpoint: string;
  connections: number;
  ours: Sample;
  plain: Sample;
  /** Median of the rounds' ratios of requests per second, and the least and greatest of them. */
  ratio: number;
  ratios: [least: number, greatest: number];
}

function readOptions(): Options {
  const { values } = parseArgs({
    options: {
      seconds: { type: 'string', default: '5' },
      rounds: { type: 'string', default: '5' },
      connections: { type: 'string', multiple: true, default: ['32', '1'] },
      only: { type: 'string', default: '' },
      timesheets: { type: 'string', default: '20000' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    process.exit();
  }
  const count = (name: string, text: string) => {
    if (!/^[1-9]\d*$/.test(text)) throw new Error(`--${name} must be a number from 1, not "${text}".`);
    return Number(text);
  };
  return {
    seconds: count('seconds', values.seconds),
    rounds: count('rounds', values.rounds),
    connections: values.connections.map((text) => count('connections', text)),
    only: values.only,
    timesheets: count('timesheets', values.timesheets),
    json: values.json,
  };
}

/** Progress goes beside the figures, so that `--json` can be piped. */
const say = (line: string) => process.stderr.write(`${line}\n`);

const cleanups: (() => Promise<unknown>)[] = [];

async function cleanUp(): Promise<void> {
  for (let next = cleanups.pop(); next; next = cleanups.pop()) {
    await next().catch((error) => say(String(error)));
  }
}

async function main(options: Options): Promise<void> {
  const dataDir = await temporaryFolder();
  const cluster = await startCluster(dataDir);
  const data = await prepare(cluster, options.timesheets);
  const tokenKey = randomBytes(32).toString('base64url');
  const env = {
    NODE_ENV: 'production',
    BASE_URL,
    DATA_DIR: join(dataDir, 'service'),
    TOKEN_KEY: tokenKey,
    DATABASE_URL_AU1: cluster.url('bench_au1'),
    DATABASE_URL_US1: cluster.url('bench_us1'),
    RATE_LIMIT_API: '0',
    LOG_LEVEL: 'warn',
  };
  const ours = await Contestant.start('ours', '../../src/server.js', env);
  cleanups.push(() => ours.stop());
  const plain = await Contestant.start('plain', './plain.js', env);
  cleanups.push(() => plain.stop());
  const generator = new LoadGenerator();
  cleanups.push(() => generator.stop());

  const tokens = await signTokens(tokenKey, data.clientId);
  const probes = probesOf(data, tokens);
  await requireSameAnswers([ours.origin, plain.origin], probes);
  say(`Both answer ${probes.length} requests alike, byte for byte.`);

  const measured = endpointsOf(data).filter(({ name }) => name.includes(options.only));
  const bench: Bench = { ours, plain, generator, dataDir };
  const figures: Figures[] = [];
  for (const connections of options.connections) {
    for (const endpoint of measured) {
      figures.push(await compare(bench, { ...endpoint, token: tokens.all }, connections, options));
    }
  }
  await requireSameAnswers([ours.origin, plain.origin], probes);
  process.stdout.write(options.json ? `${JSON.stringify(figures, null, 2)}\n` : table(figures, options));
}

async function signTokens(key: string, clientId: string) {
  const claims = (scopes: readonly string[]) => ({ sub: clientId, client_id: clientId, scope: scopes.join(' ') });
  const service = new AccessTokens({ key, issuer: BASE_URL, clock: systemClock });
  const yesterday = new AccessTokens({ key, issuer: BASE_URL, clock: { now: () => systemClock.now() - 86_400_000 } });
  const [all, narrow, expired, revoked] = await Promise.all([
    service.sign(claims(SCOPES)),
    service.sign(claims(['read:defects'])),
    yesterday.sign(claims(SCOPES)),
    // Of a token family that isn't there (any more).
    service.sign(claims(SCOPES), 'none'),
  ]);
  return { all: all.token, narrow: narrow.token, expired: expired.token, revoked: revoked.token };
}

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'builder-api-bench-'));
  cleanups.push(() => rm(folder, { recursive: true, force: true }));
  // As root, PostgreSQL runs as another user, who has to pass through.
  await chmod(folder, 0o711);
  return folder;
}

async function startCluster(dataDir: string): Promise<Cluster> {
  say(`Starting PostgreSQL in ${dataDir}.`);
  const cluster = await openCluster({ dataDir });
  cleanups.push(() => cluster.stop());
  return cluster;
}

async function prepare(cluster: Cluster, timesheets: number): Promise<DataSet> {
  for (const region of REGIONS) {
    await cluster.ensureDatabase(`bench_${region}`);
    const database = new Database(region, cluster.url(`bench_${region}`));
    await bringUpToDate(database, 'auto');
    await database.close();
  }
  say(`Loading ${timesheets} timesheets.`);
  return loadData(cluster.url('bench_au1'), { builders: 4, timesheets });
}

type Endpoint = Probe & { name: string };

function endpointsOf({ builderId, projectId, subcontractorId }: DataSet): Endpoint[] {
  return [
    { name: 'GET /builders', path: '/builders' },
    {
      name: 'GET /timesheets?projectId=',
      path: `/timesheets?projectId=${projectId}`,
      headers: { 'x-service-builder-id': builderId },
    },
    { name: 'GET /subcontractors/{id}', path: `/subcontractors/${subcontractorId}` },
  ];
}

/** What a comparison takes. */
interface Bench {
  ours: Contestant;
  plain: Contestant;
  generator: LoadGenerator;
  /** Folder of the cluster that both read. */
  dataDir: string;
}

async function compare(
  bench: Bench,
  endpoint: Endpoint,
  connections: number,
  { seconds, rounds }: Options,
): Promise<Figures> {
  const { ours, plain } = bench;
  for (const contestant of [ours, plain]) await load(bench, contestant, endpoint, connections, WARM_UP_SECONDS);
  const samples: [Sample, Sample][] = [];
  for (let round = 1; round <= rounds; round++) {
    const first = await load(bench, ours, endpoint, connections, seconds);
    const second = await load(bench, plain, endpoint, connections, seconds);
    samples.push([first, second]);
    const [a, b] = [first, second].map(({ requestsPerSecond }) => Math.round(requestsPerSecond));
    say(`${endpoint.name}, ${connections} connections, round ${round}: ours ${a}/s, plain ${b}/s`);
  }
  const ratios = samples.map(([a, b]) => a.requestsPerSecond / b.requestsPerSecond).sort(ascending);
  return {
    endpoint: endpoint.name,
    connections,
    ours: medianSample(samples.map(([sample]) => sample)),
    plain: medianSample(samples.map(([, sample]) => sample)),
    ratio: median(ratios),
    ratios: [ratios[0]!, ratios.at(-1)!],
  };
}

async function load(
  { generator, dataDir }: Bench,
  contestant: Contestant,
  { path, headers = {}, token }: Endpoint,
  connections: number,
  seconds: number,
): Promise<Sample> {
  const times = () => Promise.all([contestant.processorTime(), databaseProcessorTime(dataDir)]);
  const before = await times();
  const url = `${contestant.origin}${path}`;
  const result = await generator.run({ url, token: token!, headers, connections, seconds });
  const [service, database] = (await times()).map((time, index) => ((time - before[index]!) * 1000) / result.requests);
  if (result.failures > 0) throw new Error(`${contestant.name}: ${result.failures} requests to ${path} failed.`);
  return { requestsPerSecond: result.requestsPerSecond, p99: result.p99, service: service!, database: database! };
}

const ascending = (a: number, b: number) => a - b;

function median(values: number[]): number {
  const sorted = [...values].sort(ascending);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

function medianSample(samples: Sample[]): Sample {
  const of = (key: keyof Sample) => median(samples.map((sample) => sample[key]));
  return {
    requestsPerSecond: of('requestsPerSecond'),
    p99: of('p99'),
    service: of('service'),
    database: of('database'),
  };
}

function table(figures: Figures[], { rounds, seconds }: Options): string {
  const header = [
    'endpoint',
    'connections',
    'requests/s',
    'plain',
    'ratio',
    '(range)',
    'p99 ms',
    'plain',
    'CPU µs',
    'plain',
  ];
  const processor = ({ service, database }: Sample) => `${service.toFixed(0)} + ${database.toFixed(0)}`;
  const rows = figures.map(({ endpoint, connections, ours, plain, ratio, ratios }) => [
    endpoint,
    String(connections),
    ours.requestsPerSecond.toFixed(0),
    plain.requestsPerSecond.toFixed(0),
    ratio.toFixed(2),
    `(${ratios.map((value) => value.toFixed(2)).join('–')})`,
    String(ours.p99),
    String(plain.p99),
    processor(ours),
    processor(plain),
  ]);
  const lines = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  const text = lines.map((line) =>
    line.map((cell, column) => (column ? cell.padStart(widths[column]!) : cell.padEnd(widths[0]!))).join('  '),
  );
  return `
${text.join('\n')}

Medians of ${rounds} rounds of ${seconds} s; the ratio is the median of the rounds' ratios, above 1 where ours is faster.
CPU is what the service and PostgreSQL use per request. ${cpus().length} processors (${cpus()[0]?.model.trim()}), which the service, the
load generator and PostgreSQL share: compare the two columns, not runs on other machines.
`;
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => void cleanUp().then(() => process.exit(1)));
}

try {
  await main(readOptions());
} catch (error) {
  process.exitCode = 1;
  say((error as Error).message);
} finally {
  await cleanUp();
}
process.exit();
