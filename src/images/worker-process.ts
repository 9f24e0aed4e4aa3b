import { type ChildProcess, fork } from 'node:child_process';
import type { Socket } from 'node:net';
import { setPriority } from 'node:os';

export interface WorkerProcessOptions {
  /** Module that the process runs. It calls `handleTasks`. */
  file: URL;
  /** What the process finds as `workerData()`: JSON. */
  workerData?: unknown;
  /** Milliseconds in which a task must end. */
  timeoutMs: number;
  /** Milliseconds without a task after which the process ends, so that its memory is returned. */
  idleMs: number;
}

/** The process ended before the task had a result. The next task starts another process. */
export class WorkerProcessError extends Error {
  override name = 'WorkerProcessError';
  /** The task took too long, the process crashed while it had no other task, or it ended for another reason. */
  readonly reason: 'TIMEOUT' | 'CRASHED' | 'ENDED';

  constructor(reason: WorkerProcessError['reason'], cause?: unknown) {
    super(`A worker process did not finish its task (${reason}).`, { cause });
    this.reason = reason;
  }
}

/** Nice value of the process: while others need the processor, it has about a tenth of what they have. */
const PRIORITY = 10;

/** glibc returns freed blocks to the system, and has one heap for all threads. Nothing else of the environment is passed on, such as passwords of databases. */
const ENVIRONMENT = { MALLOC_TRIM_THRESHOLD_: '1048576', MALLOC_ARENA_MAX: '1' };

/** Characters of the standard error, whose last ones are in the error of a crash. */
const MAX_OUTPUT = 2_000;

interface Task {
  id: number;
  task: unknown;
}

interface Response {
  id: number;
  result: unknown;
}

interface Pending {
  resolve(result: unknown): void;
  reject(error: WorkerProcessError): void;
  timer: NodeJS.Timeout;
}

/**
 * A process of low priority for tasks that need much memory or processor time, or whose code may crash. It starts with the first task,
 * ends with this process, and one that ends is replaced by the next task.
 */
export class WorkerProcess<Request, Result> {
  readonly #options: WorkerProcessOptions;
  readonly #pending = new Map<number, Pending>();
  #child: ChildProcess | null = null;
  #count = 0;
  #idle: NodeJS.Timeout | undefined;

  constructor(options: WorkerProcessOptions) {
    this.#options = options;
  }

  /** Undefined while no process runs. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /**
   * Runs a task and returns its result. Rejects with `WorkerProcessError`: a task beyond its time with `TIMEOUT`. It ends the process, and
   * those that run beside it reject with `ENDED`. A task that runs alone when the process crashes rejects with `CRASHED`.
   */
  run(task: Request): Promise<Result> {
    clearTimeout(this.#idle);
    this.#child ??= this.#start();
    const child = this.#child;
    const id = ++this.#count;
    return new Promise<Result>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#settle(id, (pending) => pending.reject(new WorkerProcessError('TIMEOUT')));
        this.#end(child, new WorkerProcessError('ENDED'));
      }, this.#options.timeoutMs);
      this.#pending.set(id, { resolve: resolve as Pending['resolve'], reject, timer });
      hold(child, true);
      child.send?.({ id, task } satisfies Task, (error) => {
        if (error) this.#end(child, new WorkerProcessError('ENDED', error));
      });
    });
  }

  close(): void {
    if (this.#child) this.#end(this.#child, new WorkerProcessError('ENDED'));
  }

  #start(): ChildProcess {
    const { file, workerData } = this.#options;
    const child = fork(file, [JSON.stringify(workerData ?? null)], {
      execArgv: [],
      env: ENVIRONMENT,
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
    });
    child.on('error', (error) => this.#end(child, new WorkerProcessError('ENDED', error)));
    // Not that of this process: its supervisor would take the message of a crash for one of this process. A process that was not created, for
    // want of file descriptors, has neither standard error nor `send`.
    let output = '';
    (child.stderr as Socket | undefined)?.unref().on('data', (chunk: Buffer) => {
      output = (output + chunk.toString('latin1')).slice(-MAX_OUTPUT);
    });
    child.on('message', ({ id, result }: Response) => this.#settle(id, (pending) => pending.resolve(result)));
    child.on('close', (code, signal) => {
      const reason = this.#pending.size === 1 ? 'CRASHED' : 'ENDED';
      this.#end(
        child,
        new WorkerProcessError(reason, new Error(`It ended with ${signal ?? `code ${code}`}. ${output}`)),
      );
    });
    if (child.pid) setPriority(child.pid, PRIORITY);
    return child;
  }

  #settle(id: number, settle: (pending: Pending) => void): void {
    const pending = this.#pending.get(id);
    if (!pending) return;
    this.#pending.delete(id);
    clearTimeout(pending.timer);
    settle(pending);
    if (this.#pending.size > 0 || !this.#child) return;
    // An idle process does not keep this one alive.
    hold(this.#child, false);
    this.#idle = setTimeout(() => this.close(), this.#options.idleMs).unref();
  }

  #end(child: ChildProcess, error: WorkerProcessError): void {
    if (this.#child !== child) return;
    this.#child = null;
    clearTimeout(this.#idle);
    child.kill('SIGKILL');
    for (const id of [...this.#pending.keys()]) this.#settle(id, (pending) => pending.reject(error));
  }
}

/** Whether this process stays alive for the sake of the child. */
function hold(child: ChildProcess, isHeld: boolean): void {
  for (const each of [child, child.channel]) isHeld ? each?.ref() : each?.unref();
}

/** Returns the data that the process was created with, in the process itself. */
export const workerData = <Data>(): Data => JSON.parse(process.argv[2]!);

/** Handles the tasks of a worker process, in the process itself. An error that the function throws ends it. */
export function handleTasks<Request, Result>(handle: (task: Request) => Promise<Result>): void {
  process.on('message', async ({ id, task }: Task) => {
    const result = await handle(task as Request);
    process.send!({ id, result } satisfies Response);
  });
  // `process.exit` waits for tasks in threads of libuv, such as a decode.
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
}
