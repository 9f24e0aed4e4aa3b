import { writeFigures, writeRows } from '../support/figures.ts';
import type { BenchOptions } from './bench-options.ts';

/** Prints the figures of a part, as JSON with `--json`, and writes the text into the page of `--write`. */
export async function publishFigures(
  { part, json, write, lists }: BenchOptions,
  figures: unknown,
  text: string,
): Promise<void> {
  process.stdout.write(json ? `${JSON.stringify(figures, null, 2)}\n` : text);
  if (write === undefined) return;
  if (lists) await writeRows(write, part, text, `requests to ${lists.join(' and ')}`);
  else await writeFigures(write, part, text);
}
