import type { Readable, Writable } from 'node:stream';
import type { Clock } from '../../shared/clock.ts';
import { toTerminalLine } from '../../shared/terminal-text.ts';

/** Environment, clock and streams of a command. */
export interface CliIo {
  /** Default: the environment of the process. */
  env?: Record<string, string | undefined>;
  clock: Clock;
  /** Whether the installed program `builder-api` runs, and not `npm run cli` of a checkout. */
  installed?: boolean;
  stdin: Readable & { isTTY?: boolean };
  stdout: Writable;
  stderr: Writable & { isTTY?: boolean };
  /** Registers `work` to run when the command is interrupted (Ctrl-C). Returns the function that unregisters it. */
  onInterrupt?(work: () => Promise<void>): () => void;
}

/** Output of a successful command, printed without control characters. Texts of others are on one line: see `toTerminalLine`. */
export interface CommandResult {
  /** Printed with `--json`. */
  data: object;
  /** Printed otherwise. */
  text: string;
}

/** Formats a heading and one indented line per property. Null and empty values are omitted, lists of texts joined; other values are JSON. */
export function formatFields(heading: string, values: object): string {
  const lines = Object.entries(values)
    .map(([name, value]) => [name, toTerminalLine(toText(value))] as const)
    .filter(([, text]) => text !== '');
  const width = Math.max(0, ...lines.map(([name]) => name.length)) + 2;
  return [toTerminalLine(heading), ...lines.map(([name, text]) => `  ${name.padEnd(width)}${text}`)].join('\n');
}

function toText(value: unknown): string {
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value.join(' ');
  return typeof value === 'string' ? value : value == null ? '' : JSON.stringify(value);
}
