import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { databaseProcessorTime, processorTime } from '../bench/processes.ts';
import type { Exchange } from './exchange.ts';
import type { Instance } from './instance.ts';
import type { ReplicatedPostgres } from './replicated-postgres.ts';

/** Part of each resource that was in use at a time, from 0 to 1. */
interface ResourceSample {
  at: number;
  parts: Record<string, number>;
}

/** Part of a resource from which it counts as saturated. */
const SATURATED = 0.9;

const INTERVAL_MS = 1_000;

/** Milliseconds over which the cost of idle instances is measured. */
const IDLE_MS = 15_000;

/** Part of the processors that may be in use beyond the idle instances before an hour begins. */
const SETTLED = 0.1;

/** Milliseconds after which an hour begins in any case. */
const SETTLE_MS = 60_000;

/** What instances without requests use. */
interface IdleUse {
  text: string;
  /** Part of all processors, from 0 to 1. */
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
      const processors = toUse(before, now);
      before = now;
      // One instance a second: reading all of them would be a load of its own.
      const instance = this.#instances[samples.length % this.#instances.length]!;
      const parts = { processors, ...(await this.#readPostgres()), ...(await this.#readShares(instance)) };
      samples.push({ at: Date.now(), parts });
    }
    return samples;
  }

  async #readPostgres(): Promise<Record<string, number>> {
    const sql = `select count(*)::float8 / current_setting('max_connections')::int as connections,
      (count(*) filter (where state = 'active' and wait_event_type = 'Lock'))::float8 / active as locks,
      (count(*) filter (where state = 'active' and wait_event in ('WALSync', 'WalSync', 'WALWrite')))::float8 / active as log
      from pg_stat_activity,
        -- One or two sessions that wait are no queue.
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

/** Waits until the processors have been idle for two seconds, so that the work of one hour is no load of the next. */
export async function waitForIdleProcessors(idle: IdleUse): Promise<void> {
  const until = Date.now() + SETTLE_MS;
  for (let seconds = 0; seconds < 2 && Date.now() < until; ) {
    const before = readProcessors();
    await sleep(INTERVAL_MS);
    seconds = toUse(before, readProcessors()) < idle.processors + SETTLED ? seconds + 1 : 0;
  }
}

/** Measures the processor time that instances without requests cost: their own, and PostgreSQL's for their numbering, polls and jobs. */
export async function measureIdle(instances: readonly Instance[], dataDir: string): Promise<IdleUse> {
  // For garbage collections and other work of the earlier requests.
  await sleep(IDLE_MS);
  const read = async () => ({
    service: await Promise.all(instances.map(({ pid }) => processorTime(pid))),
    database: await databaseProcessorTime(dataDir),
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
    processors: toUse(before.processors, after.processors),
  };
}

interface ProcessorTimes {
  busy: number;
  total: number;
}

const toUse = (before: ProcessorTimes, after: ProcessorTimes) =>
  (after.busy - before.busy) / Math.max(1, after.total - before.total);

/** Times of all processors. Work of low priority (renditions) counts as idle: it gives way to everything else. */
function readProcessors(): ProcessorTimes {
  const times = cpus().map((cpu) => cpu.times);
  const total = times.reduce((sum, { user, nice, sys, idle, irq }) => sum + user + nice + sys + idle + irq, 0);
  return { total, busy: total - times.reduce((sum, { idle, nice }) => sum + idle + nice, 0) };
}

/** Returns which resource was saturated first, at how many requests per second, and the highest use of the others. */
export function findSaturation(samples: readonly ResourceSample[], exchanges: readonly Exchange[]): string {
  const highest: Record<string, number> = {};
  for (const { parts } of samples) {
    for (const [name, part] of Object.entries(parts)) highest[name] = Math.max(highest[name] ?? 0, part);
  }
  const rest = Object.entries(highest)
    .filter(([, part]) => part >= 0.05)
    .sort(([, one], [, other]) => other - one)
    .map(([name, part]) => `${name} ${toPercent(part)}`)
    .join(', ');
  // Twice in a row: a single second may be a job or a start.
  for (const [index, { at, parts }] of samples.entries()) {
    const saturated = Object.keys(parts).filter(
      (name) => parts[name]! >= SATURATED && (samples[index + 1]?.parts[name] ?? 0) >= SATURATED,
    );
    if (saturated.length === 0) continue;
    const during = exchanges.filter(({ begun }) => begun > at - INTERVAL_MS && begun <= at);
    const rejected = during.filter(({ status }) => status === 429).length;
    return `saturated first: ${saturated.join(' and ')}, at ${during.length - rejected} requests/s and ${rejected} of status 429 (highest use: ${rest})`;
  }
  return `nothing was saturated (highest use: ${rest})`;
}

const toPercent = (part: number) => `${Math.round(part * 100)} %`;
