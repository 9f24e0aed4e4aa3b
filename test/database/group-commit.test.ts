import { afterEach, describe, expect, it } from 'vitest';
import { GroupCommit, GroupCommits } from '../../src/database/write/group-commit.ts';
import type { TransactionRunner } from '../../src/database/write/transaction-runner.ts';
import { setTracing, type TraceContext } from '../../src/shared/tracing.ts';

/** A transaction that runs until the test ends it. */
interface OpenTransaction {
  items: readonly number[];
  end: PromiseWithResolvers<void>;
}

/**
 * Returns a group commit whose result of each item is its square, and the transactions that it has begun. An item is identified by its
 * absolute value and writes as many KiB.
 */
function setUp() {
  const transactions: OpenTransaction[] = [];
  const options = {
    name: 'squares',
    run: async (items: readonly number[]) => {
      const end = Promise.withResolvers<void>();
      transactions.push({ items, end });
      await end.promise;
      return items.map((item) => item ** 2);
    },
    identityOf: (item: number) => String(Math.abs(item)),
    bytesOf: (item: number) => Math.abs(item) * 1024,
  };
  return { group: new GroupCommit<number, number>(options), transactions, options };
}

const turn = () => new Promise(setImmediate);

/** Ends the transactions in the order in which they begin, and returns the items of each. */
async function endAll(transactions: OpenTransaction[]): Promise<(readonly number[])[]> {
  for (let at = 0; at < transactions.length; at++) {
    transactions[at]!.end.resolve();
    await turn();
  }
  return transactions.map(({ items }) => items);
}

describe('a group commit', () => {
  it('runs an item at once while no transaction runs, and those that arrive meanwhile together', async () => {
    const { group, transactions } = setUp();
    const results = [1, 2, 3].map((item) => group.add(item));
    expect(transactions.map(({ items }) => items)).toEqual([[1]]);
    expect(await endAll(transactions)).toEqual([[1], [2, 3]]);
    results.push(group.add(4));
    expect(await endAll(transactions)).toEqual([[1], [2, 3], [4]]);
    expect(await Promise.all(results)).toEqual([1, 4, 9, 16]);
  });

  it('runs at most 32 items in a transaction', async () => {
    const { group, transactions } = setUp();
    for (let item = 0; item < 1 + 33; item++) void group.add(item);
    expect((await endAll(transactions)).map((items) => items.length)).toEqual([1, 32, 1]);
  });

  it('runs items of one identity in turn, and those between them before', async () => {
    const { group, transactions } = setUp();
    for (const item of [1, 2, 3, -3, 4, -3]) void group.add(item);
    expect(await endAll(transactions)).toEqual([[1], [2, 3, 4], [-3], [-3]]);
  });

  it('runs items of 1 MiB together, and a larger one by itself', async () => {
    const { group, transactions } = setUp();
    for (const item of [1, 1000, 25, 24, 2000, 3]) void group.add(item);
    expect(await endAll(transactions)).toEqual([[1], [1000, 24], [25, 3], [2000]]);
  });

  it('rejects the items of a transaction that fails, and runs the next', async () => {
    const { group, transactions } = setUp();
    const results = [1, 2, 3].map((item) => group.add(item));
    transactions[0]!.end.reject(new Error('disk full'));
    await expect(results[0]).rejects.toThrow('disk full');
    await endAll(transactions);
    expect(await Promise.all(results.slice(1))).toEqual([4, 9]);
  });

  it('is idle when the last transaction has ended', async () => {
    const { group, transactions } = setUp();
    const results = [group.add(1), group.add(2)];
    expect(group.isIdle).toBe(false);
    await endAll(transactions);
    await Promise.all(results);
    expect(group.isIdle).toBe(true);
  });
});

describe('group commits', () => {
  it('share transactions within one writer and key only', async () => {
    const { options, transactions } = setUp();
    const commits = new GroupCommits<number, number>(options);
    const [au1, us1] = [{}, {}] as [TransactionRunner, TransactionRunner];
    const results = [
      ...[1, 2, 3].map((item) => commits.add(au1, 'A', item)),
      ...[commits.add(au1, 'B', 4), commits.add(us1, 'A', 5)],
    ];
    expect(await endAll(transactions)).toEqual([[1], [4], [5], [2, 3]]);
    expect(await Promise.all(results)).toEqual([1, 4, 9, 16, 25]);
  });
});

describe('spans of a group commit', () => {
  afterEach(() => setTracing(null));

  it('belong to the requests of their items, not to the one that began the first transaction', async () => {
    const spans: [name: string, parents: readonly TraceContext[] | undefined][] = [];
    let request = { id: 'first' };
    setTracing({
      run: (name, _attributes, work, parents) => {
        spans.push([name, parents]);
        return work();
      },
      current: () => request,
      headers: () => ({}),
    });
    const { group, transactions } = setUp();
    const results = [group.add(1)];
    request = { id: 'second' };
    results.push(group.add(2));
    request = { id: 'third' };
    results.push(group.add(3));
    await endAll(transactions);
    await Promise.all(results);
    expect(spans).toEqual([
      ['squares', [{ id: 'first' }]],
      ['squares', [{ id: 'second' }, { id: 'third' }]],
    ]);
  });
});
