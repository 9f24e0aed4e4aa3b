import type { Visit } from './board-rows.ts';

/** A gate whose clock is wrong, as far as the events of a day show. */
export interface WrongClock {
  name: string;
  /** Milliseconds by which its clock is ahead of the service's; negative when it is behind. */
  aheadMs: number;
  /** Visits that it reported the beginning or the end of. */
  visitIds: Set<string>;
}

/** Milliseconds by which the clock of a gate may be off. */
const TOLERANCE_MS = 120_000;

/**
 * Minimum time between two events that are compared: the events of a backlog arrive together. An event waited for nothing if it was received
 * as long after the one before as it occurred after it, by this difference at most.
 */
const STEADY_MS = 10_000;

/** Minimum events of an estimate. */
const MIN_EVENTS = 3;

/**
 * Returns the gates whose clock is more than two minutes off: the median of how far `occurredAt` lies from the receipt of the events that
 * arrived in order and without a backlog (ATT-41). A clock ahead shows less, because its events are rejected until their time has come.
 */
export function findWrongClocks(visits: readonly Visit[]): WrongClock[] {
  const reports = visits.flatMap(({ id: visitId, events }) =>
    events.data.map(({ deviceId, integrator, occurredAt, createdAt }) => {
      const received = Date.parse(createdAt);
      const name = deviceId && `${deviceId} of ${integrator.name}`;
      return { name, visitId, received, aheadMs: Date.parse(occurredAt) - received };
    }),
  );
  reports.sort((one, other) => one.received - other.received);
  return [...Map.groupBy(reports, ({ name }) => name)].flatMap(([name, events]) => {
    const steady = events.filter(({ received, aheadMs }, index) => {
      const before = events[index - 1];
      return before && received - before.received >= STEADY_MS && Math.abs(aheadMs - before.aheadMs) <= STEADY_MS;
    });
    const sorted = steady.map(({ aheadMs }) => aheadMs).sort((one, other) => one - other);
    const aheadMs = sorted[Math.floor(sorted.length / 2)] ?? 0;
    if (name === null || sorted.length < MIN_EVENTS || Math.abs(aheadMs) <= TOLERANCE_MS) return [];
    return [{ name, aheadMs, visitIds: new Set(events.map(({ visitId }) => visitId)) }];
  });
}
