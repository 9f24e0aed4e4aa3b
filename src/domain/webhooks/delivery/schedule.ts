const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Delays after the first, second, … failed attempt of a delivery; the last repeats (WHK-11). */
export const RETRY_DELAYS_MS: readonly number[] = [
  5 * SECOND,
  30 * SECOND,
  2 * MINUTE,
  5 * MINUTE,
  15 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  4 * HOUR,
  8 * HOUR,
];

/** Time after the first attempt at which a delivery is given up (WHK-11). */
const GIVE_UP_MS = 72 * HOUR;

/** Time since the first failure without a success after it, at which an endpoint is disabled (WHK-11). */
export const DISABLE_AFTER_MS = 5 * 24 * HOUR;

/** Failed attempts in a row after which an endpoint is suspended, so that a receiver that is down is not sent every event. */
export const SUSPEND_AFTER = 10;

/** The first suspension, and the longest: each failed attempt after it doubles it. */
export const MIN_SUSPENSION_MS = 15 * SECOND;
export const MAX_SUSPENSION_MS = HOUR;

/** Share of a delay that is random, so that the retries of many deliveries do not come at once. */
const JITTER = 0.2;

/** Returns when a delivery is attempted again; null when it is given up. */
export function nextAttemptAt(
  { attempts, firstAttemptAt }: { attempts: number; firstAttemptAt: number },
  now: number,
): number | null {
  if (now - firstAttemptAt >= GIVE_UP_MS) return null;
  const delay = RETRY_DELAYS_MS[Math.min(attempts, RETRY_DELAYS_MS.length) - 1]!;
  // The last attempt is at the end of the three days.
  return Math.min(now + delay * (1 + JITTER * Math.random()), firstAttemptAt + GIVE_UP_MS);
}
