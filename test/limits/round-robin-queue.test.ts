import { describe, expect, it } from 'vitest';
import { RoundRobinQueue } from '../../src/limits/round-robin-queue.ts';

function takeAll(queue: RoundRobinQueue<string>): string[] {
  return Array.from({ length: queue.size }, () => queue.take()!);
}

describe('a round-robin queue', () => {
  it('takes the items of one key in order of arrival', () => {
    const queue = new RoundRobinQueue<string>();
    for (const item of ['a1', 'a2', 'a3']) queue.add('a', item);
    expect(takeAll(queue)).toEqual(['a1', 'a2', 'a3']);
    expect(queue.take()).toBeUndefined();
  });

  it('takes one item of each key in turn, however many one key has', () => {
    const queue = new RoundRobinQueue<string>();
    for (const item of ['a1', 'a2', 'a3']) queue.add('a', item);
    queue.add('b', 'b1');
    expect(queue.take()).toBe('a1');
    queue.add('c', 'c1');
    expect(takeAll(queue)).toEqual(['b1', 'a2', 'c1', 'a3']);
  });

  it('gives up the newest item of the key with the most items', () => {
    const queue = new RoundRobinQueue<string>();
    queue.add('a', 'a1');
    for (const item of ['b1', 'b2', 'b3']) queue.add('b', item);
    expect([queue.takeFromLongest(), queue.takeFromLongest()]).toEqual(['b3', 'b2']);
    expect([queue.size, queue.sizeOf('b')]).toEqual([2, 1]);
    expect([queue.takeFromLongest(), queue.takeFromLongest(), queue.takeFromLongest()]).toEqual([
      'a1',
      'b1',
      undefined,
    ]);
    expect(queue.take()).toBeUndefined();
  });

  it('counts the items of each key and of all', () => {
    const queue = new RoundRobinQueue<string>();
    for (const item of ['a1', 'a2']) queue.add('a', item);
    queue.add('b', 'b1');
    expect([queue.size, queue.sizeOf('a'), queue.sizeOf('b'), queue.sizeOf('c')]).toEqual([3, 2, 1, 0]);
    takeAll(queue);
    expect([queue.size, queue.sizeOf('a')]).toEqual([0, 0]);
  });
});
