import { printText, toTerminalLine } from '../../shared/terminal-text.ts';
import type { CliIo } from './cli-io.ts';

/** Reports the progress of a long-running command. */
export interface ProgressReporter {
  /** Updates the line of `name`; a new name starts a new line. `total` is null when it is unknown. */
  update(name: string, done: number, total: number | null, note: string): void;
  /** Writes a permanent line above that of the progress. */
  log(line: string): void;
  stop(): void;
}

/** Moves to the start of the line, and erases it. */
const CLEAR = '\r\u001b[K';

/** Creates a reporter that updates a line of stderr if it is a terminal, and writes only the logged lines otherwise. */
export function createProgressReporter({ stderr }: Pick<CliIo, 'stderr'>): ProgressReporter {
  if (!stderr.isTTY) {
    return {
      update: () => undefined,
      log: (line) => printText(stderr, toTerminalLine(line)),
      stop: () => undefined,
    };
  }
  let current: string | null = null;
  const stop = () => {
    if (current !== null) stderr.write('\n');
    current = null;
  };
  return {
    update(name, done, total, note) {
      if (name !== current) stop();
      current = name;
      const share = total ? `${Math.floor((100 * done) / total)}%`.padEnd(6) : '';
      stderr.write(`${CLEAR}${toTerminalLine(name).padEnd(30)} ${share}${toTerminalLine(note)}`);
    },
    log: (line) => void stderr.write(`${CLEAR}${toTerminalLine(line)}\n`),
    stop,
  };
}
