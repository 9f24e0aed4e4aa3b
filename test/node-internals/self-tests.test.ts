import { expect, it } from 'vitest';
import { findMissingInternals } from '../../src/node-internals/self-tests.ts';

it('the self-tests at start find every undocumented interface in the version of Node that the project uses', async () => {
  expect(await findMissingInternals()).toEqual([]);
});
