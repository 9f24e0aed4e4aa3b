import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { PacedQueue } from '../../src/limits/paced-queue.ts';

function aPacedQueue(perTurn: number, isNeeded: (item: string) => boolean = () => true) {
  const begun: string[] = [];
  const queue = new PacedQueue<string>(perTurn, (item) => {
    if (isNeeded(item)) begun.push(item);
    return isNeeded(item);
  });
  const offer = (key: string, ...items: string[]) => {
    for (const item of items) if (!queue.tryBegin(item)) queue.add(key, item);
  };
  /** Items that have begun after each of the next turns of the event loop. */
  const afterTurns = async (count: number) => {
    const all: string[] = [];
    for (let turn = 0; turn < count; turn++) {
      await nextTurn();
      all.push(begun.join(' '));
    }
    return all;
  };
  return { begun, offer, afterTurns };
}

describe('a paced queue', () => {
  it('begins items immediately up to the limit of an iteration, and the others in later ones', async () => {
    const { begun, offer, afterTurns } = aPacedQueue(2);
    offer('a', 'a1', 'a2', 'a3', 'a4', 'a5');
    expect(begun).toEqual(['a1', 'a2']);
    expect(await afterTurns(3)).toEqual(['a1 a2 a3 a4', 'a1 a2 a3 a4 a5', 'a1 a2 a3 a4 a5']);
  });

  it('alternates between the keys, however many items one key has', async () => {
    const { offer, afterTurns } = aPacedQueue(1);
    offer('a', 'a1', 'a2', 'a3');
    offer('b', 'b1', 'b2');
    expect(await afterTurns(4)).toEqual(['a1 a2', 'a1 a2 b1', 'a1 a2 b1 a3', 'a1 a2 b1 a3 b2']);
  });

  it('does not count items that are no longer needed', async () => {
    const gone = new Set<string>();
    const { offer, afterTurns } = aPacedQueue(1, (item) => !gone.has(item));
    offer('a', 'a1', 'a2', 'a3', 'a4');
    gone.add('a2').add('a3');
    expect(await afterTurns(1)).toEqual(['a1 a4']);
  });
});
