import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { EXIT_WITH_PARENT, STDIO_WITH_PARENT } from './exit-with-parent.ts';

/** Path of the built service. */
export const PROGRAM = join(import.meta.dirname, '..', '..', 'dist', 'src', 'server.js');
const READY = /Health +\S+\/health\/ready/;

export interface Run {
  process: ChildProcess;
  output: () => string;
  /** Exit code; null after a signal. */
  exit: Promise<number | null>;
  /** Resolves when no process can write to its output any more, the workers of an ended process included. */
  silence: Promise<unknown>;
  /** Resolves when the output contains the text. Rejects when the program ends before. */
  says: (text: RegExp) => Promise<RegExpExecArray>;
}

const runs: Run[] = [];

/** Starts the program with these settings and no others, as the leader of a process group as a terminal would. */
export function runProgram(settings: Record<string, string>, flags: string[] = []): Run {
  const env = { PATH: process.env.PATH!, LOG_LEVEL: 'warn', BANNER: '1', ...settings };
  const args = [...EXIT_WITH_PARENT, PROGRAM, ...flags];
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
  const silence = once(child, 'close');
  const says = (text: RegExp) =>
    new Promise<RegExpExecArray>((found, fail) => {
      const look = () => {
        const match = text.exec(output);
        if (match) found(match);
      };
      listeners.add(look);
      exit.then(() => fail(new Error(output)));
      look();
    });
  const run = { process: child, output: () => output, exit, silence, says };
  runs.push(run);
  return run;
}

/** Starts the program and waits until it is ready. */
export async function startProgram(settings: Record<string, string>, flags: string[] = []): Promise<Run> {
  const run = runProgram(settings, flags);
  await run.says(READY);
  return run;
}

/** Ends the programs that a test has started and not ended. */
export async function endPrograms(): Promise<void> {
  for (const { process, silence } of runs.splice(0)) {
    process.kill('SIGKILL');
    await silence;
  }
}
