import { setTimeout as sleep } from 'node:timers/promises';
import { countBy } from './statistics.ts';

/** A rate limit: requests per window. */
export interface Budget {
  requests: number;
  seconds: number;
}

/** Maximum attempts to send all requests in one window. */
const ATTEMPTS = 6;

/** Sends more requests than the budget allows in one of its windows. Returns their number by status. */
export async function sendBurst(
  { requests, seconds }: Budget,
  send: (number: number) => Promise<Response>,
): Promise<Record<string, number>> {
  const length = seconds * 1000;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    // Windows begin at multiples of their length.
    await sleep(length - (Date.now() % length) + 50);
    const begun = Date.now();
    const statuses: number[] = [];
    let next = 0;
    const work = async () => {
      while (next < requests * 1.3) {
        const response = await send(next++);
        await response.arrayBuffer();
        statuses.push(response.status);
      }
    };
    await Promise.all(Array.from({ length: 24 }, work));
    if (Date.now() - begun < length - 100) return countBy(statuses, (status) => status);
  }
  throw new Error(`${requests * 1.3} requests take longer than ${seconds} s.`);
}

/**
 * Returns the problems of the statuses. The budget must not be exceeded; each instance may reject up to a twentieth of it too
 * early.
 */
export function findBurstProblems(
  name: string,
  { requests }: Budget,
  statuses: Record<string, number>,
  instances: number,
): string[] {
  const { 429: rejected = 0, ...others } = statuses;
  const allowed = Object.values(others).reduce((sum, count) => sum + count, 0);
  const least = requests - instances * Math.ceil(requests / 20);
  const isRight = allowed <= requests && allowed >= least && rejected > 0;
  return isRight ? [] : [`${name}: ${JSON.stringify(statuses)}, allowed are ${least} to ${requests}`];
}
