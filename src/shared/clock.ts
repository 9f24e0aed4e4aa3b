/** Source of the current time, which tests replace. */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
}

/** Milliseconds of a day in UTC. */
export const DAY_MS = 24 * 3_600_000;

export const systemClock: Clock = { now: () => Date.now() };
