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

/** An event waited for nothing if it was received as long after the one before as it occurred after it, by this difference at most. */
const STEADY_MS = 10_000;

/** Minimum time between two events that are compared: the events of a backlog arrive together. */
const MIN_GAP_MS = 10_000;

/** Minimum events of an estimate. */
const MIN_EVENTS = 3;

/**
 * Returns the gates whose clock is more than two minutes off: the median of how far `occurredAt` lies from the receipt of the events that
 * arrived in order and without a backlog (ATT-41). A clock ahead shows less, because its events are rejected until their time has come.
 */
export function findWrongClocks(visits: readonly Visit[]): WrongClock[] {
  const gates = Map.groupBy(
    visits.flatMap(({ id, events }) =>
      events.data.flatMap(({ deviceId, integrator, occurredAt, createdAt }) => {
        if (deviceId === null) return [];
        const [occurred, received] = [Date.parse(occurredAt), Date.parse(createdAt)];
        return [{ name: `${deviceId} of ${integrator.name}`, visitId: id, occurred, received }];
      }),
    ),
    ({ name }) => name,
  );
  return [...gates].flatMap(([name, events]) => {
    events.sort((one, other) => one.received - other.received);
    const steady = events.filter(({ occurred, received }, index) => {
      const before = events[index - 1];
      if (!before || received - before.received < MIN_GAP_MS) return false;
      return Math.abs(received - before.received - (occurred - before.occurred)) <= STEADY_MS;
    });
    const ahead = steady.map(({ occurred, received }) => occurred - received).sort((one, other) => one - other);
    const aheadMs = ahead[Math.floor(ahead.length / 2)] ?? 0;
    if (ahead.length < MIN_EVENTS || Math.abs(aheadMs) <= TOLERANCE_MS) return [];
    return [{ name, aheadMs, visitIds: new Set(events.map(({ visitId }) => visitId)) }];
  });
}
