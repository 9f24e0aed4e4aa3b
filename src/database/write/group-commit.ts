import { type TraceContext, tracing } from '../../shared/tracing.ts';

/** Transactions that run at a time: while one waits for its commit, another one executes. */
const MAX_RUNNING = 2;

/** Maximum items of a transaction. */
const MAX_ITEMS = 32;

interface Pending<Item, Result> {
  item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
  /** Trace of the request that the item belongs to; absent without tracing. */
  trace: TraceContext | undefined;
}

/**
 * Runs items in shared transactions: those that arrive while `MAX_RUNNING` transactions run are run together by the next one. An item
 * that arrives while fewer run starts at once. Each commit waits for the disk, so that transactions of one item would wait for each
 * other under load.
 */
export class GroupCommit<Item, Result> {
  readonly #name: string;
  readonly #run: (items: readonly Item[]) => Promise<readonly Result[]>;
  readonly #waiting: Pending<Item, Result>[] = [];
  #running = 0;

  /**
   * @param name Name of the transactions' spans.
   * @param run Runs the items in one transaction, and returns the result of each when it is committed.
   */
  constructor(name: string, run: (items: readonly Item[]) => Promise<readonly Result[]>) {
    this.#name = name;
    this.#run = run;
  }

  /** Returns the result of the item once its transaction is committed; rejects with the error of the transaction. */
  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject, trace: tracing?.current() });
      if (this.#running < MAX_RUNNING) void this.#runWaiting();
    });
  }

  /** Whether no transaction runs. */
  get isIdle(): boolean {
    return this.#running === 0;
  }

  async #runWaiting(): Promise<void> {
    this.#running++;
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, MAX_ITEMS);
      try {
        const items = group.map(({ item }) => item);
        // The loop was started by one of many requests: the span belongs to those of the group.
        const results = await (tracing
          ? tracing.run(
              this.#name,
              {},
              () => this.#run(items),
              group.flatMap(({ trace }) => trace ?? []),
            )
          : this.#run(items));
        for (const [index, { resolve }] of group.entries()) resolve(results[index]!);
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    this.#running--;
  }
}
