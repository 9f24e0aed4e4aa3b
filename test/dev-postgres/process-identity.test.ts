import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { readStartTime } from '../../src/dev-postgres/process-identity.ts';

const stateOf = async (pid: number) => (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /s, '')[0];

describe('readStartTime', () => {
  it('is the same for a process as long as it lives', async () => {
    const started = await readStartTime(process.pid);
    expect(started).toBeDefined();
    expect(await readStartTime(process.pid)).toBe(started);
  });

  it.each([0, -1, 1.5, Number.NaN, 2 ** 30])('is undefined for %s, which is no process', async (pid) => {
    expect(await readStartTime(pid)).toBeUndefined();
  });

  it.runIf(process.platform === 'linux')('is undefined for a zombie, which no parent has waited for', async () => {
    // `exec` replaces the parent by `sleep`, which never waits for the child of the shell.
    const parent = spawn('sh', ['-c', 'sleep 0.3 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
    const exited = once(parent, 'exit');
    try {
      const [line] = await once(createInterface(parent.stdout), 'line');
      const pid = Number(line);
      await expect.poll(() => stateOf(pid)).toBe('Z');
      expect(await readStartTime(pid)).toBeUndefined();
    } finally {
      parent.kill('SIGKILL');
      await exited;
    }
  });
});
