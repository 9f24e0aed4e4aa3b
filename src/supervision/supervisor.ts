import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import { shareMetrics } from '../http/metrics/metrics.ts';
import { OperatorError } from '../shared/operator-error.ts';
import { HEARTBEAT_MS, type SupervisorMessage, type WorkerMessage } from './messages.ts';
import { describeExit, OUT_OF_MEMORY } from './worker-exit.ts';

/** Bounds of the delay before replacing a worker that failed to start; it doubles each time. */
const MIN_DELAY_MS = 500;
const MAX_DELAY_MS = 30_000;

/** Seconds without a heartbeat that a starting worker is allowed: loading its code blocks the event loop. */
const START_SECONDS = 120;

/** Limits the young generation to what a worker needs: 30 % less memory under load than with the default (docs/decisions/0080). */
const YOUNG_GENERATION = '--max-semi-space-size=16';

/** A worker that failed to start. The message is the reason. */
export class WorkerStartError extends OperatorError {
  override name = 'WorkerStartError';
}

type Settings = Pick<Config, 'workers' | 'workerHeapMib' | 'workerHangSeconds' | 'drainSeconds'>;

interface Supervised {
  worker: Worker;
  isListening: boolean;
  /** Time of its last message, in milliseconds of the monotonic clock. */
  lastMessageAt: number;
  /** Seconds without a heartbeat after which it was killed; null if it was not. */
  exceededHangSeconds: number | null;
}

/**
 * Runs the workers of node:cluster, which share a port: starts them, replaces those that exit or hang, and stops them. Workers exit with this
 * process, because node:cluster ends a worker whose channel to the primary closes.
 */
export class Supervisor {
  readonly #settings: Settings;
  readonly #env: Record<string, string>;
  readonly #log: Logger;
  readonly #supervised = new Set<Supervised>();
  readonly #delays = new Set<NodeJS.Timeout>();
  #replacesWorkers = false;
  #hangCheck: NodeJS.Timeout | undefined;

  /** @param env Settings of the workers that differ from those of this process. */
  constructor(settings: Settings, { env, log }: { env: Record<string, string>; log: Logger }) {
    this.#settings = settings;
    this.#env = env;
    this.#log = log;
  }

