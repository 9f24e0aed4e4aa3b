import { setTimeout } from 'node:timers/promises';

/** Approximate milliseconds of a slice. A request that others wait for takes up to fifty turns of the event loop, each after a slice. */
const SLICE_MS = 2;

/** Milliseconds between two slices, so that long work leaves a third of the event loop's time to other requests, in several turns. */
const PAUSE_MS = 1;

/** Divides long work into slices between which the event loop serves other requests. */
export class TimeSlice {
  #startedAt = performance.now();

  /** Whether the slice has ended: `if (slice.isOver) await slice.next();` */
  get isOver(): boolean {
    return performance.now() - this.#startedAt > SLICE_MS;
  }

  async next(): Promise<void> {
    await setTimeout(PAUSE_MS);
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
