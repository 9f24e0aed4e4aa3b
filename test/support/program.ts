import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { EXIT_WITH_PARENT, STDIO_WITH_PARENT } from './exit-with-parent.ts';

/** Path of the built service. */
export const SERVER_PROGRAM = join(import.meta.dirname, '..', '..', 'dist', 'src', 'server.js');
const READY = /Health +\S+\/health\/ready/;

export interface ProgramRun {
  process: ChildProcess;
  output: () => string;
  /** Exit code; null after a signal. */
  exit: Promise<number | null>;
  /** Resolves when the output streams are closed: after the exit of the process and of its workers. */
  closed: Promise<unknown>;
  /** Resolves with the match when the output matches. Rejects when the process ends before. */
  waitForOutput: (text: RegExp) => Promise<RegExpExecArray>;
}

const runs: ProgramRun[] = [];

/** Starts the service with exactly these settings, as the leader of its own process group, as a terminal does. */
export function runProgram(settings: Record<string, string>): ProgramRun {
  const env = { PATH: process.env.PATH!, LOG_LEVEL: 'warn', BANNER: '1', ...settings };
  const args = [...EXIT_WITH_PARENT, SERVER_PROGRAM];
  const child = spawn(process.execPath, args, { env, detached: true, stdio: STDIO_WITH_PARENT });
  let output = '';
  const listeners = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output += chunk;
      for (const listener of listeners) listener();
    });
  }
  const exit = once(child, 'exit').then(([code]) => code as number | null);
  const closed = once(child, 'close');
  const waitForOutput = (text: RegExp) =>
    new Promise<RegExpExecArray>((found, fail) => {
      const look = () => {
        const match = text.exec(output);
        if (match) found(match);
      };
      listeners.add(look);
      exit.then(() => fail(new Error(output)));
      look();
    });
  const run = { process: child, output: () => output, exit, closed, waitForOutput };
  runs.push(run);
  return run;
}

/** Starts the program and waits until it is ready. */
export async function startProgram(settings: Record<string, string>): Promise<ProgramRun> {
  const run = runProgram(settings);
  await run.waitForOutput(READY);
  return run;
}

/** Ends the programs that a test has started and not ended. */
export async function endPrograms(): Promise<void> {
  for (const { process, closed } of runs.splice(0)) {
    process.kill('SIGKILL');
    await closed;
  }
}
