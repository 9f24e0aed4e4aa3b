import { beforeEach, describe, expect, it } from 'vitest';
import { createPauseFinder } from '../../src/domain/events/sequencer.ts';

const SECOND = 1_000;

let now: number;
let findPause: ReturnType<typeof createPauseFinder>;

beforeEach(() => {
  now = 0;
  findPause = createPauseFinder(() => now);
  findPause(0, 'epoch 7');
});

describe('the pause of the sequencer', () => {
  it('is 50 ms until the log has not changed for ten seconds, then 200 ms', () => {
    now = 9 * SECOND;
    expect(findPause(0, 'epoch 7')).toBe(50);
    now = 10 * SECOND;
    expect(findPause(0, 'epoch 7')).toBe(200);
  });

  it.each([
    ['this process numbers', 1, 'epoch 7'],
    ['another process has numbered', 0, 'epoch 8'],
    ['another process is numbering', null, 'epoch 7'],
  ])('is 50 ms again after events that %s', (_case, numbered, state) => {
    now = 20 * SECOND;
    expect(findPause(0, 'epoch 7')).toBe(200);
    expect(findPause(numbered, state)).toBe(50);
  });

  it('is none where more events probably wait', () => {
    expect(findPause(1_000, 'epoch 7')).toBe(0);
  });
});
