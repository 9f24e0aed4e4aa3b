import { vi } from 'vitest';

/** Runs the work while the clock of the process is wrong by that many milliseconds. The clock of the database is right. */
export async function withWrongClock<T>(milliseconds: number, work: () => Promise<T>): Promise<T> {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + milliseconds });
  try {
    return await work();
  } finally {
    vi.useRealTimers();
  }
}
