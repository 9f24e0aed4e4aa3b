import { toTerminalLine } from '../shared/terminal-text.ts';

const MAX_LENGTH = 80;

/**
 * Returns the value of a setting as messages and logs quote it: what stands before the `@` of an address with a password, and what follows a
 * `?` or `#`, is left out. Values of settings that are secrets, and paths of files with secrets, which may be the secrets themselves, are not
 * quoted at all.
 */
export function quoteValue(text: string): string {
  // First the address: a password may contain the other two.
  const shown = text.replace(/^([a-z][a-z0-9+.-]*:\/\/)?.*[:/].*@/is, '$1…@').replace(/[?#].*$/s, '?…');
  return `"${toTerminalLine(shown.length > MAX_LENGTH ? `${shown.slice(0, MAX_LENGTH)}…` : shown)}"`;
}
