import type { LeasedEndpoint } from './leases.ts';
import { type DeliveryRow, PENDING_PAGE, type VisibleEvents } from './results.ts';

/** Statements for the pending deliveries of an endpoint that are stored after a number of the log. */
export interface PendingDeliveries {
  /** Returns the first ones. */
  readPending(endpointId: string, after: number): Promise<DeliveryRow[]>;
  /** Drops the invisible ones of the first. Returns the number after which the next ones begin; null when there are none. */
  dropPending(endpoint: LeasedEndpoint, after: number, visible: VisibleEvents): Promise<number | null>;
}

/** The pending deliveries of an endpoint that are stored and not loaded. Its methods are called one after the other. */
export class UnloadedDeliveries {
  readonly #pending: PendingDeliveries;
  /** Number of the log after which they begin; null when all are loaded. */
  #loadedNumber: number | null;
  /** What the endpoint could see when the others were dropped; null before. */
  #droppedFor: string | null = null;

  /** @param loaded The first pending deliveries of the endpoint. */
  constructor(pending: PendingDeliveries, loaded: readonly DeliveryRow[]) {
    this.#pending = pending;
    this.#loadedNumber = getLoadedNumber(loaded);
  }

  /** Whether all are loaded. */
  get isEmpty(): boolean {
    return this.#loadedNumber === null;
  }

  /** Loads the next ones. */
  async load(endpointId: string): Promise<DeliveryRow[]> {
    const rows = await this.#pending.readPending(endpointId, this.#loadedNumber!);
    this.#loadedNumber = getLoadedNumber(rows);
    return rows;
  }

  /** Drops those that are not visible, once for what the endpoint may see (WHK-7). The next call repeats one that failed. */
  async dropInvisible(endpoint: LeasedEndpoint, visible: VisibleEvents): Promise<void> {
    const key = JSON.stringify(visible);
    if (key === this.#droppedFor) return;
    for (let after = this.#loadedNumber; after !== null; ) {
      after = await this.#pending.dropPending(endpoint, after, visible);
    }
    this.#droppedFor = key;
  }
}

const getLoadedNumber = (page: readonly DeliveryRow[]): number | null =>
  page.length < PENDING_PAGE ? null : page.at(-1)!.number;
