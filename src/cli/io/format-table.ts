import { toTerminalLine } from '../../shared/terminal-text.ts';

/** Formats the properties of rows as columns of equal width, with a heading. Lists are separated by spaces. */
export function formatTable(rows: readonly object[], columns: readonly string[]): string {
  const cells = [columns, ...rows.map((row) => columns.map((name) => toText((row as Record<string, unknown>)[name])))];
  const widths = columns.map((_name, index) => Math.max(...cells.map((row) => row[index]!.length)));
  const pad = (cell: string, index: number) => cell.padEnd(widths[index]!);
  return cells.map((row) => row.map(pad).join('  ').trimEnd()).join('\n');
}

function toText(value: unknown): string {
  if (value === null || value === undefined) return '-';
  return toTerminalLine(Array.isArray(value) ? value.join(' ') || '-' : String(value));
}
