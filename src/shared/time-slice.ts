import { setImmediate } from 'node:timers/promises';

/** Milliseconds of work in one piece, about. */
const SLICE_MS = 8;

/** Work that leaves the event loop to other requests between its pieces. */
export class TimeSlice {
  #startedAt = performance.now();

  /** Whether the work should pause: `if (slice.isOver) await slice.next();` */
  get isOver(): boolean {
    return performance.now() - this.#startedAt > SLICE_MS;
  }

  async next(): Promise<void> {
    await setImmediate();
    this.#startedAt = performance.now();
  }
}

/** The same values; the event loop is left to other requests between them when a piece of work is over. */
export async function* inSlices<Value>(values: Iterable<Value>): AsyncGenerator<Value> {
  const slice = new TimeSlice();
  for (const value of values) {
    if (slice.isOver) await slice.next();
    yield value;
  }
}
