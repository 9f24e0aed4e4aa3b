import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import {
  IntegratorCounts,
  paceAttempt,
  REQUEST_LIMITS,
  UNFINISHED_LIMITS,
} from '../../src/domain/webhooks/delivery/integrator-counts.ts';

describe('attempts of deliveries', () => {
  it('begin one in each iteration of the event loop, alternating between integrators (WHK-13)', async () => {
    await nextTurn();
    const begun: string[] = [];
    const begin = (integratorId: string) => void paceAttempt(integratorId).then(() => begun.push(integratorId));
    for (const integratorId of ['a', 'a', 'a', 'a', 'b']) begin(integratorId);
    await Promise.resolve();
    expect(begun).toEqual(['a']);
    const afterTurns: number[] = [];
    while (begun.length < 5) {
      await nextTurn();
      afterTurns.push(begun.length);
    }
    expect(afterTurns).toEqual([2, 3, 4, 5]);
    expect(begun).toEqual(['a', 'a', 'b', 'a', 'a']);
  });
});

describe('the limit of an endpoint', () => {
  it('is what the other endpoints of its integrator leave, and at least the least (WHK-13)', () => {
    const counts = new IntegratorCounts(UNFINISHED_LIMITS);
    counts.add('a', 15_000);
    expect(counts.limit('b', 0)).toBe(20_000);
    expect(counts.limit('a', 15_000)).toBe(20_000);
    expect(counts.limit('a', 0)).toBe(5_000);
    counts.add('a', 10_000);
    expect(counts.limit('a', 0)).toBe(1_000);
    counts.add('a', -25_000);
    expect(counts.limit('a', 0)).toBe(20_000);
  });

  it('is the least of all while the process is full (WHK-13)', () => {
    const counts = new IntegratorCounts(REQUEST_LIMITS);
    for (let integrator = 0; integrator < 8; integrator++) counts.add(`intg_${integrator}`, 64);
    expect([counts.total, counts.limit('intg_new', 0)]).toEqual([512, 1]);
    counts.clear();
    expect([counts.total, counts.limit('intg_new', 0)]).toEqual([0, 64]);
  });
});
