import { fail, scalar } from '../../schema/scalar.ts';
import { createIntegerScalar, createPatternScalar } from '../../schema/scalars.ts';
import { EVENT_TYPE_MESSAGE, eventTypes } from '../../src/domain/events/event-types.ts';

/** Type of an event: a resource and what happened to it (EVT-3). */
export const EventType = scalar<string>({
  name: 'EventType',
  description: 'A resource and what happened to it, such as `timesheet.updated`.',
  jsonSchema: { type: 'string', enum: [...eventTypes.keys()].sort(), examples: ['timesheet.updated'] },
  parse: (value) => (typeof value === 'string' && eventTypes.has(value) ? value : fail(EVENT_TYPE_MESSAGE)),
});

/** 26 bytes. Whether they are a position in the log is known only when it is read. */
const CURSOR = /^[A-Za-z0-9_-]{35}$/;

/** Position in the feed, opaque to clients (EVT-10). */
export const EventCursor = createPatternScalar(
  'EventCursor',
  'A position in the events of a region. Store it as it is.',
  CURSOR,
  '3q2-7wABcf1Wb2T0mY9uJx5k1oQ3vHk8Zr0',
  'must be the nextCursor of a page of events of this region',
);

/** Events per page of the feed (EVT-8). */
export const MAX_EVENTS = 100;

export const EventLimit = createIntegerScalar('EventLimit', 'Events to return', 1, MAX_EVENTS, MAX_EVENTS, MAX_EVENTS);

/** Seconds that a request may wait for events (EVT-13). */
export const EventWait = createIntegerScalar('EventWait', 'Seconds to wait', 0, 20, 1, 0);
