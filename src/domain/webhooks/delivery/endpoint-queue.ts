import { newId } from '../../../shared/ids.ts';
import type { LoggedEvent, LogPosition } from '../../events/event-log.ts';
import type { Attempt } from '../receiver-client.ts';
import type { DeliveryRow } from './results.ts';
import { nextAttemptAt } from './schedule.ts';

/** A delivery of an event that is not finished. */
export interface QueuedDelivery {
  row: DeliveryRow;
  /** Earliest time of the next attempt. */
  dueAt: number;
  /** Whether its row has to be stored. */
  isChanged: boolean;
}

/** Events of the log that were read together with the position after them. */
interface ReadBatch {
  position: LogPosition;
  /** Events up to the position that are neither stored nor finished. */
  unsettled: Set<string>;
}

/**
 * The deliveries of one endpoint that are not finished: retries, which are stored, and events that were read and not attempted yet. The
 * deliveries of one record are attempted one after the other, in the order of the log (WHK-13).
 */
export class EndpointQueue {
  readonly #byRecord = new Map<string, QueuedDelivery[]>();
  readonly #eventIds = new Set<string>();
  /** Numbers of stored deliveries that the log is still read up to, by event id, in their order. They may be finished meanwhile. */
  readonly #storedNumbers = new Map<string, number>();
  readonly #batches: ReadBatch[] = [];
  /** Results whose rows are to be stored. */
  #changed: QueuedDelivery[] = [];
  /** First deliveries of their records that may be attempted. */
  readonly #ready = new Set<QueuedDelivery>();
  /** First deliveries of their records that wait for a retry, and the earliest time at which one is due. */
  readonly #waiting = new Set<QueuedDelivery>();
  #nextDueAt = Number.POSITIVE_INFINITY;
  #unsettledCount = 0;

  get size(): number {
    return this.#eventIds.size;
  }

  /**
   * Adds stored deliveries, in the order of the log. They are attempted before all events that are read later.
   *
   * @param readNumber Number up to which the log was read. Deliveries of later events are not created again when these are read.
   */
  addStored(pending: readonly DeliveryRow[], readNumber: number): void {
    for (const row of pending) {
      if (row.number > readNumber) this.#storedNumbers.set(row.event_id, row.number);
      this.#append({ row, dueAt: Date.parse(row.next_attempt_at ?? row.created_at), isChanged: false });
    }
  }

  /** Number of deliveries that were read and neither stored nor finished. */
  get unsettledCount(): number {
    return this.#unsettledCount;
  }

  /** Time at which the oldest unfinished delivery began, in milliseconds since the Unix epoch; null when there is none. */
  get oldestStart(): number | null {
    const [first] = this.#byRecord.values();
    return first ? Date.parse(first[0]!.row.created_at) : null;
  }

