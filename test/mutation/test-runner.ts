import { readFile, rm } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { BaseSequencer, createVitest, type TestRunResult, type TestSpecification, type Vitest } from 'vitest/node';
import { applyMutant, type Mutant } from './mutants.ts';
import { instrumentFunctions } from './reach.ts';

/** Maximum milliseconds of one test file. */
export const LIMIT_MS = 120_000;
/** Maximum milliseconds of a test file that is fast without a mutant. */
const MIN_LIMIT_MS = 20_000;

export type Status = 'killed' | 'survived' | 'timeout';

export interface MutantOutcome {
  status: Status;
  /** The test that failed, or the file with another error. */
  by: string | null;
  /** First line of its error, which shows whether a timeout of a loaded machine may be the cause. */
  error: string | null;
}

/** Result and function coverage of one test file without a mutant. */
export interface Reach {
  passed: boolean;
  milliseconds: number;
  /** Functions that it calls, as `file:index`. */
  functions: string[];
}

/** Runs test files in the given order, the fastest first. */
class GivenOrderSequencer extends BaseSequencer {
  override sort = (specifications: TestSpecification[]) => Promise.resolve(specifications);
}

/**
 * One Vitest with one PostgreSQL for many runs. A mutant replaces the source while it is loaded: no file is written, and child
 * processes run the unchanged code.
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
    // Each run has a new worker that loads all packages, so their compiled code is cached.
    process.env.NODE_COMPILE_CACHE = resolve(folder, 'compiled');
    const changes = new Map<string, (source: string) => string>();
    const plugin = {
      name: 'mutate',
      enforce: 'pre' as const,
      transform: (source: string, id: string) => changes.get(id)?.(source),
    };
    const vitest = await createVitest(
      {
        ...{ watch: false, bail: 1, retry: 0, maxWorkers: 1, fileParallelism: false, reporters: [{}] },
        ...{
          setupFiles: ['reflect-metadata', resolve('test/mutation/setup.ts')],
          sequence: { sequencer: GivenOrderSequencer },
        },
        ...{ coverage: { enabled: false }, silent: true, fsModuleCache: false },
      },
      { plugins: [plugin] },
    );
    return new TestRunner(vitest, reachFolder, changes);
  }

  /** Returns the test files as paths from the root of the repository. */
  async findTests(): Promise<string[]> {
    const specifications = await this.#vitest.globTestSpecifications();
    return specifications.map(({ moduleId }) => relative(process.cwd(), moduleId)).toSorted();
  }

  /** Runs test files without a mutant, and finds which functions of the sources each of them calls. */
  async measureReach(tests: readonly string[], sources: readonly string[]): Promise<Map<string, Reach>> {
    await rm(this.#reachFolder, { recursive: true, force: true });
    for (const file of sources) this.#change(file, (source) => instrumentFunctions(file, source));
    this.#vitest.config.bail = 0;
    try {
      const { testModules } = await this.#run(tests);
      const reach = testModules.map(async (module) => {
        const path = join(this.#reachFolder, `${encodeURIComponent(module.moduleId)}.json`);
        const functions: string[] = JSON.parse(await readFile(path, 'utf8').catch(() => '[]'));
        const milliseconds = Math.round(module.diagnostic().duration);
        return [module.relativeModuleId, { passed: module.ok(), milliseconds, functions }] as const;
      });
      return new Map(await Promise.all(reach));
    } finally {
      this.#vitest.config.bail = 1;
      for (const file of sources) this.#restore(file);
    }
  }

  /**
   * Runs the tests, in their order, until one fails.
   *
   * @param milliseconds duration of the slowest of them without a mutant, which determines the time limit
   */
  async test(mutant: Mutant, tests: readonly string[], milliseconds: number): Promise<MutantOutcome> {
    const limit = Math.min(LIMIT_MS, Math.max(MIN_LIMIT_MS, 5 * milliseconds));
    process.env.MUTATION_LIMIT_MS = String(limit);
    this.#change(mutant.file, (source) => applyMutant(source, mutant));
    try {
      const began = performance.now();
      const failure = findFailure(await this.#run(tests));
      if (!failure) return { status: 'survived', by: null, error: null };
      const isTimeout = !failure.test && performance.now() - began >= limit;
      return { status: isTimeout ? 'timeout' : 'killed', by: failure.name, error: failure.error };
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

  async #run(tests: readonly string[]) {
    const project = this.#vitest.getRootProject();
    const specifications = tests.map((test) => project.createSpecification(resolve(test)));
    this.#vitest.state.filesMap.clear();
    const result = await this.#vitest.runTestSpecifications(specifications);
    process.exitCode = 0;
    return result;
  }
}

/** Returns the first failed test, else the first error of a file or of the worker; null if everything passed. */
function findFailure({ testModules, unhandledErrors }: TestRunResult) {
  const [failed] = testModules.flatMap((module) => [...module.children.allTests('failed')]);
  if (failed) return { test: true, name: failed.fullName, error: firstLineOf(failed.result().errors?.[0]) };
  const errors = [...testModules.flatMap((module) => module.errors()), ...unhandledErrors];
  const name = testModules.find((module) => !module.ok())?.relativeModuleId ?? 'no test';
  return errors.length === 0 ? null : { test: false, name, error: firstLineOf(errors[0]) };
}

const firstLineOf = (error: unknown): string =>
  ((error as Error).message ?? String(error)).split('\n')[0]!.slice(0, 200);
