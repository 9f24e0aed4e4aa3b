import { WorkerProcess } from '../../src/shared/worker-process.ts';

/* The parent of a worker process in worker-process.test.ts, which the test ends. */

const file = new URL('./worker-program.ts', import.meta.url);
void new WorkerProcess<string, unknown>({ file, timeoutMs: 600_000, idleMs: 600_000 }).run('busy');
