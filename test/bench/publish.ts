import { writeFigures, writeRows } from '../support/figures.ts';
import type { Options } from './options.ts';

/** Prints a part's figures, as JSON where that was asked for, and writes the text into the page that `--write` names. */
export async function publish({ part, json, write, lists }: Options, figures: unknown, text: string): Promise<void> {
  process.stdout.write(json ? `${JSON.stringify(figures, null, 2)}\n` : text);
  if (write === undefined) return;
  if (lists) await writeRows(write, part, text, `requests to ${lists.join(' and ')}`);
  else await writeFigures(write, part, text);
}
