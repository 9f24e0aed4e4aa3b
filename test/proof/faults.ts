import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Storage } from '../../src/storage/storage.ts';
import { mountUnavailableReason } from '../support/small-disk.ts';
import { startSwift, swiftUnavailableReason } from '../support/swift.ts';
import {
  type Fault,
  failStore,
  fillDatabaseDisk,
  fillStoreDisk,
  killInstance,
  killPostgres,
  moveClock,
  rejectConnections,
  suspendPostgres,
} from './fault-definitions.ts';
import { FaultyStore } from './faulty-store.ts';
import type { Instance } from './instance.ts';
import { IntegratorApplication } from './integrator-application.ts';
import { MixedLoad } from './mixed-load.ts';
import { type Log, ProofEnvironment } from './proof-environment.ts';
import { DEADLINE_MS, type RecordedRequest, RequestRecorder } from './request-recorder.ts';
import { countBy, percentile } from './statistics.ts';

export interface FaultsOptions {
  /** Seconds for which PostgreSQL rejects connections. */
  refuseSeconds: number;
  /** Whether only faults of a few seconds are included. */
  short: boolean;
  log: Log;
}

/** Milliseconds after the end of a fault within which the service must have recovered. */
const RECOVERY_MS = 5_000;

/** Maximum milliseconds to wait for recovery. */
const HEALTH_TIMEOUT_MS = 60_000;

