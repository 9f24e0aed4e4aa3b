import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = process.cwd();
const PAGE = join(ROOT, 'docs/backup.md');
const PROGRAM = join(ROOT, 'dist/src/bin.cjs');

/** Runs the commands between the markers of docs/backup.md, with the values of their variables. Returns what they print. */
export async function runBackupCommands(name: string, env: Record<string, string>): Promise<string> {
  const page = await readFile(PAGE, 'utf8');
  const [begin, end] = [`<!-- commands:${name}:begin -->\n\`\`\`sh\n`, `\`\`\`\n<!-- commands:${name}:end -->`];
  const commands = page.split(begin)[1]?.split(end)[0];
  if (commands === undefined) throw new Error(`${PAGE} has no commands between the markers commands:${name}.`);
  const program = `builder-api() { ${JSON.stringify(process.execPath)} ${JSON.stringify(PROGRAM)} "$@"; }\n`;
  const { stdout } = await run('bash', ['-eu', '-o', 'pipefail', '-c', program + commands], {
    env: { PATH: process.env.PATH!, LC_ALL: 'C', ...env },
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout;
}
