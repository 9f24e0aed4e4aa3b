import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { readStartTime } from '../../src/dev-postgres/process-identity.ts';

it('a program that a test starts ends when the test run is killed', async () => {
  const url = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
  const script = `
    import { spawn } from 'node:child_process';
    import { EXIT_WITH_PARENT, STDIO_WITH_PARENT } from ${url('../support/exit-with-parent.ts')};
    const stay = ['--eval', 'setInterval(() => {}, 1000); console.log(1)'];
    const child = spawn(process.execPath, [...EXIT_WITH_PARENT, ...stay], { stdio: STDIO_WITH_PARENT, detached: true });
    child.stdout.once('data', () => console.log(child.pid));`;
  const run = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let pid = 0;
  for await (const line of createInterface(run.stdout)) {
    pid = Number(line);
    break;
  }
  expect(await readStartTime(pid)).toBeDefined();
  run.kill('SIGKILL');
  await once(run, 'exit');
  await expect.poll(() => readStartTime(pid)).toBeUndefined();
});
