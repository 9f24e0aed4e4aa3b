import type { Writable } from 'node:stream';

/** Control characters but the line feed, characters that change the direction of text, and other line separators. */
const UNPRINTABLE = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

const escapeCharacter = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/**
 * Returns text of others as a terminal may print it: with escapes such as `\u001b` in place of characters that would move the cursor, change
 * settings of the terminal or reorder the line. The escapes are those of JSON, so that JSON stays the same value. Line feeds are kept.
 */
export const toTerminalText = (text: string): string =>
  text.replace(UNPRINTABLE, (character) => (character === '\n' ? character : escapeCharacter(character)));

/** Returns the text on one line, so that it cannot be taken for another line of the output. */
export const toTerminalLine = (text: string): string => text.replace(UNPRINTABLE, escapeCharacter);

/** Prints text that may contain texts of others, and a line feed. */
export const printText = (stream: Writable, text: string): void => void stream.write(`${toTerminalText(text)}\n`);
