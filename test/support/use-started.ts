import { afterAll, beforeAll } from 'vitest';

/**
 * Starts something before the tests of the file that calls it, or of its `describe`, and stops it after them. Returns an object that has the
 * properties of what was started as soon as it is.
 */
export function useStarted<T extends object>(start: () => Promise<T>, stop: (started: T) => Promise<void>): T {
  const copy = {} as T;
  let started: T | undefined;
  beforeAll(async () => {
    started = await start();
    Object.assign(Object.setPrototypeOf(copy, Object.getPrototypeOf(started)), started);
  });
  afterAll(async () => {
    if (started) await stop(started);
  });
  return copy;
}