/** The period in which a fault may cause failures, in milliseconds since the epoch. */
export interface FaultWindow {
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
export async function faults({ refuseSeconds, short, log }: FaultsOptions) {
  const disks = short || mountUnavailableReason ? null : { databaseBytes: 1_500 * MEBIBYTE, storeBytes: 64 * MEBIBYTE };
  if (mountUnavailableReason) log(`NOT PROVED: a full disk. ${mountUnavailableReason}`);
  const environment = await ProofEnvironment.start({}, disks);
  const problems: string[] = [];
  try {
    const clockFile = join(environment.dataDir, 'clock');
    await environment.addInstance();
    if (short) await environment.addInstance();
    else await environment.addInstance({ MOVED_CLOCK: clockFile }, ['--import', CLOCK]);
    const list = short
      ? [killPostgres, killInstance]
      : [
          ...[killInstance, killPostgres, killPostgres, suspendPostgres(10)],
          ...(disks ? [fillStoreDisk(8), fillDatabaseDisk(8)] : []),
          ...[rejectConnections(refuseSeconds), moveClock(2, 5, clockFile), moveClock(-2, 5, clockFile)],
        ];
    const storage = environment.openStorage();
    const first = await runFaults(environment, 'local', list, storage, log);
    problems.push(...first.problems);
    const second = short ? null : await runStoreFaults(environment, log);
    problems.push(...(second?.problems ?? []));
    const requests = [...first.requests, ...(second?.requests ?? [])];
    const windows = [...first.windows, ...(second?.windows ?? [])];
    return {
      requests: requests.length,
      statuses: countBy(requests, ({ status }) => status),
      acknowledged: first.acknowledged + (second?.acknowledged ?? 0),
      retries: first.retries + (second?.retries ?? 0),
      mostInFlight: Math.max(first.mostInFlight, second?.mostInFlight ?? 0),
      slowest: Math.round(Math.max(...requests.map(({ milliseconds }) => milliseconds))),
      faults: windows.map(({ fault, healthyAfter }) => `${fault.name}: healthy after ${healthyAfter} ms`),
      problems,
      figures: `${requests.length} requests, ${first.acknowledged + (second?.acknowledged ?? 0)} acknowledged writes, ${windows.length} faults, healthy after at most ${Math.max(...windows.map((window) => window.healthyAfter))} ms, slowest answer ${Math.round(Math.max(...requests.map(({ milliseconds }) => milliseconds)))} ms`,
    };
  } finally {
    await environment.close(log);
  }
}

/** Runs the faults of a store, with an S3 store. */
async function runStoreFaults(environment: ProofEnvironment, log: Log) {
  if (swiftUnavailableReason) {
    log(`NOT PROVED: a store that fails. ${swiftUnavailableReason}`);
    return null;
  }
  const swift = await startSwift();
  environment.onClose(() => swift.stop());
  const store = await FaultyStore.start(swift.settings.S3_ENDPOINT!);
  environment.onClose(() => store.close());
  for (const instance of environment.instances.splice(0)) await instance.kill();
  for (let count = 0; count < 2; count++) {
    await environment.addInstance({ ...swift.settings, S3_ENDPOINT: store.endpoint });
  }
  const storage = environment.openStorage(swift.settings);
  const result = await runFaults(environment, 's3', [failStore(store, 15)], storage, log);
  if (store.faults < 10) result.problems.push(`the store failed only ${store.faults} of ${store.calls} calls`);
  return result;
}

/** Runs the faults one after the other under load. Returns the requests, the periods of the faults, and the problems. */
export async function runFaults(environment: ProofEnvironment, run: string, list: Fault[], storage: Storage, log: Log) {
  const origins = () => environment.instances.map(({ origin }) => origin);
  const load = await MixedLoad.start(environment, { origins, run, concurrency: 3, pause: 50, readsPerSecond: 20 });
  const problems: string[] = [];
  const windows: FaultWindow[] = [];
  await sleep(3_000);
  for (const fault of list) {
    await fault.prepare?.(environment);
    const pids = environment.instances.map(({ pid }) => pid);
    const begun = Date.now();
    await fault.run(environment);
    const ended = Date.now();
    load.discardTokens();
    const healthyAfter = Math.round(await waitUntilHealthy(environment.instances, load.applications[0]!));
    windows.push({ fault, begun, ended, healthyAfter });
    if (healthyAfter > RECOVERY_MS) problems.push(`${fault.name}: healthy only after ${healthyAfter} ms`);
    environment.instances.forEach((instance, at) => {
      if (!instance.isRunning) problems.push(`${fault.name}: an instance has ended: ${instance.output.slice(-500)}`);
      else if (instance.pid !== pids[at] && !fault.killsInstance)
        problems.push(`${fault.name}: an instance was restarted`);
    });
    await sleep(Math.max(0, ended + RECOVERY_MS - Date.now()) + 1_000);
    log(formatWindow(windows.at(-1)!, load.recorder.requests));
  }
  await load.end();
  problems.push(...findUnexplainedResponses(load.recorder.requests, windows));
  problems.push(...(await load.verifyWrites(environment.database(), storage)));
  const { acknowledged, retries } = load;
  const { requests, mostInFlight } = load.recorder;
  return { requests, windows, problems, acknowledged, retries, mostInFlight };
}

/** Returns the milliseconds until every instance is ready, reads, writes in both ways, and stores. */
async function waitUntilHealthy(instances: Instance[], like: IntegratorApplication): Promise<number> {
  const begun = performance.now();
  await Promise.all(
    instances.map(async ({ origin }, at) => {
      const recorder = new RequestRecorder();
      const probe = new IntegratorApplication(
        like.client,
        like.target,
        recorder,
        () => origin,
        `probe-${at}-${Date.now()}`,
      );
      for (;;) {
        recorder.requests.length = 0;
        const ready = await recorder.send('ready', `${origin}/health/ready`);
        if (ready.status === 200) {
          const once = () => true;
          await Promise.all([
            probe.read(),
            probe.recordVisit(once),
            probe.syncMeeting(once),
            probe.syncPhotoPage(once),
          ]);
          if (recorder.requests.every(({ status }) => status >= 200 && status < 300)) return;
        }
        if (performance.now() - begun > HEALTH_TIMEOUT_MS) return;
        await sleep(50);
      }
    }),
  );
  return performance.now() - begun;
}

/** Whether a request overlaps a fault, or the time that the service has to recover. */
export const isDuring = ({ begun, milliseconds }: RecordedRequest, window: FaultWindow) =>
  begun <= window.ended + RECOVERY_MS && begun + milliseconds >= window.begun;

/** Returns the responses that no fault explains, or that were too late. */
function findUnexplainedResponses(requests: readonly RecordedRequest[], windows: readonly FaultWindow[]): string[] {
  return requests.flatMap((request) => {
    const { operation, status, milliseconds, retryAfter, problem } = request;
    const activeWindows = windows.filter((window) => isDuring(request, window));
    const toProblem = (text: string) => {
      const when = activeWindows.map(({ fault }) => fault.name).join(', ') || 'no fault';
      return `${operation} at ${new Date(request.begun).toISOString()} (${when}): ${text}`;
    };
    if (milliseconds > DEADLINE_MS) return [toProblem(`took ${Math.round(milliseconds)} ms`)];
    if (status >= 200 && status < 300) return [];
    const isUnavailable = status === 503 && retryAfter !== null;
    const isFailedSave = operation === 'report' && status === 500;
    const isAllowed = activeWindows.some(
      ({ fault }) => isUnavailable || isFailedSave || fault.allowsResponse?.(request),
    );
    return isAllowed
      ? []
      : [toProblem(`${status}${status === 503 && !retryAfter ? ' without Retry-After' : ''} ${problem}`)];
  });
}

function formatWindow(window: FaultWindow, requests: readonly RecordedRequest[]): string {
  const during = requests.filter((request) => isDuring(request, window));
  const statuses = JSON.stringify(countBy(during, ({ status }) => status));
  const times = during.map(({ milliseconds }) => milliseconds);
  const slow = `p99 ${percentile(times, 99)} ms, longest ${percentile(times, 100)} ms`;
  return `${window.fault.name}: ${statuses}, ${slow}; healthy ${window.healthyAfter} ms after its end`;
}
