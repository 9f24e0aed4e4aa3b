import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { toMarkdownTable } from '../bench/markdown-table.ts';

const beginOf = (name: string) => `<!-- ${name}:begin -->`;
const endOf = (name: string) => `<!-- ${name}:end -->`;

/** Throws unless the file has the two markers of the name in order. Call it before a measurement that takes minutes. */
export async function requireMarkers(path: string, name: string): Promise<void> {
  positionsOf(await readFile(path, 'utf8'), path, name);
}

/**
 * Replaces the text between a page's two markers of that name by figures, after a line with the day, the machine and the revision.
 *
 * @param note a further sentence for that line, such as the length of the measurement.
 */
export async function writeFigures(path: string, name: string, figures: string, note = ''): Promise<void> {
  await changeFigures(
    path,
    name,
    () => `${[describeMeasurement(), note].filter(Boolean).join(' ')}\n\n${figures.trim()}`,
  );
}

/** Replaces the text between a page's two markers of that name. */
async function changeFigures(path: string, name: string, change: (section: string) => string): Promise<void> {
  const text = await readFile(path, 'utf8');
  const { begin, end } = positionsOf(text, path, name);
  const section = change(text.slice(begin, end).trim()).trim();
  await writeFile(path, `${text.slice(0, begin)}\n${section}\n${text.slice(end)}`);
}

/**
 * Replaces rows of the table between a page's two markers of that name by those of another with the same first cell.
 *
 * @param what names what was measured again.
 */
export async function writeRows(path: string, name: string, measured: string, what: string): Promise<void> {
  await changeFigures(path, name, (section) => {
    const [head, table, tail] = splitAtTable(section);
    const again = `${describeMeasurement('Measured again').slice(0, -1)}: ${what}.`;
    return `${head} ${again}\n\n${replaceRows(table, splitAtTable(measured)[1])}\n\n${tail}`;
  });
}

function splitAtTable(text: string): [head: string, table: string, tail: string] {
  const lines = text.split('\n');
  const [first, last] = [
    lines.findIndex((line) => line.startsWith('|')),
    lines.findLastIndex((line) => line.startsWith('|')),
  ];
  const parts = [lines.slice(0, first), lines.slice(first, last + 1), lines.slice(last + 1)];
  return parts.map((part) => part.join('\n').trim()) as [string, string, string];
}

/** Returns a Markdown table with the rows of another one, which replace those with the same first cell, or follow at the end. */
function replaceRows(table: string, measured: string): string {
  const [header, , ...rows] = parseRows(table);
  const [, , ...replacements] = parseRows(measured);
  const replaced = rows.map((row) => replacements.find(([name]) => name === row[0]) ?? row);
  const added = replacements.filter(([name]) => !rows.some((row) => row[0] === name));
  return toMarkdownTable(header!, [...replaced, ...added]);
}

const parseRows = (table: string): string[][] =>
  table.split('\n').map((line) =>
    line
      .trim()
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim()),
  );

function positionsOf(text: string, path: string, name: string): { begin: number; end: number } {
  const [begin, end] = [text.indexOf(beginOf(name)), text.indexOf(endOf(name))];
  if (begin < 0 || end < begin) throw new Error(`${path} needs the lines ${beginOf(name)} and ${endOf(name)}.`);
  return { begin: begin + beginOf(name).length, end };
}

/** Returns a sentence with the day, the machine and the revision. */
function describeMeasurement(verb = 'Measured'): string {
  const day = new Date().toISOString().slice(0, 10);
  const machine = `${cpus().length} processors (${cpus()[0]?.model.trim()}), Node ${process.versions.node}`;
  return `${verb} on ${day} on ${machine}${describeRevision()}.`;
}

/** Empty where the sources are not a git checkout. */
function describeRevision(): string {
  try {
    const revision = execFileSync('git', ['describe', '--always', '--dirty'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return `, at revision ${revision.trim()}`;
  } catch {
    return '';
  }
}
