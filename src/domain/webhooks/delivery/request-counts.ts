/** Maximum concurrent requests for one integrator, so that its receivers do not take the sockets of others. */
const MAX_PER_INTEGRATOR = 64;

/** Concurrent requests of the process from which every endpoint makes one at a time. */
const CROWDED = 512;

/** Requests to receivers that a process is making, in all and by integrator. */
export class RequestCounts {
  readonly #byIntegrator = new Map<string, number>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  /** Returns how many requests an endpoint may make at a time; at least one, whatever the others do. */
  limit(integratorId: string, ownLimit: number, own: number): number {
    const others = (this.#byIntegrator.get(integratorId) ?? 0) - own;
    return this.#total >= CROWDED ? 1 : Math.max(1, Math.min(ownLimit, MAX_PER_INTEGRATOR - others));
  }

  /** Counts a request. Returns the function that ends it. */
  begin(integratorId: string): () => void {
    this.#add(integratorId, 1);
    return () => this.#add(integratorId, -1);
  }

  #add(integratorId: string, count: number): void {
    this.#total += count;
    const all = (this.#byIntegrator.get(integratorId) ?? 0) + count;
    if (all === 0) this.#byIntegrator.delete(integratorId);
    else this.#byIntegrator.set(integratorId, all);
  }
}
