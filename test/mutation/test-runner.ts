import { readFile, rm } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { BaseSequencer, createVitest, type TestSpecification, type Vitest } from 'vitest/node';
import { applyMutant, type Mutant } from './mutants.ts';
import { recordReach } from './reach.ts';

/** Longest run of the tests of one mutant. */
export const LIMIT_MS = 180_000;

export type Status = 'killed' | 'survived' | 'timeout';

export interface Outcome {
  status: Status;
  /** The test that failed, or what else went wrong. */
  by: string | null;
}

/** What one test file does when nothing is changed. */
export interface Reach {
  passed: boolean;
  milliseconds: number;
  /** Functions that it calls, as `file:index`. */
  functions: string[];
}

/** Runs test files in the order in which they are given: those that fail soonest come first. */
class GivenOrder extends BaseSequencer {
  override sort = (specifications: TestSpecification[]) => Promise.resolve(specifications);
}

/**
 * One Vitest with one PostgreSQL for many runs. A change is made to the source while it is loaded: no file is written, and
 * processes that tests start run the unchanged code.
 */
export class TestRunner {
  readonly #vitest: Vitest;
  readonly #reachFolder: string;
  readonly #changes: Map<string, (source: string) => string>;

  private constructor(vitest: Vitest, reachFolder: string, changes: Map<string, (source: string) => string>) {
    this.#vitest = vitest;
    this.#reachFolder = reachFolder;
    this.#changes = changes;
  }

  static async start(folder: string): Promise<TestRunner> {
    const reachFolder = resolve(folder, 'reach');
    process.env.MUTATION_REACH = reachFolder;
    process.env.MUTATION_LIMIT_MS = String(LIMIT_MS);
    const changes = new Map<string, (source: string) => string>();
    const plugin = {
      name: 'mutate',
      enforce: 'pre' as const,
      transform: (source: string, id: string) => changes.get(id)?.(source),
    };
    const vitest = await createVitest(
      {
        ...{ watch: false, bail: 1, retry: 0, maxWorkers: 1, fileParallelism: false, reporters: [{}] },
        ...{ setupFiles: ['reflect-metadata', resolve('test/mutation/setup.ts')], sequence: { sequencer: GivenOrder } },
        ...{ coverage: { enabled: false }, silent: true, fsModuleCache: false },
      },
      { plugins: [plugin] },
    );
    return new TestRunner(vitest, reachFolder, changes);
  }

  /** Test files from the root of the repository. */
  async findTests(): Promise<string[]> {
    const specifications = await this.#vitest.globTestSpecifications();
    return specifications.map(({ moduleId }) => relative(process.cwd(), moduleId)).toSorted();
  }

  /** Runs one test file without a mutant, and finds which functions of the sources it calls. */
  async measureReach(test: string, sources: readonly string[]): Promise<Reach> {
    const path = join(this.#reachFolder, `${encodeURIComponent(resolve(test))}.json`);
    await rm(path, { force: true });
    for (const file of sources) this.#change(file, (source) => recordReach(file, source));
    try {
      const { status, milliseconds } = await this.#run([test]);
      const functions: string[] = JSON.parse(await readFile(path, 'utf8').catch(() => '[]'));
      return { passed: status === 'survived', milliseconds, functions };
    } finally {
      for (const file of sources) this.#restore(file);
    }
  }

  /** Runs the tests, in their order, until one fails. */
  async test(mutant: Mutant, tests: readonly string[]): Promise<Outcome> {
    this.#change(mutant.file, (source) => applyMutant(source, mutant));
    try {
      const { status, by } = await this.#run(tests);
      return { status, by };
    } finally {
      this.#restore(mutant.file);
    }
  }

  async close(): Promise<void> {
    await this.#vitest.close();
  }

  #change(file: string, change: (source: string) => string): void {
    this.#changes.set(resolve(file), change);
    this.#vitest.invalidateFile(resolve(file));
  }

  #restore(file: string): void {
    this.#changes.delete(resolve(file));
    this.#vitest.invalidateFile(resolve(file));
  }

  async #run(tests: readonly string[]): Promise<Outcome & { milliseconds: number }> {
    const project = this.#vitest.getRootProject();
    const specifications = tests.map((test) => project.createSpecification(resolve(test)));
    this.#vitest.state.filesMap.clear();
    const began = performance.now();
    const { testModules, unhandledErrors } = await this.#vitest.runTestSpecifications(specifications);
    const milliseconds = Math.round(performance.now() - began);
    process.exitCode = 0;
    const failed = testModules
      .flatMap((module) => [...module.children.allTests('failed')])
      .map((test) => test.fullName);
    const broken = testModules.flatMap((module) => module.errors()).map(({ message }) => message);
    const other = unhandledErrors.map((error) => (error as Error).message ?? String(error));
    const [by = null] = [...failed, ...broken, ...other];
    if (by === null) return { status: 'survived', by, milliseconds };
    const isTimeout = failed.length === 0 && milliseconds >= LIMIT_MS;
    return { status: isTimeout ? 'timeout' : 'killed', by: by.split('\n')[0]!.slice(0, 200), milliseconds };
  }
}
