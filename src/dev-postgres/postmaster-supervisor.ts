import { stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type ClusterContext,
  ClusterError,
  findRunningServer,
  findShutdownReason,
  lacksDescriptors,
  startServer,
  toLogPath,
} from './postmaster.ts';

const POLL_INTERVAL_MS = 250;
/** Milliseconds between attempts after a transient failure, such as remaining child processes of a killed server. */
const RETRY_INTERVAL_MS = 100;
/** Milliseconds during which a restart is attempted. pg_ctl waits for a long crash recovery within one attempt. */
const RESTART_TIMEOUT_MS = 30_000;

const MAX_RESTARTS = 5;
const RESTART_WINDOW_MS = 60_000;

interface SupervisorOptions {
  context: ClusterContext;
  /** Port of the server, which must not change because connections are configured with it. */
  port: number;
  settings: Record<string, string>;
  /** Receives one line for each restart. */
  report: (line: string) => void;
  /** Called once, when the server has ended too often or does not start. */
  onGivenUp: (error: ClusterError) => void;
}

/** Restarts the server of a data folder whenever it ends. Returns a function that stops this after a restart in progress. */
export function superviseServer(supervision: SupervisorOptions): () => Promise<void> {
  const stopped = new AbortController();
  const watching = watch(supervision, stopped.signal).catch((error: Error) => {
    if (!stopped.signal.aborted) supervision.onGivenUp(new ClusterError(error.message));
  });
  return async () => {
    stopped.abort();
    await watching;
  };
}

async function watch(supervision: SupervisorOptions, signal: AbortSignal): Promise<void> {
  const { folder } = supervision.context;
  const restarts: number[] = [];
  let pid = (await findRunningServer(folder).catch(() => undefined))?.pid;
  let logEnd = await findLogLength(folder);
  let failure: string | undefined;
  let isRestarting = false;
  while (!signal.aborted) {
    // `ref: false`, so that the timer does not keep the process alive.
    await sleep(POLL_INTERVAL_MS, undefined, { signal, ref: false }).catch(() => undefined);
    if (signal.aborted) return;
    try {
      const running = await findRunningServer(folder);
      if (running) {
        pid = running.pid;
        failure = undefined;
        isRestarting = false;
        continue;
      }
      if (!isRestarting) {
        const cause =
          failure ?? (await findShutdownReason(folder, logEnd)) ?? 'it left no reason in its log, as when it is killed';
        const now = performance.now();
        while (restarts.length > 0 && now - restarts[0]! > RESTART_WINDOW_MS) restarts.shift();
        if (restarts.length === MAX_RESTARTS) {
          throw new ClusterError(
            `PostgreSQL has ended ${MAX_RESTARTS + 1} times in a minute, the last time: ${cause}.`,
          );
        }
        restarts.push(now);
        supervision.report(`PostgreSQL (process ${pid}) has ended: ${cause}. Restarting it.`);
        logEnd = await findLogLength(folder);
      }
      isRestarting = true;
      failure = await restart(supervision, signal);
      isRestarting = false;
      // The new server may end before the next poll.
      pid = (await findRunningServer(folder))?.pid ?? pid;
    } catch (error) {
      // Nothing is known of the server, and none can be started. The next poll tries again.
      if (!lacksDescriptors(error)) throw error;
    }
  }
}

/** Returns why the server did not start; undefined when it runs. */
async function restart(
  { context, port, settings }: SupervisorOptions,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (const startedAt = performance.now(); !signal.aborted; await sleep(RETRY_INTERVAL_MS)) {
    const outcome = await startServer(context, settings, { port });
    if ('port' in outcome) return undefined;
    if (!outcome.isTransient || performance.now() - startedAt > RESTART_TIMEOUT_MS) return outcome.reason;
  }
  return undefined;
}

const findLogLength = (folder: string): Promise<number> =>
  stat(toLogPath(folder)).then(
    ({ size }) => size,
    () => 0,
  );
