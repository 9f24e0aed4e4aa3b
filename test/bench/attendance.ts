/**
 * Attendance events per second beside the hand-written twin, which makes the same two inserts: one after the other in turn,
 * over the same data, with PostgreSQL as in production (every commit on the disk).
 */
import 'reflect-metadata';
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SCOPES } from '../../schema/scopes.ts';
import { systemClock } from '../../src/clock.ts';
import { REGIONS } from '../../src/context.ts';
import { openCluster } from '../../src/database/cluster.ts';
import { Database } from '../../src/database/database.ts';
import { bringUpToDate } from '../../src/database/migrate.ts';
import { AccessTokens } from '../../src/tokens.ts';
import { addWorkers } from '../support/attendance-story.ts';
import { loadData } from './data.ts';
import { Contestant, LoadGenerator } from './processes.ts';

const BASE_URL = 'http://localhost:4000';
const WORKERS = 500;
const WARM_UP_SECONDS = 2;

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '5' },
    connections: { type: 'string', multiple: true, default: ['32', '1'] },
    json: { type: 'boolean', default: false },
  },
});
const seconds = Number(values.seconds);
const rounds = Number(values.rounds);

const say = (line: string) => process.stderr.write(`${line}\n`);
const cleanups: (() => Promise<unknown>)[] = [];

interface Sample {
  eventsPerSecond: number;
  /** Milliseconds. */
  p99: number;
  /** Microseconds of the service's processor time per event. */
  processor: number | null;
}

async function main(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'builder-api-bench-'));
  cleanups.push(() => rm(dataDir, { recursive: true, force: true }));
  // As root, PostgreSQL runs as another user, who has to pass through.
  await chmod(dataDir, 0o711);
  const cluster = await openCluster({ dataDir });
  cleanups.push(() => cluster.stop());
  for (const region of REGIONS) {
    await cluster.ensureDatabase(region);
    const database = new Database(region, cluster.url(region));
    await bringUpToDate(database, 'auto');
    await database.close();
  }
  const data = await loadData(cluster.url('au1'), { builders: 4, timesheets: 100 });
  const database = new Database('au1', cluster.url('au1'));
  const workers = await addWorkers(database, data, WORKERS);
  await database.fork().execute('analyze');
  await database.close();

  const tokenKey = randomBytes(32).toString('base64url');
  const env = {
    NODE_ENV: 'production',
    BASE_URL,
    TOKEN_KEY: tokenKey,
    DATABASE_URL_AU1: cluster.url('au1'),
    DATABASE_URL_US1: cluster.url('us1'),
    DATA_DIR: join(dataDir, 'data'),
    RATE_LIMIT_API: '0',
    LOG_LEVEL: 'warn',
  };
  const contestants = [
    await Contestant.start('ours', '../../src/server.js', env),
    await Contestant.start('plain', './plain-attendance.js', env),
  ] as const;
  for (const contestant of contestants) cleanups.push(() => contestant.stop());
  const generator = new LoadGenerator();
  cleanups.push(() => generator.stop());
  const tokens = new AccessTokens({ key: tokenKey, issuer: BASE_URL, clock: systemClock });
  const claims = { sub: data.clientId, client_id: data.clientId, scope: SCOPES.join(' ') };
  const { token } = await tokens.sign(claims);
  const path = `/builders/${data.builderId}/projects/${data.projectId}/sign-on-events`;
  const occurredAt = new Date(systemClock.now() - 3_600_000).toISOString();

  const measure = async (
    { origin, ...contestant }: Contestant,
    connections: number,
    duration: number,
  ): Promise<Sample> => {
    const workerId = workers[Math.floor(Math.random() * workers.length)];
    const body = JSON.stringify({
      sourceEventId: 'gate-[<id>]',
      workerId,
      type: 'SIGN_ON',
      occurredAt,
      deviceId: 'gate 2',
    });
    const order = { url: `${origin}${path}`, token, headers: {}, body, connections, seconds: duration };
    const processorTime = () => Contestant.prototype.processorTime.call(contestant as Contestant);
    const before = await processorTime();
    const result = await generator.run(order);
    const after = await processorTime();
    if (result.failures > 0) throw new Error(`${contestant.name}: ${result.failures} events were not taken.`);
    const processor = before === null || after === null ? null : ((after - before) * 1000) / result.requests;
    return { eventsPerSecond: result.requestsPerSecond, p99: result.p99, processor };
  };

  const figures = [];
  for (const connections of values.connections.map(Number)) {
    for (const contestant of contestants) await measure(contestant, connections, WARM_UP_SECONDS);
    const ratios: number[] = [];
    const samples: [Sample[], Sample[]] = [[], []];
    for (let round = 1; round <= rounds; round++) {
      for (const [at, contestant] of contestants.entries()) {
        samples[at]!.push(await measure(contestant, connections, seconds));
      }
      const [ours, plain] = samples.map((list) => list.at(-1)!.eventsPerSecond) as [number, number];
      ratios.push(ours / plain);
      say(`${connections} connections, round ${round}: ours ${ours.toFixed(0)}/s, plain ${plain.toFixed(0)}/s`);
    }
    const [ours, plain] = samples.map(medians) as [Sample, Sample];
    figures.push({ connections, ours, plain, ratio: median(ratios), ratios: ratios.sort(ascending) });
  }
  process.stdout.write(values.json ? `${JSON.stringify(figures, null, 2)}\n` : `${figures.map(line).join('\n')}\n`);
}

const ascending = (one: number, other: number) => one - other;

function median(list: number[]): number {
  const sorted = [...list].sort(ascending);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

const medians = (samples: Sample[]): Sample => ({
  eventsPerSecond: median(samples.map(({ eventsPerSecond }) => eventsPerSecond)),
  p99: median(samples.map(({ p99 }) => p99)),
  processor: samples.some(({ processor }) => processor === null)
    ? null
    : median(samples.map(({ processor }) => processor!)),
});

function line({
  connections,
  ours,
  plain,
  ratio,
  ratios,
}: {
  connections: number;
  ours: Sample;
  plain: Sample;
  ratio: number;
  ratios: number[];
}) {
  const of = ({ eventsPerSecond, p99, processor }: Sample) =>
    `${eventsPerSecond.toFixed(0)} events/s, p99 ${p99} ms, ${processor?.toFixed(0) ?? '-'} µs of processor each`;
  const range = `${ratios[0]!.toFixed(2)}–${ratios.at(-1)!.toFixed(2)}`;
  return `${connections} connections: ours ${of(ours)}; plain ${of(plain)}; ratio ${ratio.toFixed(2)} (${range})`;
}

try {
  await main();
} catch (error) {
  process.exitCode = 1;
  say((error as Error).stack ?? String(error));
} finally {
  for (let next = cleanups.pop(); next; next = cleanups.pop()) await next().catch((error) => say(String(error)));
}
process.exit();
