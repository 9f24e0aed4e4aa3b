import { createHash } from 'node:crypto';
import { type IdKind, newId } from '../shared/ids.ts';

const SEED = 'builder-integration-api demo 1';

/**
 * A stream of numbers that is the same each time for the same name. Each subject draws from a stream of its own, so that
 * more of one leaves the others as they are. The generator is sfc32, whose state is wide enough for streams never to meet.
 */
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

  /** 32 bits, unsigned. */
  next(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  /** An integer from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + Math.floor((this.next() / 2 ** 32) * (high - low + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability * 2 ** 32;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.between(0, list.length - 1)]!;
  }

  /** So many different members of the list, or all of them, in random order. */
  some<T>(list: readonly T[], count: number): T[] {
    const rest = [...list];
    const taken: T[] = [];
    while (taken.length < count && rest.length > 0) taken.push(...rest.splice(this.between(0, rest.length - 1), 1));
    return taken;
  }

  digits(length: number): string {
    return Array.from({ length }, () => this.between(0, 9)).join('');
  }

  /** An id as a record made at that instant has it. */
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
