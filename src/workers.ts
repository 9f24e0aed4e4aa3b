import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { Logger } from 'pino';
import { shareMetrics } from './http/metrics.ts';

/** Pause before a worker that ended is replaced, so that one which cannot live does not keep the machine busy. */
const PAUSE_MS = 1_000;

/** Told to a worker by the primary. */
const STOP = { type: 'stop' };

/** Told to the primary by a worker that cannot start. */
interface Failure {
  type: 'failure';
  /** What an operator reads. */
  reason: string;
}

/** A worker that did not come up; the message is what it said of it. */
export class WorkerFailed extends Error {
  override name = 'WorkerFailed';
}

/**
 * Starts so many workers, which share the port, and answers what stops them once all of them listen. Workers that end by
 * themselves are replaced; they end with this process, however that ends.
 */
export async function startWorkers(
  count: number,
  { env, log }: { env: Record<string, string>; log: Logger },
): Promise<() => Promise<void>> {
  shareMetrics();
  let keepsUp = false;
  const pauses = new Set<NodeJS.Timeout>();

  const fork = async (): Promise<void> => {
    const worker = cluster.fork(env);
    let reason: string | undefined;
    worker.on('message', (message: Failure) => {
      if (message.type === 'failure') reason = message.reason;
    });
    await new Promise<void>((listens, fails) => {
      worker.once('listening', () => listens());
      worker.once('exit', (code, signal) => {
        fails(new WorkerFailed(reason ?? `A worker ended while it started (${signal ?? code}).`));
        if (keepsUp) replace(worker, { code, signal, reason });
      });
    });
  };
  const replace = (worker: Worker, end: object) => {
    log.error({ worker: worker.process.pid, ...end }, 'a worker ended, another takes its place');
    const pause = setTimeout(() => {
      pauses.delete(pause);
      fork().then(
        () => log.info('a worker took the place of one that ended'),
        // Its end has been seen to already.
        () => undefined,
      );
    }, PAUSE_MS);
    pauses.add(pause);
  };
  const stop = async () => {
    keepsUp = false;
    for (const pause of pauses) clearTimeout(pause);
    await Promise.all(Object.values(cluster.workers ?? {}).map((worker) => stopWorker(worker!)));
  };

  try {
    await Promise.all(Array.from({ length: count }, fork));
    keepsUp = true;
    return stop;
  } catch (error) {
    await stop();
    throw error;
  }
}

async function stopWorker(worker: Worker): Promise<void> {
  if (worker.isDead()) return;
  const ended = once(worker, 'exit');
  worker.send(STOP, () => undefined);
  await ended;
}

/**
 * In a worker: the primary says when to stop. Signals are for the primary; those of a terminal reach every process of the
 * service at once. Where the primary is gone, Node ends its workers.
 */
export function obeyPrimary(stop: () => void): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  process.on('message', ({ type }: { type: string }) => {
    if (type === STOP.type) stop();
  });
  shareMetrics();
}

/** In a worker that cannot start: what all of them would say alike is said once, by the primary. */
export function reportFailure(reason: string): Promise<void> {
  const failure: Failure = { type: 'failure', reason };
  return new Promise((done) => {
    process.send!(failure, () => done());
  });
}
