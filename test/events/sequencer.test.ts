import { beforeEach, describe, expect, it } from 'vitest';
import { createPauseFinder } from '../../src/domain/events/sequencer.ts';

const SECOND = 1_000;

let now: number;
let findPause: ReturnType<typeof createPauseFinder>;

const aNumbering = { numbered: 0, state: 'epoch 7', hasEndpoints: true };

beforeEach(() => {
  now = 0;
  findPause = createPauseFinder(() => now);
  findPause(aNumbering);
});

describe('the pause of the sequencer', () => {
  it('is 50 ms until the log has not changed for ten seconds, then 200 ms, and 2 s without endpoints', () => {
    now = 9 * SECOND;
    expect(findPause({ ...aNumbering, hasEndpoints: false })).toBe(50);
    now = 10 * SECOND;
    expect(findPause(aNumbering)).toBe(200);
    expect(findPause({ ...aNumbering, hasEndpoints: false })).toBe(2_000);
  });

  it.each([
    ['this process numbers', { numbered: 1 }],
    ['another process has numbered', { state: 'epoch 8' }],
    ['another process is numbering', { numbered: null }],
  ])('is 50 ms again after events that %s', (_case, changes) => {
    now = 20 * SECOND;
    expect(findPause(aNumbering)).toBe(200);
    expect(findPause({ ...aNumbering, ...changes })).toBe(50);
  });

  it('is none where more events probably wait', () => {
    expect(findPause({ ...aNumbering, numbered: 1_000 })).toBe(0);
  });
});
