import { describe, expect, it } from 'vitest';
import { loadOnce } from '../../src/shared/load-once.ts';

describe('a value that is loaded once', () => {
  it('is loaded again after a load that failed, and then never', async () => {
    const loads: number[] = [];
    const load = loadOnce(async () => {
      if (loads.push(loads.length) === 1) throw new Error('The disk is full.');
      return loads.length;
    });
    await expect(load()).rejects.toThrow('The disk is full.');
    expect(await Promise.all([load(), load()])).toEqual([2, 2]);
    expect(await load()).toBe(2);
  });
});
