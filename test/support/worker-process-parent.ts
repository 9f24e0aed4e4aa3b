import { WorkerProcess } from '../../src/images/worker-process.ts';

/* A parent of a worker process, which worker-process.proof.test.ts kills. */

const file = new URL('./worker-process-program.ts', import.meta.url);
void new WorkerProcess<string, unknown>({ file, timeoutMs: 600_000, idleMs: 600_000 }).run('busy');
