/** Runs in the child process. File descriptor 3 is a pipe that closes when the parent ends, even after SIGKILL. */
const SCRIPT = `
  import cluster from 'node:cluster';
  import { Socket } from 'node:net';
  import { isMainThread } from 'node:worker_threads';
  // Workers of a cluster use the descriptor for IPC and end with their primary. Threads share the descriptor of their process.
  if (cluster.isPrimary && isMainThread) {
    const parent = new Socket({ fd: 3 });
    parent.on('error', () => undefined);
    parent.on('close', () => process.exit(1));
    parent.resume().unref();
  }`;

/** Flags of Node that make a child process end with this process. Spawn it with `STDIO_WITH_PARENT`. */
export const EXIT_WITH_PARENT = ['--import', `data:text/javascript,${encodeURIComponent(SCRIPT)}`];

export const STDIO_WITH_PARENT: ['pipe', 'pipe', 'pipe', 'pipe'] = ['pipe', 'pipe', 'pipe', 'pipe'];
