import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadConfig } from '../../src/config.ts';
import { openStorages, type Storage } from '../../src/storage/storage.ts';
import { mountRefused } from '../support/small-disk.ts';
import { startSwift, swiftMissing } from '../support/swift.ts';
import { countBy, DEADLINE_MS, type Exchange, Exchanges, percentile } from './exchange.ts';
import {
  type Fault,
  failingStore,
  fullDatabase,
  fullStore,
  hang,
  killInstance,
  killPostgres,
  moveClock,
  refuse,
} from './fault.ts';
import { FaultyStore } from './faulty-store.ts';
import type { Instance } from './instance.ts';
import { Application } from './integrator.ts';
import { MixedLoad } from './load.ts';
import { ProofSite, type Say } from './site.ts';

export interface FaultsOptions {
  /** Seconds for which PostgreSQL rejects connections. */
  refuseSeconds: number;
  /** Whether only faults of a few seconds are included. */
  short: boolean;
  say: Say;
}

/** Milliseconds after the end of a fault within which the service must have recovered. */
const HEALTHY_MS = 5_000;

/** Maximum milliseconds of a health probe. */
const PATIENCE_MS = 60_000;

/** Milliseconds in which a fault may be the cause of a failure. */
export interface Window {
  fault: Fault;
  begun: number;
  ended: number;
  /** Milliseconds from the end of the fault until every instance reads, writes and stores again. */
  healthyAfter: number;
}

const MEBIBYTE = 1_048_576;
const CLOCK = new URL('./moved-clock.js', import.meta.url).href;

/**
 * Three integrators use two instances during one fault after the other. Every acknowledged write is there once, a request that cannot be
 * served is 503 with `Retry-After` in time, and the service recovers from each fault without an operator.
 */
export async function faults({ refuseSeconds, short, say }: FaultsOptions) {
  const disks = short || mountRefused ? null : { databaseBytes: 1_500 * MEBIBYTE, storeBytes: 64 * MEBIBYTE };
  if (mountRefused) say(`NOT PROVED: a full disk. ${mountRefused}`);
  const site = await ProofSite.start({}, disks);
  const wrong: string[] = [];
  try {
    const clockFile = join(site.dataDir, 'clock');
    await site.addInstance();
    if (short) await site.addInstance();
    else await site.addInstance({ MOVED_CLOCK: clockFile }, ['--import', CLOCK]);
    const list = short
      ? [killPostgres, killInstance]
      : [
          ...[killInstance, killPostgres, killPostgres, hang(10)],
          ...(disks ? [fullStore(8), fullDatabase(8)] : []),
          ...[refuse(refuseSeconds), moveClock(2, 5, clockFile), moveClock(-2, 5, clockFile)],
        ];
    const storage = openStorages(loadConfig(site.env), { secrets: [site.env.TOKEN_KEY!], clock: Date }).au1;
    const first = await suffer(site, 'local', list, storage, say);
    wrong.push(...first.wrong);
    const second = short ? null : await sufferStore(site, say);
    wrong.push(...(second?.wrong ?? []));
    const exchanges = [...first.exchanges, ...(second?.exchanges ?? [])];
    const windows = [...first.windows, ...(second?.windows ?? [])];
    return {
      requests: exchanges.length,
      statuses: countBy(exchanges, ({ status }) => status),
      acknowledged: first.acknowledged + (second?.acknowledged ?? 0),
      retries: first.retries + (second?.retries ?? 0),
      mostInFlight: Math.max(first.mostInFlight, second?.mostInFlight ?? 0),
      slowest: Math.round(Math.max(...exchanges.map(({ milliseconds }) => milliseconds))),
      faults: windows.map(({ fault, healthyAfter }) => `${fault.name}: healthy after ${healthyAfter} ms`),
      wrong,
      figures: `${exchanges.length} requests, ${first.acknowledged + (second?.acknowledged ?? 0)} acknowledged writes, ${windows.length} faults, healthy after at most ${Math.max(...windows.map((window) => window.healthyAfter))} ms, slowest answer ${Math.round(Math.max(...exchanges.map(({ milliseconds }) => milliseconds)))} ms`,
    };
  } finally {
    await site.close(say);
  }
}

/** The same with an S3 store. */
async function sufferStore(site: ProofSite, say: Say) {
  if (swiftMissing) {
    say(`NOT PROVED: a store that fails. ${swiftMissing}`);
    return null;
  }
  const swift = await startSwift();
  site.afterwards(() => swift.stop());
  const store = await FaultyStore.before(swift.settings.S3_ENDPOINT!);
  site.afterwards(() => store.close());
  for (const instance of site.instances.splice(0)) await instance.kill();
  for (let count = 0; count < 2; count++) {
    await site.addInstance({ ...swift.settings, S3_ENDPOINT: store.endpoint });
  }
  const config = loadConfig({ ...site.env, ...swift.settings });
  const storage = openStorages(config, { secrets: [site.env.TOKEN_KEY!], clock: Date }).au1;
  const seen = await suffer(site, 's3', [failingStore(store, 15)], storage, say);
  if (store.faults < 10) seen.wrong.push(`the store failed only ${store.faults} of ${store.calls} calls`);
  return seen;
}

