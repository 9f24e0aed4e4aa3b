import type { Database } from '../../database/database.ts';
import { findShare } from './rendition-claims.ts';

/** Seconds of decoding for which a share waits until all others with photos have had one rendered. */
const SECONDS_PER_ROUND = 1;

/** The order in which a job renders: one photo of each share in turn. A share whose photos take long is passed over for as many seconds. */
export class ShareCursor {
  /** Seconds by share that it used beyond its rounds. */
  readonly #debts = new Map<string, number>();
  /** The share whose photo was rendered last; the empty text in the beginning. */
  after = '';

  /** Moves to the next share that has a photo to render, and returns it; null for none. */
  async next(database: Database): Promise<string | null> {
    for (let passed: string | null = null; ; ) {
      const shareKey = await findShare(database, this.after);
      if (shareKey === null) {
        if (this.after === '') {
          this.#debts.clear();
          return null;
        }
        this.after = '';
        continue;
      }
      this.after = shareKey;
      // Every share was passed over where one comes a second time.
      if (!this.#debts.has(shareKey) || shareKey === passed) return shareKey;
      passed ??= shareKey;
      this.charge(shareKey, 0);
    }
  }

  /** Charges the share for a round in which it used the seconds. */
  charge(shareKey: string, seconds: number): void {
    const debt = (this.#debts.get(shareKey) ?? 0) + seconds - SECONDS_PER_ROUND;
    if (debt > 0) this.#debts.set(shareKey, debt);
    else this.#debts.delete(shareKey);
  }
}
