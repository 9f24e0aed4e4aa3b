import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { readDatabaseProcessorTime, readProcessorTime } from '../bench/processes.ts';
import type { Instance } from './instance.ts';
import type { ReplicatedPostgres } from './replicated-postgres.ts';
import type { RecordedRequest } from './request-recorder.ts';

/** The fraction of each resource that was in use, from 0 to 1. */
interface ResourceSample {
  at: number;
  usage: Record<string, number>;
}

/** Fraction in use from which a resource counts as saturated. */
const SATURATED = 0.9;

const INTERVAL_MS = 1_000;

/** Milliseconds over which the cost of idle instances is measured. */
const IDLE_MS = 15_000;

/** Fraction of the processors that may be in use beyond the idle instances when an hour begins. */
const IDLE_TOLERANCE = 0.1;

/** Maximum milliseconds to wait for idle processors. */
const IDLE_TIMEOUT_MS = 60_000;

/** Processor use of instances without requests. */
interface IdleUsage {
  text: string;
  /** Fraction of all processors, from 0 to 1. */
  processors: number;
}

/** Measures what requests compete for: processors, connections of PostgreSQL, the limits that callers share, pools and locks. */
export class ResourceMonitor {
  readonly #instances: readonly Instance[];
  readonly #token: string;
  readonly #servers: ReplicatedPostgres;

  constructor(instances: readonly Instance[], token: string, servers: ReplicatedPostgres) {
    this.#instances = instances;
    this.#token = token;
    this.#servers = servers;
  }

  async sampleUntil(until: number): Promise<ResourceSample[]> {
    const samples: ResourceSample[] = [];
    for (let before = readProcessors(); Date.now() < until; ) {
      await sleep(INTERVAL_MS);
      const now = readProcessors();
      const processors = toUsage(before, now);
      before = now;
      // One instance per second, because reading the metrics of all instances would be a load itself.
      const instance = this.#instances[samples.length % this.#instances.length]!;
      const usage = { processors, ...(await this.#readPostgres()), ...(await this.#readShares(instance)) };
      samples.push({ at: Date.now(), usage });
    }
    return samples;
  }

  async #readPostgres(): Promise<Record<string, number>> {
    const sql = `select count(*)::float8 / current_setting('max_connections')::int as connections,
      (count(*) filter (where state = 'active' and wait_event_type = 'Lock'))::float8 / active as locks,
      (count(*) filter (where state = 'active' and wait_event in ('WALSync', 'WalSync', 'WALWrite')))::float8 / active as log
      from pg_stat_activity,
        -- One or two waiting sessions are not a queue.
        (select greatest(8, count(*) filter (where state = 'active')) as active from pg_stat_activity) active
      where backend_type = 'client backend' and pid <> pg_backend_pid() group by active`;
    return this.#servers.executeOnPrimary('postgres', async (client) => {
      const { connections, locks, log } = (await client.query(sql)).rows[0];
      return {
        'connections of PostgreSQL': connections,
        'sessions waiting for locks': locks,
        'sessions waiting for the write-ahead log': log,
      };
    });
  }

  async #readShares({ origin }: Instance): Promise<Record<string, number>> {
    const headers = { authorization: `Bearer ${this.#token}` };
    const text = await fetch(`${origin}/metrics`, { headers }).then((response) => response.text());
    const shares = [...text.matchAll(/^share_used_ratio\{limit="([^"]+)"\} ([\d.]+)$/gm)];
    return Object.fromEntries(shares.map(([, limit, ratio]) => [`share of ${limit}`, Number(ratio)]));
  }
}

/** Waits until the processors have been idle for two seconds, so that the work of one hour does not load the next. */
export async function waitForIdleProcessors(idle: IdleUsage): Promise<void> {
  const until = Date.now() + IDLE_TIMEOUT_MS;
  for (let seconds = 0; seconds < 2 && Date.now() < until; ) {
    const before = readProcessors();
    await sleep(INTERVAL_MS);
    seconds = toUsage(before, readProcessors()) < idle.processors + IDLE_TOLERANCE ? seconds + 1 : 0;
  }
}

/** Measures the processor time of instances without requests: their own, and that of PostgreSQL for numbering, polls and jobs. */
export async function measureIdle(instances: readonly Instance[], dataDir: string): Promise<IdleUsage> {
  // Garbage collections and other work of the earlier requests end first.
  await sleep(IDLE_MS);
  const read = async () => ({
    service: await Promise.all(instances.map(({ pid }) => readProcessorTime(pid))),
    database: await readDatabaseProcessorTime(dataDir),
    processors: readProcessors(),
  });
  const before = await read();
  await sleep(IDLE_MS);
  const after = await read();
  const service = after.service.reduce((sum, time, index) => sum + time - before.service[index]!, 0);
  let database = 0;
  for (const [pid, time] of after.database) database += time - (before.database.get(pid) ?? 0);
  const toCost = (milliseconds: number) => `${((100 * milliseconds) / IDLE_MS / instances.length).toFixed(1)} %`;
  return {
    text: `each idle instance uses ${toCost(service)} of a processor itself and ${toCost(database)} in PostgreSQL`,
    processors: toUsage(before.processors, after.processors),
  };
}

interface ProcessorTimes {
  busy: number;
  total: number;
}

const toUsage = (before: ProcessorTimes, after: ProcessorTimes) =>
  (after.busy - before.busy) / Math.max(1, after.total - before.total);

/** Returns the times of all processors. Work of low priority (renditions) counts as idle, because it yields to all other work. */
function readProcessors(): ProcessorTimes {
  const times = cpus().map((cpu) => cpu.times);
  const total = times.reduce((sum, { user, nice, sys, idle, irq }) => sum + user + nice + sys + idle + irq, 0);
  return { total, busy: total - times.reduce((sum, { idle, nice }) => sum + idle + nice, 0) };
}

/** Returns which resource was saturated first, at how many requests per second, and the highest use of the others. */
export function findSaturation(samples: readonly ResourceSample[], requests: readonly RecordedRequest[]): string {
  const highest: Record<string, number> = {};
  for (const { usage } of samples) {
    for (const [name, fraction] of Object.entries(usage)) highest[name] = Math.max(highest[name] ?? 0, fraction);
  }
  const others = Object.entries(highest)
    .filter(([, fraction]) => fraction >= 0.05)
    .sort(([, one], [, other]) => other - one)
    .map(([name, fraction]) => `${name} ${toPercent(fraction)}`)
    .join(', ');
  // Two consecutive samples, because one may be a job or a start.
  for (const [index, { at, usage }] of samples.entries()) {
    const saturated = Object.keys(usage).filter(
      (name) => usage[name]! >= SATURATED && (samples[index + 1]?.usage[name] ?? 0) >= SATURATED,
    );
    if (saturated.length === 0) continue;
    const during = requests.filter(({ begun }) => begun > at - INTERVAL_MS && begun <= at);
    const rejected = during.filter(({ status }) => status === 429).length;
    return `saturated first: ${saturated.join(' and ')}, at ${during.length - rejected} requests/s and ${rejected} of status 429 (highest use: ${others})`;
  }
  return `nothing was saturated (highest use: ${others})`;
}

const toPercent = (fraction: number) => `${Math.round(fraction * 100)} %`;
