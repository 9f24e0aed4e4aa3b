import { createInterface } from 'node:readline';
import { refuse } from '../cli-error.ts';
import type { Shell } from './cli-io.ts';

/** Shows what is about to be done and asks whether to do it; anything but yes is no. Refuses where there is no terminal. */
export async function askToConfirm({ stdin, stderr }: Shell, steps: readonly string[]): Promise<boolean> {
  if (!stdin.isTTY) refuse('--yes', 'is required where nobody can be asked');
  stderr.write(`${steps.join('\n')}\n`);
  const reader = createInterface({ input: stdin, output: stderr });
  // Ctrl-C and Ctrl-D close the reader without an answer.
  const closed = new Promise<string>((resolve) => reader.once('close', () => resolve('')));
  const answer = new Promise<string>((resolve) => reader.question('Go on? [y/N] ', resolve));
  try {
    return /^y(es)?$/i.test((await Promise.race([answer, closed])).trim());
  } finally {
    reader.close();
  }
}
