import { describe, expect, it } from 'vitest';
import { DEFAULT_CONNECTIONS, MIN_CONNECTIONS, splitConnections } from '../../src/limits/connection-split.ts';
import { createFairShares } from '../../src/limits/fair-shares.ts';

const budgets = Array.from({ length: 400 }, (_, index) => MIN_CONNECTIONS + index);

describe('the split of DATABASE_CONNECTIONS', () => {
  it('uses the default for two regions with twelve connections for each kind of transaction', () => {
    expect(splitConnections(DEFAULT_CONNECTIONS)).toEqual({
      reads: 2,
      readReserve: 4,
      slowReads: 4,
      background: 2,
      writes: 12,
      orm: 12,
    });
  });

  it('never exceeds the budget, and leaves at most one connection unused', () => {
    for (const budget of budgets) {
      const used = 2 * Object.values(splitConnections(budget)).reduce((sum, count) => sum + count, 0);
      expect([budget - 1, budget]).toContain(used);
    }
  });

  it('gives every pool a connection, and never shares more permits than a pool has connections', () => {
    for (const budget of budgets) {
      const split = splitConnections(budget);
      const { writes, slowReads } = createFairShares(1, split);
      expect(Math.min(...Object.values(split))).toBeGreaterThanOrEqual(1);
      expect(split.orm).toBeGreaterThanOrEqual(3);
      expect(writes.capacity).toBeLessThan(Math.min(split.writes, split.orm));
      expect(writes.perShare).toBeLessThanOrEqual(writes.capacity);
      expect(slowReads.capacity).toBe(split.slowReads);
    }
  });
});
