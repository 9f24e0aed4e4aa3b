/**
 * Loaded before the service with `--import`. Moves the clock of the process by MOVED_CLOCK_MS milliseconds. At SIGUSR2 the offset is read
 * again, from the file whose path is in MOVED_CLOCK.
 */
import { readFileSync } from 'node:fs';

const SystemDate = Date;
let offset = Number(process.env.MOVED_CLOCK_MS ?? 0);

class MovedDate extends SystemDate {
  constructor(...args: unknown[]) {
    super(...((args.length === 0 ? [MovedDate.now()] : args) as [number]));
  }

  static override now(): number {
    return SystemDate.now() + offset;
  }
}

globalThis.Date = MovedDate as DateConstructor;
process.on('SIGUSR2', () => {
  offset = Number(readFileSync(process.env.MOVED_CLOCK!, 'utf8'));
});
