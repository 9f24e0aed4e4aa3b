import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { shareMetrics } from '../http/metrics.ts';
import { ConnectionDispatcher } from './connection-dispatcher.ts';
import { HEARTBEAT_MS, type SupervisorMessage, type WorkerMessage } from './messages.ts';
import { describeExit, OUT_OF_MEMORY } from './worker-exit.ts';

/** Bounds of the delay before a worker that ended while it started is replaced; it doubles each time. */
const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 30_000;

/** Seconds that a worker which starts may be silent: it reads its code without a pause, on a busy machine for long. */
const START_SECONDS = 120;

/** A worker that did not come up; the message says why. */
export class WorkerFailed extends Error {
  override name = 'WorkerFailed';
}

type Settings = Pick<
  Config,
  'host' | 'port' | 'workers' | 'standby' | 'workerHeapMib' | 'workerHangSeconds' | 'drainSeconds'
>;

interface Supervised {
  worker: Worker;
  state: 'starting' | 'standby' | 'serving';
  /** When it was last heard of, in milliseconds of the monotonic clock. */
  heardAt: number;
  /** Seconds of silence after which it was killed; null when it was not. */
  hungSeconds: number | null;
}

/**
 * Runs the processes that serve: gives them the connections, replaces those that end or hang, and stops them. They end with this
 * process, however it ends: node:cluster ends a worker whose channel to the primary is closed.
 */
export class Supervisor {
  readonly #settings: Settings;
  readonly #env: Record<string, string>;
  readonly #log: Logger;
  readonly #dispatcher = new ConnectionDispatcher();
  readonly #supervised = new Set<Supervised>();
  readonly #delays = new Set<NodeJS.Timeout>();
  #replaces = false;
  #watch: NodeJS.Timeout | undefined;

  /** @param env settings of the workers that differ from those of this process. */
  constructor(settings: Settings, { env, log }: { env: Record<string, string>; log: Logger }) {
    this.#settings = settings;
    this.#env = env;
    this.#log = log;
  }

