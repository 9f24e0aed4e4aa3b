/** Mutation tests: `npm run mutation`. See `HELP` in options.ts. */
import { glob, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { requireMarkers } from '../support/figures.ts';
import { randomOf, shuffled } from '../support/shuffle.ts';
import { findMutants, type Mutant } from './mutants.ts';
import { folderOf, HELP, type Options, readOptions, SCOPE } from './options.ts';
import { describeObsolete, readReasons, type Tested, tableOf, writeReport } from './report.ts';
import { digest, fileOf, Store, toUnknown } from './store.ts';
import { LIMIT_MS, TestRunner } from './test-runner.ts';

/** Tests of programs and browsers, and those that take long: they would not fail because of a mutant, or no sooner than others. */
const EXCLUDED =
  /^test\/(?:bench|cli|console\/browser|docs|mutation|supervision)\/|chromium|rolling-upgrade|slow-clients/;

/** Test files of one run, which load the service once. Few, because a run ends between them. */
const MEASURED_AT_ONCE = 6;

interface Source {
  file: string;
  digest: string;
  mutants: Mutant[];
  /** Files that it imports. */
  imports: string[];
}

async function readSources(): Promise<Source[]> {
  const sources: Source[] = [];
  const patterns = Object.keys(SCOPE).map((folder) => `${folder}/**/*.ts`);
  const files = new Set<string>();
  for await (const file of glob(patterns)) if (!/\/migrations\/|\.d\.ts$/.test(file)) files.add(file);
  for (const file of [...files].toSorted()) {
    const text = await readFile(file, 'utf8');
    const imports = [...text.matchAll(/ from '(\.[^']+)'/g)].map(([, path]) => join(dirname(file), path!));
    sources.push({ file, digest: digest(text), mutants: findMutants(file, text), imports });
  }
  return sources;
}

const beginsWithOne = (text: string, prefixes: readonly string[]) =>
  prefixes.length === 0 || prefixes.some((prefix) => text.startsWith(prefix));

/** Measures the reach of those tests that changed since, or were never measured. */
async function measureTests(runner: TestRunner, store: Store, sources: Source[], tests: string[], deadline: number) {
  const digests = Object.fromEntries(sources.map((source) => [source.file, source.digest]));
  const versions = new Map(
    await Promise.all(tests.map(async (test) => [test, digest(await readFile(test, 'utf8'))] as const)),
  );
  store.forgetFunctions(digests);
  const unmeasured = tests.filter((test) => store.reach[test]?.test !== versions.get(test));
  while (unmeasured.length > 0 && Date.now() < deadline) {
    const measured = await runner.measureReach(unmeasured.splice(0, MEASURED_AT_ONCE), Object.keys(digests));
    for (const [test, reach] of measured) {
      store.reach[test] = { ...reach, test: versions.get(test)! };
      const { functions, milliseconds, passed } = reach;
      console.info(`${test}: ${functions.length} functions in ${milliseconds} ms${passed ? '' : ', FAILED'}`);
    }
    await store.save();
  }
}

/**
 * The tests that reach the mutant, the fastest of them first: those that reach most of its file, half of them in a folder of the same name
 * where there are such tests. What is evaluated while modules are loaded, such as the text of a statement, is reached by the tests of the
 * files that import it.
 */
function testsOf(mutant: Mutant, sources: Source[], tests: string[], store: Store, perMutant: number): string[] {
  const { file, functionIndex } = mutant;
  const importers = sources.filter(({ imports }) => imports.includes(file)).map((source) => source.file);
  const find = (files: string[], names: string[] | null) =>
    tests
      .map((test) => ({ ...store.reach[test]!, test }))
      .filter(({ passed }) => passed)
      .map(({ test, functions, milliseconds }) => {
        const inFiles = functions.filter((name) => files.includes(fileOf(name)));
        const isReached = names === null || inFiles.some((name) => names.includes(name));
        return { test, reach: isReached ? inFiles.length : 0, milliseconds };
      })
      .filter(({ reach }) => reach > 0)
      .toSorted((one, other) => other.reach - one.reach || one.milliseconds - other.milliseconds);
  const called = functionIndex === null ? [] : find([file], [`${file}:${functionIndex}`, toUnknown(file)]);
  const found = called.length > 0 ? called : find([file, ...importers], null);
  const folders = dirname(file).split('/').slice(1);
  const own = found.filter(({ test }) =>
    dirname(test)
      .split('/')
      .some((folder) => folders.includes(folder)),
  );
  return [...new Set(found.flatMap((test, at) => [own[at] ?? test, test]))]
    .slice(0, perMutant)
    .toSorted((one, other) => one.milliseconds - other.milliseconds)
    .map(({ test }) => test);
}

/** Ids of the mutants that a sample consists of: a fixed share of each folder, which changes elsewhere leave as it is. */
function sampleMutants(sources: Source[], { sample }: Options): Set<string> {
  const mutants = sources.flatMap((source) => source.mutants);
  const folders = Map.groupBy(mutants, ({ file }) => folderOf(file));
  const chosen = [...folders.values()].flatMap((inside) => {
    const ids = inside.map(({ id }) => ({ id, order: digest(id) }));
    return ids.toSorted((one, other) => (one.order < other.order ? -1 : 1)).slice(0, Math.ceil(ids.length / sample));
  });
  return new Set(chosen.map(({ id }) => id));
}

async function testMutants(options: Options, sources: Source[], sample: Set<string>, store: Store): Promise<void> {
  const deadline = Date.now() + options.minutes * 60_000;
  const runner = await TestRunner.start(Store.folder);
  try {
    const tests = await runner.findTests();
    const wanted = tests.filter((test) => !EXCLUDED.test(test) && beginsWithOne(test, options.tests));
    await measureTests(runner, store, sources, wanted, deadline);
    const measured = wanted.filter((test) => store.reach[test]);
    const pending = sources
      .filter(({ file }) => beginsWithOne(file, options.only))
      .flatMap((source) => source.mutants.map((mutant) => ({ mutant, source })))
      .filter(({ mutant, source }) => {
        if (!sample.has(mutant.id)) return false;
        const result = currentResult(store, source, mutant);
        return options.retry ? result?.status === 'survived' : !result || result.tests === 0;
      });
    for (const { mutant, source } of shuffled(pending, randomOf(options.seed))) {
      if (Date.now() >= deadline) return;
      const tests = testsOf(mutant, sources, measured, store, options.perMutant);
      const began = performance.now();
      const slowest = Math.max(0, ...tests.map((test) => store.reach[test]!.milliseconds));
      const outcome =
        tests.length === 0 ? { status: 'survived' as const, by: null } : await runner.test(mutant, tests, slowest);
      store.results[mutant.id] = { ...outcome, source: source.digest, tests: tests.length };
      await store.save();
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      console.info(`${outcome.status} in ${seconds} s: ${mutant.id} (line ${mutant.line})`);
    }
  } finally {
    await runner.close();
  }
}

const currentResult = (store: Store, source: Source, { id }: Mutant) => {
  const result = store.results[id];
  return result?.source === source.digest ? result : undefined;
};

const options = readOptions(process.argv.slice(2));
if (options) {
  if (options.write) await requireMarkers('docs/testing.md', 'mutation');
  const sources = await readSources();
  const store = await Store.open();
  const sample = sampleMutants(sources, options);
  if (options.minutes > 0) await testMutants(options, sources, sample, store);
  const mutants: Tested[] = sources
    .flatMap((source) => source.mutants.map((mutant) => ({ ...mutant, result: currentResult(store, source, mutant) })))
    .filter(({ file }) => folderOf(file) !== undefined)
    // What was tested besides the sample was chosen for a reason, and would distort the estimate.
    .map((mutant) => (sample.has(mutant.id) ? mutant : { ...mutant, result: undefined }));
  const reasons = await readReasons();
  console.info(`\n${tableOf(mutants, reasons)}`);
  for (const line of describeObsolete(mutants, reasons)) console.warn(line);
  const note = `One in ${options.sample} mutants of each folder; at most ${options.perMutant} test files for a mutant, each for at most ${LIMIT_MS / 1000} s.`;
  if (options.write) await writeReport(mutants, note);
} else {
  console.info(HELP);
}
