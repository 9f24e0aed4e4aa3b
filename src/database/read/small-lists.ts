/** Maximum rows of a small list: reading all of them in their order takes less time than adding up totals by day. */
const MAX_ROWS = 500;

/** Milliseconds for which a list counts as small after it was found so. It may grow meanwhile, which costs time only. */
const VALIDITY_MS = 60_000;

/** Maximum lists to remember. */
const MAX_LISTS = 10_000;

/** Remembers which lists of a database are small, such as the timesheets of a project. */
export class SmallLists {
  readonly #now: () => number;
  /** End of validity by list, the earliest first. */
  readonly #expiries = new Map<string, number>();

  /** @param now Returns a monotonic time in milliseconds. */
  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /** Records the number of rows of a list. */
  record(list: string, rows: number): void {
    this.#expiries.delete(list);
    if (rows > MAX_ROWS) return;
    const [oldest] = this.#expiries.keys();
    if (this.#expiries.size === MAX_LISTS) this.#expiries.delete(oldest!);
    this.#expiries.set(list, this.#now() + VALIDITY_MS);
  }

  has(list: string): boolean {
    const expiry = this.#expiries.get(list);
    return expiry !== undefined && this.#now() < expiry;
  }
}
