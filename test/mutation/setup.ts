import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, expect } from 'vitest';

/* Runs before each test file of a mutation run, in the worker of the tests. */

const REACH = process.env.MUTATION_REACH!;

declare global {
  var mutationWatchdog: Worker | undefined;
}

// Ends a worker whose mutant never gives way, which no timeout of a test can.
globalThis.mutationWatchdog ??= new Worker(
  `setTimeout(() => process.kill(process.pid, 'SIGKILL'), ${process.env.MUTATION_LIMIT_MS})`,
  { eval: true },
);
globalThis.mutationWatchdog.unref();

beforeAll(() => globalThis.reachedFunctions?.clear());

/** What the file has reached, where the sources record it. */
afterAll(() => {
  const { testPath } = expect.getState();
  if (!globalThis.reachedFunctions || !testPath) return;
  mkdirSync(REACH, { recursive: true });
  const name = `${encodeURIComponent(testPath)}.json`;
  writeFileSync(join(REACH, name), JSON.stringify([...globalThis.reachedFunctions]));
});