  /** Starts the workers, and listens once all of them are ready. Throws when one does not come up, or the port is taken. */
  async start(): Promise<void> {
    const { host, port, workers, standby, workerHeapMib } = this.#settings;
    shareMetrics();
    cluster.setupPrimary({
      execArgv: [...process.execArgv, `--max-old-space-size=${workerHeapMib}`],
      // Standard error passes through this process, which looks for V8's last words.
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    });
    this.#watchHeartbeats();
    try {
      await Promise.all(Array.from({ length: workers }, () => this.#fork(0)));
      if (this.#supervised.size < workers) throw new WorkerFailed('A worker ended before all of them were ready.');
      this.#replaces = true;
      await this.#dispatcher.listen(host, port);
      if (standby) this.#fork(0).catch(() => undefined);
    } catch (error) {
      await this.#stopWorkers();
      throw error;
    }
  }

  /** Lets balancers notice for DRAIN_SECONDS that the service is not ready, then requests finish. */
  async stop(): Promise<void> {
    this.#sendToAll({ type: 'draining' });
    await sleep(this.#settings.drainSeconds * 1000);
    this.#dispatcher.close();
    await this.#stopWorkers();
  }

  async #stopWorkers(): Promise<void> {
    this.#replaces = false;
    for (const delay of this.#delays) clearTimeout(delay);
    this.#sendToAll({ type: 'stop' });
    await Promise.all([...this.#supervised].map(({ worker }) => worker.isDead() || once(worker, 'exit')));
    clearInterval(this.#watch);
  }

  #sendToAll(message: SupervisorMessage): void {
    for (const { worker } of this.#supervised) worker.send(message, () => undefined);
  }

  /**
   * A new worker, once it is ready.
   *
   * @param failures workers before this one that did not come up, one after the other.
   */
  async #fork(failures: number): Promise<void> {
    const worker = cluster.fork(this.#env);
    const supervised: Supervised = { worker, state: 'starting', heardAt: performance.now(), hungSeconds: null };
    this.#supervised.add(supervised);
    const outOfMemory = watchForOutOfMemory(worker);
    let reason: string | null = null;
    await new Promise<void>((ready, fail) => {
      worker.on('message', (message: WorkerMessage) => {
        supervised.heardAt = performance.now();
        if (message.type === 'accepted') this.#dispatcher.accepted(worker);
        if (message.type === 'failure') reason = message.reason;
        if (message.type !== 'ready') return;
        supervised.state = 'standby';
        this.#fillPlaces();
        if (supervised.state === 'standby') this.#log.info({ worker: worker.process.pid }, STANDBY);
        ready();
      });
      worker.once('exit', (code, signal) => {
        this.#supervised.delete(supervised);
        this.#dispatcher.remove(worker);
        const exit = { code, signal, reason, hungSeconds: supervised.hungSeconds };
        if (this.#replaces) {
          this.#fillPlaces();
          this.#replace(supervised.state === 'starting' ? failures + 1 : 0);
          // Standard error may hold more than what has been read when the process ends.
          worker.process.once('close', () => {
            const cause = describeExit({ ...exit, outOfMemory: outOfMemory() });
            this.#log.error({ worker: worker.process.pid, code, signal, cause }, ENDED);
          });
        }
        fail(
          new WorkerFailed(
            reason ?? `A worker ended while it started: ${describeExit({ ...exit, outOfMemory: outOfMemory() })}.`,
          ),
        );
      });
    });
  }

  /** Gives connections to as many workers as are to serve, of those that are ready. */
  #fillPlaces(): void {
    const all = [...this.#supervised];
    const missing = this.#settings.workers - all.filter(({ state }) => state === 'serving').length;
    for (const supervised of all.filter(({ state }) => state === 'standby').slice(0, missing)) {
      supervised.state = 'serving';
      this.#dispatcher.add(supervised.worker);
      if (this.#replaces) this.#log.info({ worker: supervised.worker.process.pid }, REPLACED);
    }
  }

  /** At once, unless several in a row did not come up: one that cannot start must not keep the machine busy. */
  #replace(failures: number): void {
    const delayMs = failures < 2 ? 0 : Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (failures - 2));
    const delay = setTimeout(() => {
      this.#delays.delete(delay);
      // Its end is logged where it is replaced.
      this.#fork(failures).catch(() => undefined);
    }, delayMs);
    this.#delays.add(delay);
  }

  /**
   * Kills a worker whose event loop has not run for WORKER_HANG_SECONDS: it answers nobody and does not end by itself. When this
   * process was held up as well (a suspended machine), nobody's silence counts.
   */
  #watchHeartbeats(): void {
    const { workerHangSeconds } = this.#settings;
    if (workerHangSeconds === 0) return;
    let checkedAt = performance.now();
    this.#watch = setInterval(() => {
      const now = performance.now();
      const wasHeldUp = now - checkedAt > 4 * HEARTBEAT_MS;
      checkedAt = now;
      for (const supervised of this.#supervised) {
        if (wasHeldUp) supervised.heardAt = now;
        const limit = supervised.state === 'starting' ? Math.max(START_SECONDS, workerHangSeconds) : workerHangSeconds;
        if (supervised.hungSeconds !== null || now - supervised.heardAt < limit * 1000) continue;
        supervised.hungSeconds = limit;
        supervised.worker.process.kill('SIGKILL');
      }
    }, HEARTBEAT_MS).unref();
  }
}

const ENDED = 'a worker ended, another takes its place';
const STANDBY = 'a standby worker is ready';
const REPLACED = 'a worker took the place of one that ended';

/** Passes the worker's standard error on; the answered function says whether V8 has run out of memory there. */
function watchForOutOfMemory(worker: Worker): () => boolean {
  let tail = '';
  let found = false;
  worker.process.stderr!.on('data', (chunk: Buffer) => {
    process.stderr.write(chunk);
    const text = tail + chunk.toString('latin1');
    found ||= OUT_OF_MEMORY.test(text);
    tail = text.slice(-100);
  });
  return () => found;
}
