import { describe, expect, it } from 'vitest';
import { repeatQuickFailure } from '../../src/images/repeat-failure.ts';

/** Runs work that takes that many milliseconds and has these results. Returns the last result and the number of runs. */
async function run(milliseconds: number, ...results: string[]): Promise<[string, number]> {
  let [now, count] = [0, 0];
  const work = async () => {
    now += milliseconds;
    return results[count++]!;
  };
  const result = await repeatQuickFailure(
    work,
    (each) => each === 'failed',
    () => now,
  );
  return [result, count];
}

describe('work that is repeated after a quick failure', () => {
  it('runs once where it succeeds', async () => {
    expect(await run(1, 'done')).toEqual(['done', 1]);
  });

  it('runs twice where it fails quickly, and no third time', async () => {
    expect(await run(5_000, 'failed', 'done')).toEqual(['done', 2]);
    expect(await run(1, 'failed', 'failed')).toEqual(['failed', 2]);
  });

  it('runs once where it fails after more than five seconds', async () => {
    expect(await run(5_001, 'failed')).toEqual(['failed', 1]);
  });
});
