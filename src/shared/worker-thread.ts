import { type EventEmitter, once } from 'node:events';
import { type Transferable, Worker } from 'node:worker_threads';

export interface TaskWorkerOptions {
  /** Module that the worker runs. It posts one message in response to each. */
  file: URL;
  workerData?: unknown;
  /** Milliseconds in which a task must end. */
  timeoutMs: number;
  /** Milliseconds without a task after which the worker ends, so that its memory is returned. */
  idleMs: number;
}

/**
 * The worker ended before its task had a result: with too much memory, after its time, by itself, or for a reason outside of the task. The
 * next task starts another one.
 */
export class WorkerError extends Error {
  override name = 'WorkerError';
  readonly reason: 'MEMORY' | 'TIMEOUT' | 'CRASHED' | 'ENDED';

  constructor(reason: WorkerError['reason'], cause?: unknown) {
    super(`A worker did not finish its task (${reason}).`, { cause });
    this.reason = reason;
  }
}

/** A thread or process that runs one task after the other. It starts with the first task; one that ends is replaced by the next task. */
export abstract class TaskWorker<Task, Result, Port extends EventEmitter> {
  readonly #options: TaskWorkerOptions;
  #lastTask: Promise<unknown> = Promise.resolve();
  #running: AbortController | null = null;
  /** How often it was closed: tasks that waited then are not run. */
  #closes = 0;
  #idle: NodeJS.Timeout | undefined;
  /** Null while none runs. */
  protected port: Port | null = null;

  constructor(options: TaskWorkerOptions) {
    this.#options = options;
  }

  /** Starts a port, and calls `onExit` when it has ended, with the reason for a log. */
  protected abstract start(onExit: (cause?: Error) => void): Port;
  protected abstract send(port: Port, task: Task, transfer: Transferable[]): void;
  /** Sets whether this process stays alive for the sake of the port. */
  protected abstract hold(port: Port, isHeld: boolean): void;
  protected abstract end(port: Port): unknown;

  get isRunning(): boolean {
    return this.port !== null;
  }

  /**
   * Runs a task after those before it, and returns its result. Rejects with `WorkerError`.
   *
   * @param transfer objects to transfer to a thread; they are detached here.
   */
  run(task: Task, transfer: Transferable[] = []): Promise<Result> {
    const closes = this.#closes;
    const result = this.#lastTask.then(() => {
      if (closes !== this.#closes) throw new WorkerError('ENDED');
      return this.#run(task, transfer);
    });
    this.#lastTask = result.catch(() => undefined);
    return result;
  }

  /** Ends the worker, and with it the tasks that it has. */
  async close(): Promise<void> {
    this.#closes++;
    await this.#end();
  }

  async #end(): Promise<void> {
    clearTimeout(this.#idle);
    this.#running?.abort(new WorkerError('ENDED'));
    const { port } = this;
    this.port = null;
    if (port) await this.end(port);
  }

  async #run(task: Task, transfer: Transferable[]): Promise<Result> {
    clearTimeout(this.#idle);
    this.port ??= this.#start();
    const { port } = this;
    this.hold(port, true);
    const running = new AbortController();
    this.#running = running;
    const deadline = AbortSignal.timeout(this.#options.timeoutMs);
    try {
      this.send(port, task, transfer);
      const [result] = await once(port, 'message', { signal: AbortSignal.any([running.signal, deadline]) });
      return result as Result;
    } catch (error) {
      await this.#end();
      const { code, cause } = error as NodeJS.ErrnoException;
      if (cause instanceof WorkerError) throw cause;
      const reason = deadline.aborted ? 'TIMEOUT' : code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'MEMORY' : 'ENDED';
      throw new WorkerError(reason, error);
    } finally {
      this.#running = null;
      if (this.port) {
        // An idle worker does not keep the process alive.
        this.hold(this.port, false);
        this.#idle = setTimeout(() => this.#end(), this.#options.idleMs).unref();
      }
    }
  }

  #start(): Port {
    const port = this.start((cause) => {
      if (this.port !== port) return;
      this.port = null;
      this.#running?.abort(new WorkerError('CRASHED', cause));
    });
    // `once` rejects with the error of a task. The next task detects that an idle worker has ended.
    port.on('error', () => undefined);
    return port;
  }
}

export interface WorkerThreadOptions extends TaskWorkerOptions {
  /** Maximum MiB of its heap. */
  memoryMb: number;
}

/** A thread for tasks whose memory is bounded. */
export class WorkerThread<Task, Result> extends TaskWorker<Task, Result, Worker> {
  readonly #options: WorkerThreadOptions;

  constructor(options: WorkerThreadOptions) {
    super(options);
    this.#options = options;
  }

  protected start(onExit: () => void): Worker {
    const { file, workerData, memoryMb } = this.#options;
    const resourceLimits = { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 16 };
    return new Worker(file, { workerData, resourceLimits }).once('exit', onExit);
  }

  protected send(worker: Worker, task: Task, transfer: Transferable[]): void {
    worker.postMessage(task, transfer);
  }

  protected hold(worker: Worker, isHeld: boolean): void {
    isHeld ? worker.ref() : worker.unref();
  }

  protected end(worker: Worker): Promise<number> {
    return worker.terminate();
  }
}
