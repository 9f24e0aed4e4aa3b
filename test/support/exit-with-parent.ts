/** Runs in the program: its fourth file is a pipe that ends with the parent, even after SIGKILL. */
const SCRIPT = `
  import cluster from 'node:cluster';
  import { Socket } from 'node:net';
  import { isMainThread } from 'node:worker_threads';
  // Workers of a cluster have their own channel there, and end with their primary. Threads share the file of their process.
  if (cluster.isPrimary && isMainThread) {
    const parent = new Socket({ fd: 3 });
    parent.on('error', () => undefined);
    parent.on('close', () => process.exit(1));
    parent.resume().unref();
  }`;

/** Flags of Node under which a program ends with this process. To be spawned with `STDIO_WITH_PARENT`. */
export const EXIT_WITH_PARENT = ['--import', `data:text/javascript,${encodeURIComponent(SCRIPT)}`];

export const STDIO_WITH_PARENT: ['pipe', 'pipe', 'pipe', 'pipe'] = ['pipe', 'pipe', 'pipe', 'pipe'];
