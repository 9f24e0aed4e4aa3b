import { configDefaults, defineConfig } from 'vitest/config';
import config from './vitest.config.ts';

/** Runs the tests that `npm test` leaves out: they start whole programs, or cause faults, and take minutes. */
export default defineConfig({
  ...config,
  test: {
    ...config.test,
    include: ['test/**/*.proof.test.ts'],
    exclude: configDefaults.exclude,
    // Each file starts several processes that need the cores.
    maxWorkers: 2,
  },
});
