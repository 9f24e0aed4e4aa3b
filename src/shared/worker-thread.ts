import { once } from 'node:events';
import { type Transferable, Worker } from 'node:worker_threads';

export interface WorkerThreadOptions {
  /** Module that the thread runs. It posts one message in response to each. */
  file: URL;
  /** What the thread finds in `workerData`. */
  workerData?: unknown;
  /** Maximum MiB of its heap. */
  memoryMb: number;
  /** Milliseconds in which a task must end. */
  timeoutMs: number;
  /** Milliseconds without a task after which the thread ends, so that its memory is returned. */
  idleMs: number;
}

/** The thread ended before its task had a result. The next task starts another thread. */
export class WorkerThreadError extends Error {
  override name = 'WorkerThreadError';
  readonly reason: 'MEMORY' | 'TIMEOUT' | 'ENDED';

  constructor(reason: WorkerThreadError['reason'], cause?: unknown) {
    super(`A worker thread did not finish its task (${reason}).`, { cause });
    this.reason = reason;
  }
}

/** A thread that runs one task at a time. It starts with the first task; one that ends is replaced by the next task. */
export class WorkerThread<Task, Result> {
  readonly #options: WorkerThreadOptions;
  #worker: Worker | null = null;
  #isBusy = false;
  #idle: NodeJS.Timeout | undefined;

  constructor(options: WorkerThreadOptions) {
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#worker !== null;
  }

  /**
   * Runs a task and returns its result. Rejects with `WorkerThreadError`.
   *
   * @param transfer objects to transfer to the thread; they are detached here.
   */
  async run(task: Task, transfer: Transferable[] = []): Promise<Result> {
    if (this.#isBusy) throw new Error('A worker thread runs one task at a time.');
    this.#isBusy = true;
    clearTimeout(this.#idle);
    this.#worker ??= this.#start();
    const worker = this.#worker;
    worker.ref();
    const ended = new AbortController();
    const end = () => ended.abort(new Error('The thread ended.'));
    worker.once('exit', end);
    const deadline = AbortSignal.timeout(this.#options.timeoutMs);
    try {
      worker.postMessage(task, transfer);
      const [result] = await once(worker, 'message', { signal: AbortSignal.any([ended.signal, deadline]) });
      return result as Result;
    } catch (error) {
      const isFull = (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';
      const reason = isFull ? 'MEMORY' : deadline.aborted ? 'TIMEOUT' : 'ENDED';
      await this.close();
      throw new WorkerThreadError(reason, error);
    } finally {
      worker.off('exit', end);
      this.#isBusy = false;
      if (this.#worker) {
        // An idle thread does not keep the process alive.
        this.#worker.unref();
        this.#idle = setTimeout(() => this.close(), this.#options.idleMs).unref();
      }
    }
  }

  /** Ends the thread, and with it a task that is running. */
  async close(): Promise<void> {
    clearTimeout(this.#idle);
    const worker = this.#worker;
    this.#worker = null;
    await worker?.terminate();
  }

  #start(): Worker {
    const { file, workerData, memoryMb } = this.#options;
    const worker = new Worker(file, {
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 16 },
    });
    // The next task detects that an idle thread has ended.
    worker.on('error', () => undefined);
    worker.once('exit', () => {
      if (this.#worker === worker) this.#worker = null;
    });
    return worker;
  }
}
