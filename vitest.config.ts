import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { configDefaults, defineConfig } from 'vitest/config';

// For the workers and for the threads and programs that tests start, each of which would remove the types and compile anew. The functions of
// cached code are not measured precisely.
if (!process.argv.includes('--coverage'))
  process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('node_modules/.cache/compiled', import.meta.url));

export default defineConfig({
  resolve: {
    // Vite would take graphql's `module` build where Node takes `main`; two copies do not know each other's types.
    alias: [{ find: /^graphql$/, replacement: fileURLToPath(import.meta.resolve('graphql')) }],
  },
  test: {
    include: ['test/**/*.test.ts'],
    // Tests that start whole programs, cause faults or sweep over every operation take minutes: `npm run proof -- programs`.
    exclude: [...configDefaults.exclude, 'test/**/*.proof.test.ts'],
    // The service is loaded once per worker, not once per file: each file has databases and a service of its own all the same.
    isolate: false,
    // Tests wait for PostgreSQL and programs as much as they work. On two processors the fourth worker saves 12 of 218 seconds.
    maxWorkers: Math.min(4, availableParallelism() + 2),
    // Workers keep both processors busy; garbage collection in threads of its own took another 11 % of the suite's processor time.
    execArgv: ['--single-threaded-gc', '--max-semi-space-size=64'],
    // A loaded machine may cut a browser or a race short once; what fails twice is broken.
    retry: process.env.CI ? 1 : 0,
    globalSetup: ['test/setup/cluster.ts'],
    setupFiles: ['reflect-metadata'],
    // graphql-js leaves the promises of a list's other items without a handler when one item fails, as `test/graphql/execution.test.ts` makes them.
    onUnhandledError: ({ message }) => (/^\w+ of \d+ (throws|fails)$/.test(message) ? false : undefined),
    // A test without an assertion fails.
    // On a loaded machine, a state may be reached seconds later than usual.
    expect: { requireAssertions: true, poll: { timeout: 20_000 } },
    // These end tests that hang. With a load of 15 on two processors, tests that finish took up to 54 seconds.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // `npm run coverage`. Processes that tests start are not measured, only the code that runs in the test workers.
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts', 'resolvers/**/*.ts', 'schema/**/*.ts', 'entities/**/*.ts'],
      exclude: ['src/database/migrations/**', '**/*.d.ts'],
      reporter: ['text-summary', 'html', 'json-summary', 'lcovonly'],
      reportsDirectory: 'coverage',
    },
  },
});
