import type { Database } from '../../database/database.ts';
import { findShare } from './rendition-claims.ts';

/** Seconds of decoding that a share may use per round. */
const SECONDS_PER_ROUND = 1;

/**
 * The order in which a job renders: one photo of each share per round. A share that used more seconds than its round is skipped for as many
 * rounds as it used in addition.
 */
export class ShareCursor {
  /** Seconds that each share used in excess of its rounds. */
  readonly #debts = new Map<string, number>();
  /** The share whose photo was rendered last; '' at first. */
  after = '';

  /** Moves to the next share that has a photo to render, and returns it; null for none. */
  async next(database: Database): Promise<string | null> {
    for (let skipped: string | null = null; ; ) {
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
      // A share that was skipped in this call and is found again: every share has a debt.
      if (!this.#debts.has(shareKey) || shareKey === skipped) return shareKey;
      skipped ??= shareKey;
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
