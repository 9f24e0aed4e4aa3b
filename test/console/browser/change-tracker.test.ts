import { describe, expect, it } from 'vitest';
import { ChangeTracker, SETTLE_MS } from '../../../src/console/browser/shared/change-tracker.ts';

const poll = (cursor: string, builderIds: string[] = [], reset = false) => ({ cursor, builderIds, reset });

describe('the records that open pages reload', () => {
  it('is read once after the first poll, when standbys have what was changed before it (CON-17)', () => {
    const tracker = new ChangeTracker('buil_1');
    expect(tracker.cursor).toBeNull();
    expect(tracker.accept(poll('a', [], true), 0)).toBe(false);
    expect(tracker.cursor).toBe('a');
    expect(tracker.accept(poll('b'), SETTLE_MS - 1)).toBe(false);
    expect(tracker.accept(poll('c'), SETTLE_MS + 1)).toBe(true);
    expect(tracker.accept(poll('d'), 10 * SETTLE_MS)).toBe(false);
  });

  it('is read at each change of the builder, and once more after the last', () => {
    const tracker = new ChangeTracker('buil_1');
    tracker.accept(poll('a', [], true), 0);
    expect(tracker.accept(poll('b', ['buil_1']), 1000)).toBe(true);
    expect(tracker.accept(poll('c', ['buil_1']), 5000)).toBe(true);
    expect(tracker.accept(poll('d'), 1000 + SETTLE_MS + 1)).toBe(false);
    expect(tracker.accept(poll('e'), 5000 + SETTLE_MS + 1)).toBe(true);
    expect(tracker.accept(poll('f', ['buil_2']), 20_000)).toBe(false);
    expect(tracker.accept(poll('g', [], true), 21_000)).toBe(true);
  });

  it('are the records of all builders where the page shows none', () => {
    const tracker = new ChangeTracker(undefined);
    tracker.accept(poll('a', [], true), 0);
    expect(tracker.accept(poll('b', ['buil_2']), 1000)).toBe(true);
  });
});
