import { cpus } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
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
      const processors = (now.busy - before.busy) / Math.max(1, now.total - before.total);
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

/** Times of all processors. Work of low priority (renditions) counts as idle: it gives way to everything else. */
function readProcessors(): { busy: number; total: number } {
  const times = cpus().map((cpu) => cpu.times);
  const total = times.reduce((sum, { user, nice, sys, idle, irq }) => sum + user + nice + sys + idle + irq, 0);
  return { total, busy: total - times.reduce((sum, { idle, nice }) => sum + idle + nice, 0) };
}

/** Tells which resource was saturated first and at how many requests per second, and the highest use of the others. */
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
    const rate = exchanges.filter(({ begun }) => begun > at - INTERVAL_MS && begun <= at).length;
    return `saturated first: ${saturated.join(' and ')}, at ${rate} requests/s (highest use: ${rest})`;
  }
  return `nothing was saturated (highest use: ${rest})`;
}

const toPercent = (part: number) => `${Math.round(part * 100)} %`;
