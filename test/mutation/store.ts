import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Outcome, Reach } from './test-runner.ts';

/** Results of earlier runs, which the next one goes on from. */
const FOLDER = '.mutation';

export interface Result extends Outcome {
  /** Digest of the source that was changed: the result is of no use once it differs. */
  source: string;
  /** How many test files could run. */
  tests: number;
}

interface Stored {
  /** By test file. */
  reach: Record<string, Reach & { test: string }>;
  /** Digests of the sources when functions of them were named last. */
  sources: Record<string, string>;
  /** By id of the mutant. */
  results: Record<string, Result>;
}

export const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

/** File of a function that is named `file:index`. */
export const fileOf = (name: string): string => name.slice(0, name.lastIndexOf(':'));

/** Name for the functions of a file that a test called before the file changed. */
export const toUnknown = (file: string): string => `${file}:*`;

/** What is known of mutants and tests, in a file. */
export class Store {
  static readonly folder = FOLDER;
  readonly #path = join(FOLDER, 'results.json');
  #stored: Stored = { reach: {}, sources: {}, results: {} };

  static async open(): Promise<Store> {
    const store = new Store();
    await mkdir(FOLDER, { recursive: true });
    const text = await readFile(store.#path, 'utf8').catch(() => null);
    if (text !== null) store.#stored = JSON.parse(text);
    return store;
  }

  get reach() {
    return this.#stored.reach;
  }

  get results() {
    return this.#stored.results;
  }

  /** Keeps of sources that have changed which tests reach the file: an index may by now be that of another function. */
  forgetFunctions(digests: Record<string, string>): void {
    const { reach, sources } = this.#stored;
    const changed = new Set(Object.keys(digests).filter((file) => sources[file] !== digests[file]));
    const forget = (name: string) => (changed.has(fileOf(name)) ? toUnknown(fileOf(name)) : name);
    for (const test of Object.values(reach)) test.functions = [...new Set(test.functions.map(forget))];
    this.#stored.sources = digests;
  }

  /** Replaces the file at once, so that a run that is interrupted leaves one or the other. */
  async save(): Promise<void> {
    await writeFile(`${this.#path}.new`, JSON.stringify(this.#stored, null, 1));
    await rename(`${this.#path}.new`, this.#path);
  }
}
