import { stat } from 'node:fs/promises';
import { type ClusterContext, ClusterError, findRunningServer, findShutdownReason, toLogPath } from './postmaster.ts';

const POLL_INTERVAL_MS = 250;

/** Calls `onEnded` with the reason when the folder's server ends. Returns a function that ends the watch. */
export async function watchServer(
  { folder }: ClusterContext,
  onEnded: (error: ClusterError) => void,
): Promise<() => void> {
  const { size } = await stat(toLogPath(folder)).catch(() => ({ size: 0 }));
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  const check = async () => {
    // Without file descriptors nothing is known of the server: the next check tries again.
    const isRunning = await findRunningServer(folder).then(Boolean, () => true);
    if (isStopped) return;
    if (isRunning) return schedule();
    const cause = (await findShutdownReason(folder, size)) ?? 'it left no reason in its log, as when it is killed';
    if (!isStopped) onEnded(new ClusterError(`PostgreSQL has ended: ${cause}.`));
  };
  const schedule = () => {
    timer = setTimeout(check, POLL_INTERVAL_MS).unref();
  };
  schedule();
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
