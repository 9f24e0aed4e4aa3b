import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../../src/shared/version.ts';

/** A fenced block of a page. */
export interface PrintedBlock {
  language: string;
  /** Name in the comment `<!-- NAME:begin -->` above the block; empty without one. */
  name: string;
  text: string;
}

/** Returns the fenced blocks of a page, such as `docs/tutorial.md`. */
export function readBlocks(page: string): PrintedBlock[] {
  const text = readFileSync(join(PACKAGE_ROOT, page), 'utf8');
  const blocks = text.matchAll(/(?:^<!-- ([\w:-]+):begin -->\n)?^( *)```(\w+)[^\n]*\n([\s\S]*?)^\2```$/gm);
  return [...blocks].map(([, name = '', , language, text]) => ({ language: language!, name, text: text! }));
}

/** Returns the text of a named block exactly as the page prints it. */
export function readBlock(page: string, name: string): string {
  const block = readBlocks(page).find((other) => other.name === name);
  if (!block) throw new Error(`${page} has no block below the comment <!-- ${name}:begin -->.`);
  return block.text;
}

/** Returns the JSON that the page prints after a named block: the response to its request. */
export function readResponse(page: string, name: string): unknown {
  const blocks = readBlocks(page);
  const response = blocks[blocks.findIndex((block) => block.name === name) + 1];
  if (response?.language !== 'json') throw new Error(`${page} prints no response after the block ${name}.`);
  return JSON.parse(response.text);
}
