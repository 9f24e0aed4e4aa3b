import { PacedQueue } from '../../../shared/paced-queue.ts';

interface CountLimits {
  /** Maximum of one integrator, so that it takes nothing that others need. */
  perIntegrator: number;
  /** Count of all integrators from which every endpoint has only the least. */
  crowded: number;
  /** What every endpoint may have, whatever the others have. */
  least: number;
}

/** Requests to receivers that a process is making. */
export const REQUEST_LIMITS: CountLimits = { perIntegrator: 64, crowded: 512, least: 1 };

/** Unfinished deliveries in the memory of a process, of up to 2 KiB each: receivers may reject some events for days (WHK-13). */
export const UNFINISHED_LIMITS: CountLimits = { perIntegrator: 20_000, crowded: 50_000, least: 1_000 };

/** Counts something of the endpoints of a process, in all and by integrator, and limits it. */
export class IntegratorCounts {
  readonly #limits: CountLimits;
  readonly #byIntegrator = new Map<string, number>();
  #total = 0;

  constructor(limits: CountLimits) {
    this.#limits = limits;
  }

  get total(): number {
    return this.#total;
  }

  /**
   * Returns how many an endpoint may have.
   *
   * @param own What it has of the count.
   */
  limit(integratorId: string, own: number): number {
    const { perIntegrator, crowded, least } = this.#limits;
    const others = (this.#byIntegrator.get(integratorId) ?? 0) - own;
    return this.#total >= crowded ? least : Math.max(least, perIntegrator - others);
  }

  add(integratorId: string, count: number): void {
    this.#total += count;
    const all = (this.#byIntegrator.get(integratorId) ?? 0) + count;
    if (all === 0) this.#byIntegrator.delete(integratorId);
    else this.#byIntegrator.set(integratorId, all);
  }

  clear(): void {
    this.#byIntegrator.clear();
    this.#total = 0;
  }
}

/** Of the process, because the deliveries of all regions share its event loop. An attempt takes about a millisecond of it. */
const attempts = new PacedQueue<() => void>(1, (begin) => {
  begin();
  return true;
});

/** Resolves when an attempt of the integrator may begin: one in each turn of the event loop, of each integrator in turn (WHK-13). */
export function paceAttempt(integratorId: string): Promise<void> {
  return new Promise((begin) => {
    if (!attempts.tryBegin(begin)) attempts.add(integratorId, begin);
  });
}
