import { describe, expect, it } from 'vitest';
import { inSlices } from '../../src/limits/time-slice.ts';

/** Yields values that each take longer to compute than a time slice. */
function* slowValues(): Generator<number> {
  for (let value = 0; value < 4; value++) {
    for (const start = performance.now(); performance.now() - start < 20; );
    yield value;
  }
}

describe('values in slices', () => {
  it('are the same, and leave the event loop to others between them', async () => {
    const seen: (number | string)[] = [];
    const immediate = setInterval(() => seen.push('other'), 1);
    for await (const value of inSlices(slowValues())) seen.push(value);
    clearInterval(immediate);
    expect(seen.filter((one) => one !== 'other')).toEqual([0, 1, 2, 3]);
    expect(seen.indexOf('other')).toBeLessThan(seen.indexOf(3));
  });
});
