import { createHash } from 'node:crypto';
import { type IdKind, newId } from '../../schema/ids.ts';

const SEED = 'builder-integration-api demo 2';

/** Reproducible stream of random numbers (mulberry32), seeded by a name. */
export class Random {
  #state: number;

  constructor(...name: (string | number)[]) {
    const text = [SEED, ...name].join(' ');
    this.#state = createHash('sha256').update(text).digest().readInt32LE();
  }

  /** Returns an unsigned integer of 32 bits. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    const mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    const sum = mixed ^ (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61));
    return (sum ^ (sum >>> 14)) >>> 0;
  }

  /** Returns an integer from `low` to `high`, inclusive. */
  between(low: number, high: number): number {
    return low + Math.floor((this.next() / 2 ** 32) * (high - low + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability * 2 ** 32;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.between(0, list.length - 1)]!;
  }

  /** Returns `count` different members of the list, or all of them, in random order. */
  sample<T>(list: readonly T[], count = list.length): T[] {
    const rest = [...list];
    const sample: T[] = [];
    while (sample.length < count && rest.length > 0) sample.push(...rest.splice(this.between(0, rest.length - 1), 1));
    return sample;
  }

  digits(length: number): string {
    return Array.from({ length }, () => this.between(0, 9)).join('');
  }

  /** Returns an id of a record created at that instant. */
  id(kind: IdKind, at: string): string {
    return newId(kind, Date.parse(at), (count) => Uint8Array.from({ length: count }, () => this.next()));
  }
}
