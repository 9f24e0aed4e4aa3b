import { createHash } from 'node:crypto';
import { type IdKind, newId } from '../../schema/ids.ts';

const SEED = 'builder-integration-api demo 1';

/** Reproducible stream of random numbers (sfc32), seeded by a name. */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(...name: (string | number)[]) {
    const seed = createHash('sha256')
      .update([SEED, ...name].join(' '))
      .digest();
    this.#a = seed.readInt32LE(0);
    this.#b = seed.readInt32LE(4);
    this.#c = seed.readInt32LE(8);
  }

  /** Returns an unsigned integer of 32 bits. */
  next(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
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
  sample<T>(list: readonly T[], count: number): T[] {
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
    return newId(kind, Date.parse(at), this.#bytes);
  }

  readonly #bytes = (count: number) => {
    const bytes = new Uint8Array(count);
    for (let index = 0; index < count; index += 4) {
      const word = this.next();
      for (let part = 0; part < 4; part++) bytes[index + part] = word >>> (8 * part);
    }
    return bytes;
  };
}