  /** Adds events that were read up to the position. */
  addRead(endpointId: string, events: readonly LoggedEvent[], position: LogPosition, now: number): void {
    const unsettled = new Set<string>();
    // In the order of the log, so that the list of deliveries has the newest first (WHK-12).
    const ids = events
      .map(() => newId('webhookDelivery', now))
      .sort()
      .reverse();
    for (const event of events) {
      if (this.#eventIds.has(event.id) || this.#storedNumbers.has(event.id)) continue;
      const delivery = { row: createRow(ids.pop()!, endpointId, event, now), dueAt: now, isChanged: false };
      const before = this.#byRecord.get(event.recordId)?.[0];
      this.#append(delivery);
      // A delivery behind a retry may wait for days: it is stored, so that the position can pass it.
      if (before && before.row.attempts > 0) this.#markChanged(delivery);
      else unsettled.add(event.id);
    }
    for (const [eventId, number] of this.#storedNumbers) {
      if (number > position.number) break;
      this.#storedNumbers.delete(eventId);
    }
    this.#unsettledCount += unsettled.size;
    this.#batches.push({ position, unsettled });
  }

  /** Takes the next delivery that is due; null when there is none. It is then attempted, and `finish` or `retry` ends the attempt. */
  take(now: number): QueuedDelivery | null {
    if (now >= this.#nextDueAt) this.#readyWaiting(now);
    const [delivery] = this.#ready;
    if (!delivery) return null;
    this.#ready.delete(delivery);
    return delivery;
  }

  /** Ends a delivery with its result. */
  finish(delivery: QueuedDelivery, status: 'DELIVERED' | 'FAILED' | 'DROPPED'): void {
    Object.assign(delivery.row, { status, next_attempt_at: null });
    this.#remove(delivery);
    this.#markChanged(delivery);
    this.#settle(delivery);
  }

  /** Postpones a delivery after a failed attempt; after three days it is `FAILED`. Returns whether it is. */
  retry(delivery: QueuedDelivery, now: number): boolean {
    const { row } = delivery;
    const dueAt = nextAttemptAt({ attempts: row.attempts, firstAttemptAt: Date.parse(row.first_attempt_at!) }, now);
    if (dueAt === null) {
      this.finish(delivery, 'FAILED');
      return true;
    }
    delivery.dueAt = dueAt;
    row.next_attempt_at = toIso(dueAt);
    this.#addWaiting(delivery);
    // The deliveries behind it wait as long, so they are stored with it.
    for (const each of this.#byRecord.get(row.record_id)!) {
      this.#markChanged(each);
      this.#settle(each);
    }
    return false;
  }

  /** Returns a taken delivery to the queue without an attempt. */
  putBack(delivery: QueuedDelivery): void {
    this.#ready.add(delivery);
  }

  /** Drops the deliveries that do not pass, but for those that are being attempted. */
  dropUnless(isVisible: (row: DeliveryRow) => boolean): void {
    // The waiting ones come last: a drop makes the next delivery of the record a waiting one.
    for (const deliveries of [this.#ready, this.#waiting]) {
      for (const delivery of deliveries) {
        if (isVisible(delivery.row)) continue;
        deliveries.delete(delivery);
        this.finish(delivery, 'DROPPED');
      }
    }
  }

  /** Takes the rows to store, and the position that is reached when they are stored; null for no progress. */
  takeChanges(): { rows: DeliveryRow[]; position: LogPosition | null } {
    const rows = this.#changed.map((delivery) => {
      delivery.isChanged = false;
      return { ...delivery.row };
    });
    this.#changed = [];
    let position: LogPosition | null = null;
    while (this.#batches[0]?.unsettled.size === 0) position = this.#batches.shift()!.position;
    return { rows, position };
  }

  /** Records the result of an attempt in the row. */
  static recordAttempt(delivery: QueuedDelivery, attempt: Attempt, startedAt: number): void {
    const { row } = delivery;
    row.attempts++;
    row.last_attempt_at = toIso(startedAt);
    row.first_attempt_at ??= row.last_attempt_at;
    Object.assign(row, { response_status: attempt.status, response_body: attempt.body, error: attempt.error });
  }

  #append(delivery: QueuedDelivery): void {
    const { record_id: recordId, event_id: eventId } = delivery.row;
    const queued = this.#byRecord.get(recordId);
    if (queued) queued.push(delivery);
    else {
      this.#byRecord.set(recordId, [delivery]);
      this.#addWaiting(delivery);
    }
    this.#eventIds.add(eventId);
  }

  #remove({ row }: QueuedDelivery): void {
    const queued = this.#byRecord.get(row.record_id)!;
    queued.shift();
    this.#eventIds.delete(row.event_id);
    if (queued.length === 0) this.#byRecord.delete(row.record_id);
    else this.#addWaiting(queued[0]!);
  }

  #addWaiting(delivery: QueuedDelivery): void {
    this.#waiting.add(delivery);
    this.#nextDueAt = Math.min(this.#nextDueAt, delivery.dueAt);
  }

  /** Makes the waiting deliveries that are due ready, and finds when the next one is due. */
  #readyWaiting(now: number): void {
    this.#nextDueAt = Number.POSITIVE_INFINITY;
    for (const delivery of this.#waiting) {
      if (delivery.dueAt > now) this.#nextDueAt = Math.min(this.#nextDueAt, delivery.dueAt);
      else if (this.#waiting.delete(delivery)) this.#ready.add(delivery);
    }
  }

  #markChanged(delivery: QueuedDelivery): void {
    if (delivery.isChanged) return;
    delivery.isChanged = true;
    this.#changed.push(delivery);
  }

  #settle({ row }: QueuedDelivery): void {
    for (const { unsettled } of this.#batches) if (unsettled.delete(row.event_id)) this.#unsettledCount--;
  }
}

const toIso = (milliseconds: number) => new Date(milliseconds).toISOString();

const createRow = (id: string, endpointId: string, event: LoggedEvent, now: number): DeliveryRow => ({
  id,
  endpoint_id: endpointId,
  event_id: event.id,
  type: event.type,
  builder_id: event.builderId,
  number: event.number,
  record_id: event.recordId,
  project_id: event.projectId,
  parent_id: event.parentId,
  occurred_at: event.occurredAt,
  status: 'PENDING',
  attempts: 0,
  created_at: toIso(now),
  first_attempt_at: null,
  last_attempt_at: null,
  next_attempt_at: toIso(now),
  response_status: null,
  response_body: null,
  error: null,
});
