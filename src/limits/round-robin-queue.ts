/**
 * A queue that takes one item of each key in turn. Items of one key are taken in order of arrival. A key that adds many items
 * delays those of another key by at most one item.
 */
export class RoundRobinQueue<Item> {
  /** Items by key; the key whose turn it is comes first. */
  readonly #items = new Map<string, Item[]>();
  #size = 0;

  /** Items of all keys. */
  get size(): number {
    return this.#size;
  }

  /** Items of one key. */
  sizeOf(key: string): number {
    return this.#items.get(key)?.length ?? 0;
  }

  add(key: string, item: Item): void {
    const items = this.#items.get(key);
    if (items) items.push(item);
    else this.#items.set(key, [item]);
    this.#size++;
  }

  /** Removes and returns the newest item of the key with the most items; undefined where there is none. */
  takeFromLongest(): Item | undefined {
    let longest: [string, Item[]] | undefined;
    for (const entry of this.#items) if (!longest || entry[1].length > longest[1].length) longest = entry;
    if (!longest) return undefined;
    const [key, items] = longest;
    if (items.length === 1) this.#items.delete(key);
    this.#size--;
    return items.pop();
  }

  /** Removes and returns the next item; undefined where there is none. */
  take(): Item | undefined {
    for (const [key, items] of this.#items) {
      const item = items.shift();
      this.#items.delete(key);
      if (items.length > 0) this.#items.set(key, items);
      this.#size--;
      return item;
    }
    return undefined;
  }
}
