import type { Readable, Writable } from 'node:stream';
import type { Clock } from '../../shared/clock.ts';

/** What a command has around it. Tests bring their own. */
export interface Shell {
  /** The settings; the process's own environment when absent. */
  env?: Record<string, string | undefined>;
  clock: Clock;
  stdin: Readable & { isTTY?: boolean; setRawMode?(raw: boolean): unknown };
  stdout: Writable;
  stderr: Writable & { isTTY?: boolean };
  /** Has `work` run before the process ends at Ctrl-C. Answers what takes that back. */
  onInterrupt?(work: () => Promise<void>): () => void;
}

/** What a command says when it has done its work. */
export interface Report {
  /** The one object that `--json` prints. */
  data: object;
  /** Lines for people. */
  text: string;
}

/** A heading and names with values under it, as people read them; what is null or empty is left out. */
export function listing(
  heading: string,
  values: Record<string, string | readonly string[] | null | undefined>,
): string {
  const lines = Object.entries(values)
    .map(([name, value]) => [name, typeof value === 'string' ? value : (value ?? []).join(' ')] as const)
    .filter(([, value]) => value !== '');
  const width = Math.max(0, ...lines.map(([name]) => name.length)) + 2;
  return [heading, ...lines.map(([name, value]) => `  ${name.padEnd(width)}${value}`)].join('\n');
}