/** Runs the faults in turn under load. Returns what was wrong. */
export async function suffer(site: ProofSite, run: string, list: Fault[], storage: Storage, say: Say) {
  const origins = () => site.instances.map(({ origin }) => origin);
  const load = await MixedLoad.start(site, { origins, run, atATime: 3, pause: 50, readsPerSecond: 20 });
  const wrong: string[] = [];
  const windows: Window[] = [];
  await sleep(3_000);
  for (const fault of list) {
    await fault.prepare?.(site);
    const pids = site.instances.map(({ pid }) => pid);
    const begun = Date.now();
    await fault.happen(site);
    const ended = Date.now();
    load.forgetTokens();
    const healthyAfter = Math.round(await untilHealthy(site.instances, load.applications[0]!));
    windows.push({ fault, begun, ended, healthyAfter });
    if (healthyAfter > HEALTHY_MS) wrong.push(`${fault.name}: healthy only after ${healthyAfter} ms`);
    site.instances.forEach((instance, at) => {
      if (!instance.isRunning) wrong.push(`${fault.name}: an instance has ended: ${instance.output.slice(-500)}`);
      else if (instance.pid !== pids[at] && !fault.killsInstance)
        wrong.push(`${fault.name}: an instance was restarted`);
    });
    await sleep(Math.max(0, ended + HEALTHY_MS - Date.now()) + 1_000);
    say(describe(windows.at(-1)!, load.exchanges.all));
  }
  await load.end();
  wrong.push(...wrongExchanges(load.exchanges.all, windows));
  wrong.push(...(await load.differences(site.database(), storage)));
  const { acknowledged, retries } = load;
  const { all: exchanges, mostInFlight } = load.exchanges;
  return { exchanges, windows, wrong, acknowledged, retries, mostInFlight };
}

/** Returns the milliseconds until every instance is ready, reads, writes in both ways, and stores. */
async function untilHealthy(instances: Instance[], like: Application): Promise<number> {
  const begun = performance.now();
  await Promise.all(
    instances.map(async ({ origin }, at) => {
      const exchanges = new Exchanges();
      const probe = new Application(like.client, like.target, exchanges, () => origin, `probe-${at}-${Date.now()}`);
      for (;;) {
        exchanges.all.length = 0;
        const ready = await exchanges.send('ready', `${origin}/health/ready`);
        if (ready.status === 200) {
          const once = () => true;
          await Promise.all([probe.read(), probe.enter(once), probe.meet(once), probe.showPage(once)]);
          if (exchanges.all.every(({ status }) => status >= 200 && status < 300)) return;
        }
        if (performance.now() - begun > PATIENCE_MS) return;
        await sleep(50);
      }
    }),
  );
  return performance.now() - begun;
}

/** Whether a request overlaps a fault, or the time that the service has to recover. */
export const isDuring = ({ begun, milliseconds }: Exchange, window: Window) =>
  begun <= window.ended + HEALTHY_MS && begun + milliseconds >= window.begun;

/** Returns the responses that no fault explains, or that were too late. */
function wrongExchanges(exchanges: readonly Exchange[], windows: readonly Window[]): string[] {
  return exchanges.flatMap((exchange) => {
    const { operation, status, milliseconds, retryAfter, problem } = exchange;
    const during = windows.filter((window) => isDuring(exchange, window));
    const tell = (what: string) => {
      const when = during.map(({ fault }) => fault.name).join(', ') || 'no fault';
      return `${operation} at ${new Date(exchange.begun).toISOString()} (${when}): ${what}`;
    };
    if (milliseconds > DEADLINE_MS) return [tell(`took ${Math.round(milliseconds)} ms`)];
    if (status >= 200 && status < 300) return [];
    const isRefusal = status === 503 && retryAfter !== null;
    const isFailedSave = operation === 'report' && status === 500;
    const isExcused = during.some(({ fault }) => isRefusal || isFailedSave || fault.excuses?.(exchange));
    return isExcused
      ? []
      : [tell(`${status}${status === 503 && !retryAfter ? ' without Retry-After' : ''} ${problem}`)];
  });
}

function describe(window: Window, exchanges: readonly Exchange[]): string {
  const during = exchanges.filter((exchange) => isDuring(exchange, window));
  const statuses = JSON.stringify(countBy(during, ({ status }) => status));
  const times = during.map(({ milliseconds }) => milliseconds);
  const slow = `p99 ${percentile(times, 99)} ms, longest ${percentile(times, 100)} ms`;
  return `${window.fault.name}: ${statuses}, ${slow}; healthy ${window.healthyAfter} ms after its end`;
}
