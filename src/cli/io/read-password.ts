import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { toTerminalText } from '../../shared/terminal-text.ts';
import { CliError } from '../cli-error.ts';
import type { CliIo } from './cli-io.ts';

/** Reads a password from stdin, or prompts for it twice without echo. Throws `CliError` if there is none. */
export async function readPassword(io: CliIo, { passwordStdin }: { passwordStdin?: boolean }): Promise<string> {
  if (passwordStdin) return (await text(io.stdin)).replace(/\r?\n$/, '');
  if (!io.stdin.isTTY) throw CliError.forOption('password', 'is required: use --password-stdin or --generate-password');
  const [first, second] = await promptTwice(io);
  if (first !== second) throw CliError.forOption('password', 'does not match the first entry');
  return first;
}

async function promptTwice({ stdin, stderr }: CliIo): Promise<[string, string]> {
  const discarded = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: stdin, output: discarded, terminal: true, historySize: 0 });
  const closed = new Promise<never>((_, reject) => reader.once('close', () => reject(new Error('closed'))));
  const prompt = async (label: string) => {
    stderr.write(toTerminalText(label));
    const answer = new Promise<string>((resolve) => reader.question('', resolve));
    // Ctrl-C and Ctrl-D close the reader.
    return Promise.race([answer, closed]).finally(() => stderr.write('\n'));
  };
  try {
    return [await prompt('Password: '), await prompt('Again: ')];
  } catch {
    throw CliError.forOption('password', 'was not entered');
  } finally {
    closed.catch(() => undefined);
    reader.close();
  }
}
