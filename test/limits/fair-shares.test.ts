import { describe, expect, it } from 'vitest';
import type { FairSemaphore } from '../../src/limits/fair-semaphore.ts';
import { createFairShares } from '../../src/limits/fair-shares.ts';

/** Acquires one unit after the other until the share may use no more. Returns the number. */
function fill(semaphore: FairSemaphore, shareKey: string): number {
  let granted = 0;
  while (semaphore.tryAcquire(shareKey)) granted++;
  return granted;
}

const total = (workers: ReturnType<typeof createFairShares>[], name: keyof (typeof workers)[number]) =>
  workers.reduce((sum, shares) => sum + fill(shares[name], 'intg_a'), 0);

describe('the limits of two workers', () => {
  it('give one integrator as much of both together as of one worker alone (LIM-19)', () => {
    for (const name of Object.keys(createFairShares()) as (keyof ReturnType<typeof createFairShares>)[]) {
      const alone = total([createFairShares(1)], name);
      const both = total([createFairShares(2), createFairShares(2)], name);
      // A share has at least one unit of each worker.
      expect([name, both]).toEqual([name, Math.max(2, alone)]);
    }
  });

  it('leave room for others, however much one integrator uses', () => {
    for (const shares of [createFairShares(1), createFairShares(2)]) {
      for (const [name, semaphore] of Object.entries(shares)) {
        fill(semaphore, 'intg_a');
        const isWhole = semaphore.capacity === 1;
        expect([name, isWhole || semaphore.tryAcquire('intg_b') !== null]).toEqual([name, true]);
      }
    }
  });
});
