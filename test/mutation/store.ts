import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MutantOutcome, Reach } from './test-runner.ts';

/** Folder of the results of earlier runs, which the next run continues. */
const FOLDER = '.mutation';

export interface Result extends MutantOutcome {
  /** Digest of the source that was changed. The result is invalid once it differs. */
  source: string;
  /** How many test files could run. */
  tests: number;
}

interface StoredResults {
  /** By test file. */
  reach: Record<string, Reach & { test: string }>;
  /** Digests of the sources that the function indices in `reach` refer to. */
  sources: Record<string, string>;
  /** By id of the mutant. */
  results: Record<string, Result>;
}

export const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);

/** Returns the file of a function named `file:index`. */
export const toFile = (name: string): string => name.slice(0, name.lastIndexOf(':'));

/** Returns the name for unspecified functions of a file, for a test that called some before the file changed. */
export const toUnknownFunction = (file: string): string => `${file}:*`;

/** Results of mutants and coverage of test files, stored in a JSON file. */
export class ResultStore {
  static readonly folder = FOLDER;
  readonly #path = join(FOLDER, 'results.json');
  #stored: StoredResults = { reach: {}, sources: {}, results: {} };

  static async open(): Promise<ResultStore> {
    const store = new ResultStore();
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

  /** For sources that have changed, keeps only which tests reach the file, because the indices may refer to other functions. */
  invalidateFunctions(digests: Record<string, string>): void {
    const { reach, sources } = this.#stored;
    const changed = new Set(Object.keys(digests).filter((file) => sources[file] !== digests[file]));
    const forget = (name: string) => (changed.has(toFile(name)) ? toUnknownFunction(toFile(name)) : name);
    for (const test of Object.values(reach)) test.functions = [...new Set(test.functions.map(forget))];
    this.#stored.sources = digests;
  }

  /** Replaces the file atomically. */
  async save(): Promise<void> {
    await writeFile(`${this.#path}.new`, JSON.stringify(this.#stored, null, 1));
    await rename(`${this.#path}.new`, this.#path);
  }
}
