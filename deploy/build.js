/*
 * Builds the service, its documentation and the console into `dist`. Prints, on standard error, the duration of each step that changed something, so that
 * the output of a command that needs the build remains its own.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';

// The compiler is a program in Go, and each of its checkers checks much that the others check too.
process.env.GOGC ??= '400';
const compile = ['-b', '.', '--checkers', String(Math.min(4, availableParallelism()))];

const STEPS = [
  { name: 'service', program: 'node_modules/typescript/bin/tsc', args: compile, written: 'dist/.tsbuildinfo' },
  {
    name: 'guides',
    program: 'dist/src/http/documents/build/build-docs.js',
    args: [],
    written: 'dist/documentation/.fingerprint',
  },
  {
    name: 'console',
    program: 'dist/src/console/build/build-console.js',
    args: [],
    written: 'dist/console/.fingerprint',
  },
];

if (/[#?]/.test(process.cwd())) {
  console.error(`Vite cannot build in a folder with # or ? in its path: move ${process.cwd()}.`);
  process.exit(1);
}

const readTime = (file) => statSync(file, { throwIfNoEntry: false })?.mtimeMs;

if (!existsSync('dist')) console.error('Building, which takes up to a minute the first time.');
for (const { name, program, args, written } of STEPS) {
  const [startedAt, before] = [performance.now(), readTime(written)];
  const { status } = spawnSync(process.execPath, [program, ...args], { stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(status ?? 1);
  if (readTime(written) === before) continue;
  console.error(`  ${`build: ${name}`.padEnd(16)}${(performance.now() - startedAt).toFixed(0).padStart(6)} ms`);
}
