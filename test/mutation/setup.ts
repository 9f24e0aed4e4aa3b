import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, expect } from 'vitest';

/* Runs before each test file of a mutation run, in the worker of the tests. */

const REACH = process.env.MUTATION_REACH!;

declare global {
  var mutationWatchdog: Worker | undefined;
  /** Functions that were called while modules were loaded, once for all test files of the worker. */
  var loadingFunctions: Set<string> | undefined;
}

// Ends a worker whose test file runs for too long, as when a mutant loops for ever, which no timeout of a test ends.
await globalThis.mutationWatchdog?.terminate();
globalThis.mutationWatchdog = new Worker(
  `setTimeout(() => process.kill(process.pid, 'SIGKILL'), ${process.env.MUTATION_LIMIT_MS})`,
  { eval: true },
);
globalThis.mutationWatchdog.unref();

const fileOf = (name: string) => name.slice(0, name.lastIndexOf(':'));

beforeAll(() => {
  globalThis.loadingFunctions ??= new Set();
  for (const name of globalThis.reachedFunctions ?? []) globalThis.loadingFunctions.add(name);
  globalThis.reachedFunctions?.clear();
});

/** What the file has reached, where the sources record it. A file that it reaches is one that it has loaded. */
afterAll(() => {
  const { testPath } = expect.getState();
  if (!globalThis.reachedFunctions || !testPath) return;
  const files = new Set([...globalThis.reachedFunctions].map(fileOf));
  const loading = [...globalThis.loadingFunctions!].filter((name) => files.has(fileOf(name)));
  mkdirSync(REACH, { recursive: true });
  const functions = new Set([...globalThis.reachedFunctions, ...loading]);
  writeFileSync(join(REACH, `${encodeURIComponent(testPath)}.json`), JSON.stringify([...functions]));
  // What is called until the next file begins is called while modules are loaded.
  globalThis.reachedFunctions.clear();
});
