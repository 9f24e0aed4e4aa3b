import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { PACKAGE_ROOT } from '../../src/shared/version.ts';
import { readBlock } from './printed-blocks.ts';

export const ROOT = PACKAGE_ROOT;

/** A file that a section of CONTRIBUTING.md adds, or lines that it adds to an existing file. */
export interface FileEdit {
  file: string;
  /** `ts` for a whole new file, `diff` for lines added to an existing one. */
  kind: 'ts' | 'diff';
  text: string;
  addedLines: number;
}

/** File edits and shell commands of a section of CONTRIBUTING.md. */
export interface Guide {
  edits: FileEdit[];
  commands: string[];
}

/** Reads the section below a heading of CONTRIBUTING.md: its blocks with a `file`, and the commands between the markers of that name. */
export function readGuide(heading: string, commands: string): Guide {
  const page = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8');
  const section = page.split(/^(?=#{2,} )/m).find((part) => part.startsWith(`${heading}\n`));
  if (!section) throw new Error(`CONTRIBUTING.md has no heading "${heading}".`);
  const edits = [...section.matchAll(/^```(ts|diff) file=(\S+)\n([\s\S]*?)^```$/gm)].map(([, kind, file, text]) => {
    const added =
      kind === 'ts' ? text!.trimEnd().split('\n') : text!.split('\n').filter((line) => line.startsWith('+'));
    return { kind: kind as FileEdit['kind'], file: file!, text: text!, addedLines: added.length };
  });
  const block = readBlock('CONTRIBUTING.md', `commands:${commands}`);
  return { edits, commands: block.trim().split('\n') };
}

/** Writes the edit below `root`. Throws when the lines that a `diff` block names are not in the file exactly once. */
export function applyEdit(root: string, { file, kind, text }: FileEdit): void {
  const path = join(root, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, kind === 'ts' ? text : applyDiff(file, readFileSync(path, 'utf8'), text));
}

/** Returns the text with the lines of a `diff` block added; `@@` separates places. */
function applyDiff(file: string, original: string, diff: string): string {
  return diff.split(/^@@\n/m).reduce((text, hunk) => {
    const lines = hunk.trimEnd().split('\n');
    const before = `\n${lines
      .filter((line) => line[0] !== '+')
      .map((line) => `${line.slice(1)}\n`)
      .join('')}`;
    const after = `\n${lines.map((line) => `${line.slice(1)}\n`).join('')}`;
    const places = `\n${text}`.split(before);
    if (places.length !== 2) {
      const problem = places.length === 1 ? 'does not have' : 'has more than once';
      throw new Error(`CONTRIBUTING.md names lines that ${file} ${problem}:${before}`);
    }
    return places.join(after).slice(1);
  }, original);
}

/** Copies the tracked and the untracked, not ignored files to a new folder and links `node_modules`. Returns the folder. */
export function copyCheckout(): string {
  const folder = mkdtempSync(join(tmpdir(), 'add-resource-'));
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT });
  const present = execFileSync('git', ['ls-files', '-z', '--deleted'], { cwd: ROOT }).toString().split('\0');
  for (const file of listed
    .toString()
    .split('\0')
    .filter((name) => name && !present.includes(name))) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(ROOT, file), join(folder, file));
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

/** Runs a shell command in the folder. Returns its exit code and everything that it printed. */
export function runCommand(folder: string, command: string): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve) => {
    const child = spawn('bash', ['-c', command], { cwd: folder, env: { ...process.env, NO_COLOR: '1' } });
    let output = '';
    const append = (chunk: Buffer) => {
      output += chunk.toString();
    };
    child.stdout.on('data', append);
    child.stderr.on('data', append);
    child.on('close', (code) => resolve({ code, output }));
  });
}
