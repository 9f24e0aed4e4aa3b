/**
 * Loaded before the service (`--import`), it moves the clock of the process by MOVED_CLOCK_MS milliseconds, and at SIGUSR2 to as many
 * milliseconds from the true time as the file says that MOVED_CLOCK names.
 */
import { readFileSync } from 'node:fs';

const True = Date;
let offset = Number(process.env.MOVED_CLOCK_MS ?? 0);

class MovedDate extends True {
  constructor(...given: unknown[]) {
    super(...((given.length === 0 ? [MovedDate.now()] : given) as [number]));
  }

  static override now(): number {
    return True.now() + offset;
  }
}

globalThis.Date = MovedDate as DateConstructor;
process.on('SIGUSR2', () => {
  offset = Number(readFileSync(process.env.MOVED_CLOCK!, 'utf8'));
});
