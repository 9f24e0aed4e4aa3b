import { RoundRobinQueue } from './round-robin-queue.ts';

/**
 * A queue that begins a few items in each turn of the event loop, one of each key in turn. So a turn stays short however many items arrive
 * together, and nothing else waits for all of them.
 */
export class PacedQueue<Item> extends RoundRobinQueue<Item> {
  readonly #perTurn: number;
  readonly #begin: (item: Item) => boolean;
  #begun = 0;
  #isScheduled = false;

  /** @param begin Returns whether the item took time of the turn: false for one that nobody needs any more. */
  constructor(perTurn: number, begin: (item: Item) => boolean) {
    super();
    this.#perTurn = perTurn;
    this.#begin = begin;
  }

  /** Begins the item at once and returns true, or returns false where it would have to wait. */
  tryBegin(item: Item): boolean {
    if (this.#begun >= this.#perTurn || this.size > 0) return false;
    if (this.#begin(item)) this.#begun++;
    this.#schedule();
    return true;
  }

  /** Begins the item in a later turn. */
  override add(key: string, item: Item): void {
    super.add(key, item);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#beginTurn());
  }

  #beginTurn(): void {
    this.#isScheduled = false;
    this.#begun = 0;
    while (this.#begun < this.#perTurn && this.size > 0) {
      if (this.#begin(this.take()!)) this.#begun++;
    }
    if (this.#begun > 0) this.#schedule();
  }
}
