import { stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { ClusterError, lastFailure, logOf, runningServer, type Site, startServer } from './postmaster.ts';

const LOOK_EVERY_MS = 250;
/** Milliseconds between attempts while something passing, such as children of the killed server, stands in the way. */
const RETRY_MS = 100;
/** Milliseconds in which one restart must succeed. A crash recovery may take long; pg_ctl waits for it in one attempt. */
const RETRY_FOR_MS = 30_000;

const MAX_RESTARTS = 5;
const WINDOW_MS = 60_000;

export interface Supervision {
  site: Site;
  /** Port that the server keeps, because connections are configured with it. */
  port: number;
  settings: Record<string, string>;
  /** Receives one line for each restart. */
  report: (line: string) => void;
  /** Called once, when the server has ended too often or does not start. */
  onGivenUp: (error: ClusterError) => void;
}

/** Restarts the server of a data folder whenever it ends. The returned function ends that; a restart under way completes first. */
export function superviseServer(supervision: Supervision): () => Promise<void> {
  const stopped = new AbortController();
  const watching = watch(supervision, stopped.signal).catch((error: Error) => {
    if (!stopped.signal.aborted) supervision.onGivenUp(new ClusterError(error.message));
  });
  return async () => {
    stopped.abort();
    await watching;
  };
}

async function watch(supervision: Supervision, signal: AbortSignal): Promise<void> {
  const { folder } = supervision.site;
  const restarts: number[] = [];
  let pid = (await runningServer(folder))?.pid;
  let logEnd = await logLength(folder);
  let failure: string | undefined;
  while (!signal.aborted) {
    // Does not keep the process alive, which may have nothing else to do.
    await sleep(LOOK_EVERY_MS, undefined, { signal, ref: false }).catch(() => undefined);
    if (signal.aborted) return;
    const running = await runningServer(folder);
    if (running) {
      pid = running.pid;
      failure = undefined;
      continue;
    }
    const cause =
      failure ?? (await lastFailure(folder, logEnd)) ?? 'it left no reason in its log, as when it is killed';
    const now = performance.now();
    while (restarts.length > 0 && now - restarts[0]! > WINDOW_MS) restarts.shift();
    if (restarts.length === MAX_RESTARTS) {
      throw new ClusterError(`PostgreSQL has ended ${MAX_RESTARTS + 1} times in a minute, the last time: ${cause}.`);
    }
    restarts.push(now);
    supervision.report(`PostgreSQL (process ${pid}) has ended: ${cause}. Restarting it.`);
    logEnd = await logLength(folder);
    failure = await restart(supervision, signal);
  }
}

/** Why the server did not start, or ended at once; undefined when it runs. */
async function restart({ site, port, settings }: Supervision, signal: AbortSignal): Promise<string | undefined> {
  for (const begun = performance.now(); !signal.aborted; await sleep(RETRY_MS)) {
    const outcome = await startServer(site, settings, port);
    if ('port' in outcome) return undefined;
    if (!outcome.passing || performance.now() - begun > RETRY_FOR_MS) return outcome.reason;
  }
  return undefined;
}

const logLength = (folder: string): Promise<number> =>
  stat(logOf(folder)).then(
    ({ size }) => size,
    () => 0,
  );
