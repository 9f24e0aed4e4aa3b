import type { LoggedEvent } from '../events/event-log.ts';
import { toPublicEvent } from '../events/event-types.ts';

/** Returns the body of a delivery: the event as the feed shows it, as JSON (WHK-9). */
export const createEventBody = (event: LoggedEvent): string => JSON.stringify(toPublicEvent(event));
