import { describe, expect, it } from 'vitest';
import { computeRatioConfidence } from './statistics.ts';

describe('the confidence interval of a ratio', () => {
  it('is that of Student’s t distribution over the logarithms of the rounds', () => {
    const { ratio, interval } = computeRatioConfidence([1, 2, 4]);
    expect(ratio).toBeCloseTo(2, 10);
    // Standard error ln 2 / √3, times the quantile 4.303 of two degrees of freedom.
    const halfWidth = (4.303 * Math.log(2)) / Math.sqrt(3);
    expect(interval[0]).toBeCloseTo(2 * Math.exp(-halfWidth), 10);
    expect(interval[1]).toBeCloseTo(2 * Math.exp(halfWidth), 10);
  });

  it('is a point where all rounds agree', () => {
    expect(computeRatioConfidence([1.05, 1.05, 1.05]).interval.map((end) => end.toFixed(4))).toEqual([
      '1.0500',
      '1.0500',
    ]);
  });

  it('is unbounded for a single round', () => {
    expect(computeRatioConfidence([1.2]).interval).toEqual([0, Number.POSITIVE_INFINITY]);
  });
});
