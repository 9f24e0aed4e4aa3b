import cliProgress from 'cli-progress';
import type { Shell } from './cli-io.ts';

/** Shows how far work that takes its time has come. */
export interface Progress {
  /** `total` is null where it is not known. A new name begins a new line. */
  show(name: string, done: number, total: number | null, note: string): void;
  /** Writes a line that stays. */
  say(line: string): void;
  end(): void;
}

const MEASURED = '{name} [{bar}] {percentage}%  {note}';
const UNMEASURED = '{name} {note}';

/** A bar on stderr where that is a terminal; else only lines that stay. */
export function startProgress({ stderr }: Pick<Shell, 'stderr'>): Progress {
  if (!stderr.isTTY) {
    return { show: () => undefined, say: (line) => void stderr.write(`${line}\n`), end: () => undefined };
  }
  let current: { name: string; bar: InstanceType<typeof cliProgress.SingleBar> } | undefined;
  const end = () => {
    current?.bar.stop();
    current = undefined;
  };
  return {
    show(name, done, total, note) {
      const payload = { name: name.padEnd(30), note };
      if (current?.name === name) return current.bar.update(done, payload);
      end();
      const format = total === null ? UNMEASURED : MEASURED;
      const characters = { barCompleteChar: '=', barIncompleteChar: ' ' };
      const bar = new cliProgress.SingleBar({ format, stream: stderr, hideCursor: true, ...characters });
      current = { name, bar };
      bar.start(total ?? 0, done, payload);
    },
    // The bar draws itself anew below.
    say: (line) => void stderr.write(`\r\u001b[K${line}\n`),
    end,
  };
}
