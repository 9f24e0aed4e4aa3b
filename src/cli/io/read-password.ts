import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { refuse } from '../cli-error.ts';
import type { Shell } from './cli-io.ts';

/** The password that the operator gives: through a pipe, or typed twice and not shown. */
export async function readPassword(shell: Shell, { passwordStdin }: { passwordStdin?: boolean }): Promise<string> {
  if (passwordStdin) return (await text(shell.stdin)).replace(/\r?\n$/, '');
  if (!shell.stdin.isTTY) refuse('password', 'is needed: use --password-stdin or --generate-password');
  const [first, second] = await askTwice(shell);
  return first === second ? first : refuse('password', 'was not typed the same way twice');
}

async function askTwice({ stdin, stderr }: Shell): Promise<[string, string]> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: stdin, output: nowhere, terminal: true, historySize: 0 });
  const closed = new Promise<never>((_, reject) => reader.once('close', () => reject(new Error('closed'))));
  const ask = async (question: string) => {
    stderr.write(question);
    const answer = new Promise<string>((resolve) => reader.question('', resolve));
    // Ctrl-C and Ctrl-D close the reader.
    return Promise.race([answer, closed]).finally(() => stderr.write('\n'));
  };
  try {
    return [await ask('Password: '), await ask('Again: ')];
  } catch {
    return refuse('password', 'was not given');
  } finally {
    closed.catch(() => undefined);
    reader.close();
  }
}
