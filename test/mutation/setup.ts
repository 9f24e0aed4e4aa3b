import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, expect } from 'vitest';

/* Vitest setup file of mutation runs. */

const REACH = process.env.MUTATION_REACH!;

declare global {
  var mutationWatchdog: Worker | undefined;
  /** Functions that were called while modules were loaded, once for all test files of the worker. */
  var loadingFunctions: Set<string> | undefined;
}

// Kills a worker whose test file exceeds the limit. A test timeout cannot end the infinite loop of a mutant.
await globalThis.mutationWatchdog?.terminate();
globalThis.mutationWatchdog = new Worker(
  `setTimeout(() => process.kill(process.pid, 'SIGKILL'), ${process.env.MUTATION_LIMIT_MS})`,
  { eval: true },
);
globalThis.mutationWatchdog.unref();

const toFile = (name: string) => name.slice(0, name.lastIndexOf(':'));

beforeAll(() => {
  globalThis.loadingFunctions ??= new Set();
  for (const name of globalThis.reachedFunctions ?? []) globalThis.loadingFunctions.add(name);
  globalThis.reachedFunctions?.clear();
});

/** Writes the functions that the test file called, if the sources are instrumented, and those called while their modules were loaded. */
afterAll(() => {
  const { testPath } = expect.getState();
  if (!globalThis.reachedFunctions || !testPath) return;
  const files = new Set([...globalThis.reachedFunctions].map(toFile));
  const loading = [...globalThis.loadingFunctions!].filter((name) => files.has(toFile(name)));
  mkdirSync(REACH, { recursive: true });
  const functions = new Set([...globalThis.reachedFunctions, ...loading]);
  writeFileSync(join(REACH, `${encodeURIComponent(testPath)}.json`), JSON.stringify([...functions]));
  // Calls before the next test file begins happen while its modules are loaded.
  globalThis.reachedFunctions.clear();
});
