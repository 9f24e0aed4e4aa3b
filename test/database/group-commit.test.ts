import { afterEach, describe, expect, it } from 'vitest';
import { GroupCommit } from '../../src/database/write/group-commit.ts';
import { setTracing, type TraceContext } from '../../src/shared/tracing.ts';

/** A transaction that runs until the test ends it. */
interface OpenTransaction {
  items: readonly number[];
  end: PromiseWithResolvers<void>;
}

/** Returns a group commit whose result of each item is its square, and the transactions that it has begun. */
function createGroupCommit() {
  const transactions: OpenTransaction[] = [];
  const group = new GroupCommit<number, number>('squares', async (items) => {
    const end = Promise.withResolvers<void>();
    transactions.push({ items, end });
    await end.promise;
    return items.map((item) => item ** 2);
  });
  return { group, transactions };
}

const nextTick = () => new Promise(setImmediate);

describe('a group commit', () => {
  it('runs an item at once while fewer than two transactions run', () => {
    const { group, transactions } = createGroupCommit();
    void group.add(1);
    void group.add(2);
    expect(transactions.map(({ items }) => items)).toEqual([[1], [2]]);
  });

  it('runs the items that arrive meanwhile together, each with its own result', async () => {
    const { group, transactions } = createGroupCommit();
    const results = [1, 2, 3, 4, 5].map((item) => group.add(item));
    expect(transactions).toHaveLength(2);
    transactions[1]!.end.resolve();
    await nextTick();
    expect(transactions[2]!.items).toEqual([3, 4, 5]);
    for (const { end } of transactions) end.resolve();
    expect(await Promise.all(results)).toEqual([1, 4, 9, 16, 25]);
  });

  it('runs at most 32 items in a transaction', async () => {
    const { group, transactions } = createGroupCommit();
    for (let item = 0; item < 2 + 33; item++) void group.add(item);
    for (const { end } of [...transactions]) end.resolve();
    await nextTick();
    expect(transactions.map(({ items }) => items.length)).toEqual([1, 1, 32, 1]);
  });

  it('rejects the items of a transaction that fails, and runs the next', async () => {
    const { group, transactions } = createGroupCommit();
    const results = [1, 2, 3].map((item) => group.add(item));
    transactions[0]!.end.reject(new Error('disk full'));
    await expect(results[0]).rejects.toThrow('disk full');
    for (const { end } of transactions) end.resolve();
    expect(await Promise.all(results.slice(1))).toEqual([4, 9]);
  });

  it('is idle when the last transaction has ended', async () => {
    const { group, transactions } = createGroupCommit();
    const results = [group.add(1), group.add(2)];
    expect(group.isIdle).toBe(false);
    for (const { end } of transactions) end.resolve();
    await Promise.all(results);
    expect(group.isIdle).toBe(true);
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
    const { group, transactions } = createGroupCommit();
    const results = [group.add(1), group.add(2)];
    request = { id: 'later' };
    results.push(group.add(3));
    for (let at = 0; at < 3; at++) {
      await nextTick();
      transactions[at]!.end.resolve();
    }
    await Promise.all(results);
    expect(spans.map(([, parents]) => parents)).toEqual([[{ id: 'first' }], [{ id: 'first' }], [{ id: 'later' }]]);
    expect(new Set(spans.map(([name]) => name))).toEqual(new Set(['squares']));
  });
});
