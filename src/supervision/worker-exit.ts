/** How a worker process ended. */
interface WorkerExit {
  code: number | null;
  signal: string | null;
  /** Reason that the worker reported before it exited. */
  reason: string | null;
  /** Seconds without a heartbeat after which it was killed; null when it was not. */
  exceededHangSeconds: number | null;
  /** Whether V8 reported on standard error that the heap limit was reached. */
  outOfMemory: boolean;
}

/** V8's fatal error when the heap cannot grow any more. */
export const OUT_OF_MEMORY = /heap out of memory|Reached heap limit/;

/** Describes the exit in one line for the log. */
export function describeExit({ code, signal, reason, exceededHangSeconds, outOfMemory }: WorkerExit): string {
  if (outOfMemory) return 'out of memory: the JavaScript heap reached WORKER_HEAP_MIB';
  if (exceededHangSeconds !== null) return `killed: its event loop did not run for ${exceededHangSeconds} seconds`;
  if (reason !== null) return reason;
  // Exit code 134 is SIGABRT if a shell runs Node.
  if (signal === 'SIGABRT' || code === 134) return 'a fatal error of Node (SIGABRT); standard error holds its text';
  return signal === null ? `exit code ${code}` : `signal ${signal}`;
}
