import { createInterface } from 'node:readline';
import { printText } from '../../shared/terminal-text.ts';
import { CliError } from '../cli-error.ts';
import type { CliIo } from './cli-io.ts';

/** Prints the steps and returns whether the operator answers yes. Throws `CliError` without a terminal. */
export async function confirm({ stdin, stderr }: CliIo, steps: readonly string[]): Promise<boolean> {
  if (!stdin.isTTY) throw CliError.forOption('--yes', 'is required without a terminal');
  printText(stderr, steps.join('\n'));
  const reader = createInterface({ input: stdin, output: stderr });
  // Ctrl-C and Ctrl-D close the reader without calling back.
  const closed = new Promise<string>((resolve) => reader.once('close', () => resolve('')));
  const answer = new Promise<string>((resolve) => reader.question('Continue? [y/N] ', resolve));
  try {
    return /^y(es)?$/i.test((await Promise.race([answer, closed])).trim());
  } finally {
    reader.close();
  }
}
