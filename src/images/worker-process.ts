import { type ChildProcess, fork } from 'node:child_process';
import type { Socket } from 'node:net';
import { setPriority } from 'node:os';
import { TaskWorker, type TaskWorkerOptions } from '../shared/worker-thread.ts';

/** Nice value of the process: while others need the processor, it has about a tenth of what they have. */
const PRIORITY = 10;

/** glibc returns freed blocks to the system, and has one heap for all threads. Nothing else of the environment is passed on, such as passwords of databases. */
const ENVIRONMENT = { MALLOC_TRIM_THRESHOLD_: '1048576', MALLOC_ARENA_MAX: '1' };

/** Characters of the standard error, whose last ones are in the error of a crash. */
const MAX_OUTPUT = 2_000;

/**
 * A process of low priority for tasks that need much memory or processor time, or whose code may crash. It ends with this process. A task
 * rejects with `CRASHED` where the process ended by itself.
 */
export class WorkerProcess<Task, Result> extends TaskWorker<Task, Result, ChildProcess> {
  readonly #options: TaskWorkerOptions;

  constructor(options: TaskWorkerOptions) {
    super(options);
    this.#options = options;
  }

  /** Undefined while no process runs. */
  get pid(): number | undefined {
    return this.port?.pid;
  }

  protected start(onExit: (cause: Error) => void): ChildProcess {
    const { file, workerData } = this.#options;
    const child = fork(file, [JSON.stringify(workerData ?? null)], {
      execArgv: [],
      env: ENVIRONMENT,
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    });
    // Not that of this process: its supervisor would take the message of a crash for one of this process. A process that was not created, for
    // want of file descriptors, has neither standard error nor `send`.
    let output = '';
    (child.stderr as Socket | undefined)?.unref().on('data', (chunk: Buffer) => {
      output = (output + chunk.toString('latin1')).slice(-MAX_OUTPUT);
    });
    child.on('close', (code, signal) => onExit(new Error(`It ended with ${signal ?? `code ${code}`}. ${output}`)));
    if (child.pid) setPriority(child.pid, PRIORITY);
    return child;
  }

  protected send(child: ChildProcess, task: Task): void {
    child.send?.(task as object);
  }

  protected hold(child: ChildProcess, isHeld: boolean): void {
    for (const each of [child, child.channel]) isHeld ? each?.ref() : each?.unref();
  }

  protected end(child: ChildProcess): void {
    child.kill('SIGKILL');
  }
}

/** Returns the data that the process was created with, in the process itself. */
export const workerData = <Data>(): Data => JSON.parse(process.argv[2]!);

/** Handles the tasks of a worker process, in the process itself. An error that the function throws ends it. */
export function handleTasks<Task, Result>(handle: (task: Task) => Promise<Result>): void {
  process.on('message', async (task: Task) => process.send!(await handle(task)));
  // `process.exit` waits for tasks in threads of libuv, such as a decode.
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
}
