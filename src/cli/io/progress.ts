import cliProgress from 'cli-progress';
import { printText, toTerminalLine } from '../../shared/terminal-text.ts';
import type { CliIo } from './cli-io.ts';

/** Reports the progress of a long-running command. */
export interface ProgressReporter {
  /** Updates the bar of `name`; a new name starts a new bar. `total` is null when it is unknown. */
  update(name: string, done: number, total: number | null, note: string): void;
  /** Writes a permanent line above the bar. */
  log(line: string): void;
  stop(): void;
}

const FORMAT = '{name} [{bar}] {percentage}%  {note}';
const FORMAT_WITHOUT_TOTAL = '{name} {note}';

/** Creates a reporter that draws a bar on stderr if it is a terminal, and writes only the logged lines otherwise. */
export function createProgressReporter({ stderr }: Pick<CliIo, 'stderr'>): ProgressReporter {
  if (!stderr.isTTY) {
    return {
      update: () => undefined,
      log: (line) => printText(stderr, toTerminalLine(line)),
      stop: () => undefined,
    };
  }
  let current: { name: string; bar: InstanceType<typeof cliProgress.SingleBar> } | undefined;
  const stop = () => {
    current?.bar.stop();
    current = undefined;
  };
  return {
    update(name, done, total, note) {
      const payload = { name: toTerminalLine(name).padEnd(30), note: toTerminalLine(note) };
      if (current?.name === name) return current.bar.update(done, payload);
      stop();
      const format = total === null ? FORMAT_WITHOUT_TOTAL : FORMAT;
      const characters = { barCompleteChar: '=', barIncompleteChar: ' ' };
      const bar = new cliProgress.SingleBar({ format, stream: stderr, hideCursor: true, ...characters });
      current = { name, bar };
      bar.start(total ?? 0, done, payload);
    },
    // Overwrites the bar, which redraws itself on the next line.
    log: (line) => void stderr.write(`\r\u001b[K${toTerminalLine(line)}\n`),
    stop,
  };
}
