/** Mutation tests: `npm run mutation`. See `HELP` in options.ts. */
import { glob, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { requireMarkers } from '../support/figures.ts';
import { findMutants, type Mutant } from './mutants.ts';
import { folderOf, HELP, type Options, readOptions, SCOPE } from './options.ts';
import { createTable, describeObsolete, readReasons, type TestedMutant, writeReport } from './report.ts';
import { digest, type Result, ResultStore, toFile, toUnknownFunction } from './store.ts';
import { LIMIT_MS, TestRunner } from './test-runner.ts';

/** Test files that start processes or browsers, which run unchanged code, and slow ones. */
const EXCLUDED =
  /^test\/(?:bench|cli|console\/browser|docs|mutation|supervision)\/|chromium|rolling-upgrade|slow-clients/;

/** Test files per coverage run. A run loads the service once; the deadline is checked between runs. */
const MEASURED_AT_ONCE = 24;

/** Milliseconds from which a test file is selected only when faster ones are missing. */
const SLOW_MS = 30_000;

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

const startsWithAny = (text: string, prefixes: readonly string[]) =>
  prefixes.length === 0 || prefixes.some((prefix) => text.startsWith(prefix));

/** Records which functions each test file calls, for the files that changed or were never measured. */
async function measureTests(
  runner: TestRunner,
  store: ResultStore,
  sources: Source[],
  tests: string[],
  deadline: number,
) {
  const digests = Object.fromEntries(sources.map((source) => [source.file, source.digest]));
  const versions = new Map(
    await Promise.all(tests.map(async (test) => [test, digest(await readFile(test, 'utf8'))] as const)),
  );
  store.invalidateFunctions(digests);
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
 * Returns the tests that reach the mutant, the fastest first. They are selected alternately from those of the same name or in a folder of the same name, those that
 * reach the fewest functions in all, and those that reach most of its file. What is evaluated while modules are loaded, such as the text of
 * a statement, is reached by the tests of the file and of those that import it.
 */
function selectTests(
  mutant: Mutant,
  sources: Source[],
  tests: string[],
  store: ResultStore,
  perMutant: number,
): string[] {
  const { file, functionIndex } = mutant;
  const importers = sources.filter(({ imports }) => imports.includes(file)).map((source) => source.file);
  const countIn = (functions: string[], files: string[]) =>
    functions.filter((name) => files.includes(toFile(name))).length;
  const passed = tests
    .map((test) => ({ ...store.reach[test]!, test }))
    .filter(({ passed }) => passed)
    .map(({ test, functions, milliseconds }) => {
      const own = countIn(functions, [file]);
      const isCalled = functions.includes(`${file}:${functionIndex}`) || functions.includes(toUnknownFunction(file));
      return { test, milliseconds, isCalled, own, importing: countIn(functions, importers), all: functions.length };
    })
    .toSorted(
      (one, other) =>
        Number(one.milliseconds > SLOW_MS) - Number(other.milliseconds > SLOW_MS) ||
        other.own - one.own ||
        other.importing - one.importing ||
        one.milliseconds - other.milliseconds,
    );
  const name = basename(file).split('.')[0]!;
  const folders = dirname(file).split('/').slice(1);
  const isNamed = ({ test }: { test: string }) => test.includes(name);
  const isInFolder = ({ test }: { test: string }) =>
    dirname(test)
      .split('/')
      .some((folder) => folders.includes(folder));
  const called = functionIndex === null ? [] : passed.filter(({ isCalled }) => isCalled);
  const reaching = called.length > 0 ? called : passed.filter(({ own, importing }) => own + importing > 0);
  // Readers are objects, which the resolvers use: these are not measured.
  const found =
    reaching.length > 0 ? reaching : passed.filter((one) => isNamed(one) || /^test\/reads\//.test(one.test));
  const similar = found
    .filter((one) => isNamed(one) || isInFolder(one))
    .toSorted((one, other) => Number(isNamed(other)) - Number(isNamed(one)));
  const narrow = found.toSorted((one, other) => one.all - other.all);
  return [...new Set(found.flatMap((test, at) => [similar[at] ?? test, narrow[at]!, test]))]
    .slice(0, perMutant)
    .toSorted((one, other) => one.milliseconds - other.milliseconds)
    .map(({ test }) => test);
}

/**
 * Returns the ids of the sampled mutants: the first of each folder, then the second of each, and so on. The random order within a folder
 * depends on the ids alone, so that changes elsewhere do not affect it.
 */
function sampleMutants(sources: Source[], { sample }: Options): Set<string> {
  const ids = sources.flatMap(({ mutants }) => mutants.map(({ id, file }) => ({ id, file, order: digest(id) })));
  const ranks = new Map<string | undefined, number>();
  const ranked = ids
    .toSorted((one, other) => (one.order < other.order ? -1 : 1))
    .map(({ id, file }) => {
      const rank = ranks.get(folderOf(file)) ?? 0;
      ranks.set(folderOf(file), rank + 1);
      return { id, rank };
    });
  const chosen = ranked.filter(({ rank }) => rank < sample).toSorted((one, other) => one.rank - other.rank);
  return new Set(chosen.map(({ id }) => id));
}

async function testMutants(
  options: Options,
  sources: Source[],
  sample: Set<string>,
  store: ResultStore,
): Promise<void> {
  const deadline = Date.now() + options.minutes * 60_000;
  const runner = await TestRunner.start(ResultStore.folder);
  try {
    const tests = await runner.findTests();
    const wanted = tests.filter((test) => !EXCLUDED.test(test) && startsWithAny(test, options.tests));
    await measureTests(runner, store, sources, wanted, deadline);
    const measured = wanted.filter((test) => store.reach[test]);
    const byId = new Map(sources.flatMap((source) => source.mutants.map((mutant) => [mutant.id, { mutant, source }])));
    for (const id of sample) {
      const { mutant, source } = byId.get(id)!;
      if (!startsWithAny(mutant.file, options.only) || !isPending(currentResult(store, source, mutant), options))
        continue;
      if (Date.now() >= deadline) return;
      const tests = selectTests(mutant, sources, measured, store, options.perMutant);
      const began = performance.now();
      const slowest = Math.max(0, ...tests.map((test) => store.reach[test]!.milliseconds));
      const outcome =
        tests.length === 0
          ? { status: 'survived' as const, by: null, error: null }
          : await runner.test(mutant, tests, slowest);
      store.results[mutant.id] = { ...outcome, source: source.digest, tests: tests.length };
      await store.save();
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      console.info(`${outcome.status} in ${seconds} s: ${mutant.id} (line ${mutant.line})`);
      if (outcome.by !== null) console.info(`  by "${outcome.by}": ${outcome.error}`);
    }
  } finally {
    await runner.close();
  }
}

const currentResult = (store: ResultStore, source: Source, { id }: Mutant) => {
  const result = store.results[id];
  return result?.source === source.digest ? result : undefined;
};

const isPending = (result: Result | undefined, { retry }: Options): boolean =>
  retry ? result?.status === 'survived' : !result || result.tests === 0;

const options = readOptions(process.argv.slice(2));
if (options) {
  if (options.write) await requireMarkers('docs/testing.md', 'mutation');
  const sources = await readSources();
  const store = await ResultStore.open();
  const sample = sampleMutants(sources, options);
  if (options.minutes > 0) await testMutants(options, sources, sample, store);
  const mutants: TestedMutant[] = sources
    .flatMap((source) => source.mutants.map((mutant) => ({ ...mutant, result: currentResult(store, source, mutant) })))
    .filter(({ file }) => folderOf(file) !== undefined)
    // Mutants outside of the sample were not selected at random, and would distort the estimate.
    .map((mutant) => (sample.has(mutant.id) ? mutant : { ...mutant, result: undefined }));
  const reasons = await readReasons();
  console.info(`\n${createTable(mutants, reasons)}`);
  for (const line of describeObsolete(mutants, reasons)) console.warn(line);
  const size = Number.isFinite(options.sample)
    ? `At most ${options.sample} mutants of each folder, chosen at random; at most`
    : 'At most';
  const note = `${size} ${options.perMutant} test files for a mutant, each for at most ${LIMIT_MS / 1000} s.`;
  if (options.write) await writeReport(mutants, note);
} else {
  console.info(HELP);
}
