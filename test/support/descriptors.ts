import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';

/** Whether the machine has util-linux's `prlimit`, which changes the limits of a running process. */
export const canTakeDescriptors = spawnSync('prlimit', ['--version']).status === 0;

/** Lets a process, which may be this one, open no more file descriptors. Returns a function that restores the limit. */
export async function takeDescriptors(pid: number): Promise<() => Promise<void>> {
  // One program for both, because this process may be unable to start another. The limit is less than what is open.
  const commands = [
    `limit=$(prlimit --pid=${pid} --nofile --noheadings -o SOFT)`,
    `prlimit --pid=${pid} --nofile=3:`,
    'echo taken',
    'read restore',
    `prlimit --pid=${pid} --nofile=$((limit)):`,
  ];
  const program = spawn('sh', ['-ec', commands.join('\n')], { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(program.stdout, 'data');
  return async () => {
    const ended = once(program, 'exit');
    program.stdin.end('\n');
    await ended;
  };
}
