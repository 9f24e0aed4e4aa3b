import { describe, expect, it } from 'vitest';
import { SmallLists } from '../../src/database/read/small-lists.ts';

describe('small lists', () => {
  const create = () => {
    let now = 0;
    const lists = new SmallLists(() => now);
    return { lists, advance: (milliseconds: number) => (now += milliseconds) };
  };

  it('have at most 500 rows', () => {
    const { lists } = create();
    lists.record('a', 500);
    lists.record('b', 501);
    expect(['a', 'b', 'c'].map((list) => lists.has(list))).toEqual([true, false, false]);
  });

  it('are no longer small once they were found larger', () => {
    const { lists } = create();
    lists.record('a', 1);
    lists.record('a', 501);
    expect(lists.has('a')).toBe(false);
  });

  it('are remembered for a minute', () => {
    const { lists, advance } = create();
    lists.record('a', 1);
    advance(59_999);
    expect(lists.has('a')).toBe(true);
    advance(1);
    expect(lists.has('a')).toBe(false);
  });

  it('are at most 10,000, of which the one found first is forgotten', () => {
    const { lists } = create();
    lists.record('first', 1);
    lists.record('second', 1);
    lists.record('first', 1);
    for (let index = 0; index < 9_999; index++) lists.record(String(index), 1);
    expect([lists.has('second'), lists.has('first')]).toEqual([false, true]);
  });
});
