import { type EventContent, toPublicEvent } from '../events/event-types.ts';

/** Returns the body of a delivery: the event as the feed shows it, as JSON (WHK-9). */
export const createEventBody = (event: EventContent): string => JSON.stringify(toPublicEvent(event));
