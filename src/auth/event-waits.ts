import { EventFilter, type EventSelection } from '../domain/events/event-filter.ts';
import type { LogPosition } from '../domain/events/event-log.ts';
import type { EventTail } from '../domain/events/event-tail.ts';
import { forbidden } from '../shared/errors.ts';
import type { RegionId } from '../shared/regions.ts';
import type { Caller } from './caller.ts';
import type { RequestUsage } from './request-usage.ts';

/** Milliseconds between checks of a waiting token, which bypass the cache: a revocation takes effect within a second (ACC-5). */
const CHECK_MS = 800;

export interface EventWaitResult {
  /** Position up to which the caller sees no event. */
  position: LogPosition;
  hasEvents: boolean;
  caller: Caller;
}

interface WaitDependencies {
  tail: EventTail;
  usage: RequestUsage;
  region: RegionId;
  /** Authenticates the request's token again, with what is stored after the call. */
  refreshCaller: () => Promise<Caller>;
}

/**
 * Waits until the caller sees an event after the position, at most that long. Meanwhile the request holds a permit to wait instead of its
 * permit to execute. Rejects with 401 or 403 when the token, or the connection of the one selected builder, is revoked.
 */
export async function waitForEvents(
  { tail, usage, region, refreshCaller }: WaitDependencies,
  after: LogPosition,
  selection: EventSelection,
  timeoutMs: number,
): Promise<EventWaitResult> {
  const ended = new AbortController();
  usage.onEnd(() => ended.abort());
  const endsAt = performance.now() + timeoutMs;
  let position = after;
  return usage.runWait(async () => {
    let caller = await refreshCaller();
    for (;;) {
      if (selection.builderIds?.some((builderId) => !caller.isConnectedTo(builderId)))
        throw forbidden('The builder is not connected to this integrator.');
      const remainingMs = endsAt - performance.now();
      if (remainingMs <= 0 || ended.signal.aborted) return { position, hasEvents: false, caller };
      const filter = new EventFilter(caller, selection);
      const options = { timeoutMs: Math.min(CHECK_MS, remainingMs), signal: ended.signal };
      const result = await tail.wait(region, position, filter, options);
      if (result.reason === 'stopping') return { position, hasEvents: false, caller };
      caller = await refreshCaller();
      // Otherwise the wait may have passed over events that the caller sees now (EVT-7): the next one searches them.
      if (!filter.equals(new EventFilter(caller, selection))) continue;
      position = result.position;
      if (result.reason === 'events') return { position, hasEvents: true, caller };
    }
  });
}
