import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readBlock } from './printed-blocks.ts';

const run = promisify(execFile);
const PROGRAM = join(process.cwd(), 'dist/src/bin.cjs');

/** Runs the commands between the markers of docs/backup.md, with the values of their variables. Returns what they print. */
export async function runBackupCommands(name: string, env: Record<string, string>): Promise<string> {
  const program = `builder-api() { ${JSON.stringify(process.execPath)} ${JSON.stringify(PROGRAM)} "$@"; }\n`;
  const { stdout } = await run(
    'bash',
    ['-eu', '-o', 'pipefail', '-c', program + readBlock('docs/backup.md', `commands:${name}`)],
    {
      env: { PATH: process.env.PATH!, LC_ALL: 'C', ...env },
      maxBuffer: 64 * 1024 * 1024,
    },
  );
  return stdout;
}
