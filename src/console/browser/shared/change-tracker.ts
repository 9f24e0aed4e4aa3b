import type { ChangesQuery } from '../graphql/generated.ts';

/** Milliseconds after which every server of reads has a change: a standby is at most five seconds behind. */
export const SETTLE_MS = 6000;

/** Decides after each poll of the event log whether the pages read their records again. */
export class ChangeTracker {
  #cursor: string | null = null;
  #settlesAt = Number.POSITIVE_INFINITY;

  /** @param builderId of the records that are shown; undefined for all builders. */
  constructor(readonly builderId: string | undefined) {}

  /** Argument of the next poll; null for the first one. */
  get cursor(): string | null {
    return this.#cursor;
  }

  /**
   * Returns whether the pages read again: after a change, and once more when every standby has it. Also once after the first poll, because a
   * standby may not have had the changes shortly before it (CON-17).
   *
   * @param now milliseconds of a monotonic clock.
   */
  accept({ cursor, reset, builderIds }: ChangesQuery['changes'], now: number): boolean {
    const isFirst = this.#cursor === null;
    this.#cursor = cursor;
    const concerns = this.builderId === undefined ? builderIds.length > 0 : builderIds.includes(this.builderId);
    const changed = !isFirst && (reset || concerns);
    const settled = now > this.#settlesAt;
    if (isFirst || changed) this.#settlesAt = now + SETTLE_MS;
    else if (settled) this.#settlesAt = Number.POSITIVE_INFINITY;
    return changed || settled;
  }
}