  /** Starts the workers. Resolves when all of them listen. Throws if one fails to start, for instance because the port is in use. */
  async start(): Promise<void> {
    const { workers, workerHeapMib } = this.#settings;
    shareMetrics();
    // Workers accept connections themselves. With the default, the primary sends each connection to a worker, and one that it has sent to a
    // worker that hangs is never closed.
    cluster.schedulingPolicy = cluster.SCHED_NONE;
    cluster.setupPrimary({
      execArgv: [...process.execArgv, `--max-old-space-size=${workerHeapMib}`, YOUNG_GENERATION],
      // Standard error passes through this process, which searches it for V8's out-of-memory message.
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    });
    this.#startHangCheck();
    try {
      await Promise.all(Array.from({ length: workers }, () => this.#fork(0)));
      if (this.#supervised.size < workers) throw new WorkerStartError('A worker ended before all of them were ready.');
      this.#replacesWorkers = true;
    } catch (error) {
      await this.#stopWorkers();
      throw error;
    }
  }

  /** Reports the service as not ready for DRAIN_SECONDS, then closes the port and lets requests finish. */
  async stop(): Promise<void> {
    this.#sendToAll({ type: 'drain' });
    await sleep(this.#settings.drainSeconds * 1000);
    await this.#stopWorkers();
  }

  async #stopWorkers(): Promise<void> {
    this.#replacesWorkers = false;
    for (const delay of this.#delays) clearTimeout(delay);
    this.#sendToAll({ type: 'stop' });
    await Promise.all([...this.#supervised].map(({ worker }) => worker.isDead() || once(worker, 'exit')));
    clearInterval(this.#hangCheck);
  }

  #sendToAll(message: SupervisorMessage): void {
    for (const { worker } of this.#supervised) worker.send(message, () => undefined);
  }

  /**
   * Starts a worker. Resolves when it listens.
   *
   * @param failures Number of consecutive workers before this one that failed to start.
   */
  async #fork(failures: number): Promise<void> {
    const worker = this.#createWorker(failures);
    const supervised: Supervised = {
      worker,
      isListening: false,
      lastMessageAt: performance.now(),
      exceededHangSeconds: null,
    };
    this.#supervised.add(supervised);
    const outOfMemory = watchForOutOfMemory(worker);
    let reason: string | null = null;
    await new Promise<void>((ready, fail) => {
      worker.on('message', (message: WorkerMessage) => {
        supervised.lastMessageAt = performance.now();
        if (message.type === 'failure') reason = message.reason;
      });
      worker.once('listening', () => {
        supervised.isListening = true;
        if (this.#replacesWorkers) this.#log.info({ worker: worker.process.pid }, REPLACED);
        ready();
      });
      worker.once('exit', (code, signal) => {
        this.#supervised.delete(supervised);
        const exit = { code, signal, reason, exceededHangSeconds: supervised.exceededHangSeconds };
        if (this.#replacesWorkers) {
          this.#replace(supervised.isListening ? 0 : failures + 1);
          // Standard error may have unread output when the process exits.
          worker.process.once('close', () => {
            const cause = describeExit({ ...exit, outOfMemory: outOfMemory() });
            this.#log.error({ worker: worker.process.pid, code, signal, cause }, ENDED);
          });
        }
        const cause = describeExit({ ...exit, outOfMemory: outOfMemory() });
        fail(new WorkerStartError(reason ?? `A worker ended while it started: ${cause}.`));
      });
      worker.on('error', (error) => {
        // A process that was not created has no exit. Others report theirs.
        if (worker.process.pid !== undefined || !this.#supervised.delete(supervised)) return;
        delete cluster.workers![worker.id];
        fail(this.#handleMissingProcess(failures, error));
      });
    });
  }

  #createWorker(failures: number): Worker {
    try {
      return cluster.fork(this.#env);
    } catch (error) {
      // Node reports some errors as an event, such as EMFILE and EAGAIN, and throws others, such as ENOMEM.
      throw this.#handleMissingProcess(failures, error as Error);
    }
  }

  /** Handles a worker whose process could not be created. Returns the reason. */
  #handleMissingProcess(failures: number, { message }: Error): WorkerStartError {
    const cause = `its process cannot be created: ${message}`;
    if (this.#replacesWorkers) {
      this.#log.error({ cause }, ENDED);
      this.#replace(failures + 1);
    }
    return new WorkerStartError(`A worker ended while it started: ${cause}.`);
  }

  /**
   * Starts a replacement, immediately unless several consecutive workers failed to start: a worker that cannot start must not use all CPU
   * time.
   */
  #replace(failures: number): void {
    const delayMs = failures < 2 ? 0 : Math.min(MAX_DELAY_MS, MIN_DELAY_MS * 2 ** (failures - 2));
    const delay = setTimeout(() => {
      this.#delays.delete(delay);
      // The failure is already logged.
      this.#fork(failures).catch(() => undefined);
    }, delayMs);
    this.#delays.add(delay);
  }

  /**
   * Kills workers whose event loop has been blocked for WORKER_HANG_SECONDS, because they neither respond nor exit. After this process was
   * itself held up, the time without a heartbeat is counted from now.
   */
  #startHangCheck(): void {
    const { workerHangSeconds } = this.#settings;
    if (workerHangSeconds === 0) return;
    let checkedAt = performance.now();
    this.#hangCheck = setInterval(() => {
      const now = performance.now();
      const wasHeldUp = now - checkedAt > 4 * HEARTBEAT_MS;
      checkedAt = now;
      for (const supervised of this.#supervised) {
        if (wasHeldUp) supervised.lastMessageAt = now;
        const limit = supervised.isListening ? workerHangSeconds : Math.max(START_SECONDS, workerHangSeconds);
        if (supervised.exceededHangSeconds !== null || now - supervised.lastMessageAt < limit * 1000) continue;
        supervised.exceededHangSeconds = limit;
        supervised.worker.process.kill('SIGKILL');
      }
    }, HEARTBEAT_MS).unref();
  }
}

const ENDED = 'a worker ended, another takes its place';
const REPLACED = 'a worker took the place of one that ended';

/** Forwards the worker's standard error. Returns a predicate: whether V8 reported running out of memory. */
function watchForOutOfMemory(worker: Worker): () => boolean {
  let tail = '';
  let found = false;
  // A process that was not created has no standard error.
  worker.process.stderr?.on('data', (chunk: Buffer) => {
    process.stderr.write(chunk);
    const text = tail + chunk.toString('latin1');
    found ||= OUT_OF_MEMORY.test(text);
    tail = text.slice(-100);
  });
  return () => found;
}
