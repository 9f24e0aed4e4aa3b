import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProofEnvironment } from './proof-environment.ts';

interface ProgramOptions {
  env?: Record<string, string>;
  /** Runs it as the user `postgres` where this process is root. */
  asPostgres?: boolean;
}

/** Starts a program of Debian, which ends with this process. Its output is that of the process, in `output`. */
export function startProgram(
  command: string,
  args: string[],
  { env = {}, asPostgres = false }: ProgramOptions = {},
): { child: ChildProcess; output: () => string } {
  const user = asPostgres && process.getuid!() === 0 ? ['--reuid=postgres', '--regid=postgres', '--init-groups'] : [];
  const child = spawn('setpriv', [...user, '--pdeathsig=KILL', command, ...args], {
    env: { PATH: process.env.PATH!, LC_ALL: 'C.UTF-8', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk) => {
      output = `${output}${chunk}`.slice(-20_000);
    });
  return { child, output: () => output };
}

/** Kills a program, and waits for its end. */
export async function killProgram(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

/** Returns the first program that is not installed, as a reason why a proof cannot run; null if all are. */
export function findMissingProgram(programs: readonly string[]): string | null {
  const missing = programs.find((program) => spawnSync('sh', ['-c', `command -v ${program}`]).status !== 0);
  return missing ? `${missing} is not installed` : null;
}

/** Starts HAProxy with a file of deploy/, and waits until it accepts connections on the ports. */
export async function startHaproxy(
  environment: ProofEnvironment,
  file: string,
  env: Record<string, string>,
  ports: readonly number[],
): Promise<void> {
  const { child, output } = startProgram('haproxy', ['-db', '-f', join('deploy', file)], { env });
  environment.onClose(() => killProgram(child));
  for (const port of ports) {
    while (!(await isAccepting(port))) {
      if (child.exitCode !== null) throw new Error(`HAProxy does not start: ${output()}`);
      await sleep(50);
    }
  }
}

async function isAccepting(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
