import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const PROOF = join(import.meta.dirname, '../../dist/test/proof/run.js');

it('runs no more of our files and functions for a request than the limits of test/proof/request-path.ts', () => {
  const { status, stderr } = spawnSync(process.execPath, [PROOF, 'request-path'], { encoding: 'utf8' });
  expect(status, stderr).toBe(0);
}, 300_000);
