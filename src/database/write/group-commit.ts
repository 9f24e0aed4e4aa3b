import { currentTrace, type TraceContext, traced } from '../../shared/tracing.ts';
import type { TransactionRunner } from './transaction-runner.ts';

/** Maximum items of a transaction. */
const MAX_ITEMS = 32;

/** Maximum bytes of a transaction of several items. */
const MAX_BYTES = 1024 * 1024;

/** How the items of a group share transactions. */
interface GroupCommitOptions<Item, Result> {
  /** Name of the transactions' spans. */
  name: string;
  /** Runs the items in one transaction, and returns the result of each when it is committed. */
  run(items: readonly Item[]): Promise<readonly Result[]>;
  /** Returns what the item writes. Items with the same identity never share a transaction. */
  identityOf(item: Item): string;
  /** Returns the bytes that the item writes; 0 for every item where it is absent. */
  bytesOf?(item: Item): number;
}

interface Pending<Item, Result> {
  item: Item;
  resolve(result: Result): void;
  reject(error: unknown): void;
  /** Trace of the request that the item belongs to; absent without tracing. */
  trace: TraceContext | undefined;
}

/**
 * Runs items in shared transactions, one transaction at a time: the items that arrive while one runs are run together by the next. An item
 * that arrives while none runs starts at once. Each commit waits for the disk, so that transactions of one item would wait for each
 * other under load.
 */
export class GroupCommit<Item, Result> {
  readonly #options: GroupCommitOptions<Item, Result>;
  #waiting: Pending<Item, Result>[] = [];
  #isRunning = false;

  constructor(options: GroupCommitOptions<Item, Result>) {
    this.#options = options;
  }

  /** Returns the result of the item once its transaction is committed; rejects with the error of the transaction. */
  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject, trace: currentTrace() });
      if (!this.#isRunning) void this.#runWaiting();
    });
  }

  /** Whether no transaction runs. */
  get isIdle(): boolean {
    return !this.#isRunning;
  }

  async #runWaiting(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      const members = this.#takeMembers();
      const items = members.map(({ item }) => item);
      try {
        // The loop was started by one of many requests: the span belongs to those of the members.
        const traces = members.flatMap(({ trace }) => trace ?? []);
        const results = await traced(this.#options.name, {}, () => this.#options.run(items), traces);
        for (const [index, { resolve }] of members.entries()) resolve(results[index]!);
      } catch (error) {
        for (const { reject } of members) reject(error);
      }
    }
    this.#isRunning = false;
  }

  /** Removes the members of the next transaction from those that wait: the first one, and each one after it that fits. */
  #takeMembers(): Pending<Item, Result>[] {
    const { identityOf, bytesOf = () => 0 } = this.#options;
    const members: Pending<Item, Result>[] = [];
    const others: Pending<Item, Result>[] = [];
    const identities = new Set<string>();
    let bytes = 0;
    for (const pending of this.#waiting) {
      const identity = identityOf(pending.item);
      const itemBytes = bytesOf(pending.item);
      const fits = members.length < MAX_ITEMS && !identities.has(identity) && bytes + itemBytes <= MAX_BYTES;
      if (members.length > 0 && !fits) {
        others.push(pending);
        continue;
      }
      members.push(pending);
      identities.add(identity);
      bytes += itemBytes;
    }
    this.#waiting = others;
    return members;
  }
}

/** One `GroupCommit` for each writer and key, which exists while its transactions run. */
export class GroupCommits<Item, Result> {
  readonly #options: GroupCommitOptions<Item, Result>;
  readonly #groups = new WeakMap<TransactionRunner, Map<string, GroupCommit<Item, Result>>>();

  constructor(options: GroupCommitOptions<Item, Result>) {
    this.#options = options;
  }

  /**
   * Runs the item in a transaction that it may share with others of the same writer and key. Returns its result once the transaction
   * is committed; rejects with the error of the transaction.
   */
  async add(writer: TransactionRunner, key: string, item: Item): Promise<Result> {
    const groups = this.#groups.get(writer) ?? new Map<string, GroupCommit<Item, Result>>();
    const group = groups.get(key) ?? new GroupCommit(this.#options);
    this.#groups.set(writer, groups.set(key, group));
    try {
      return await group.add(item);
    } finally {
      if (group.isIdle) groups.delete(key);
    }
  }
}
