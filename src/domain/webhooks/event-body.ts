import type { LoggedEvent } from '../events/event-log.ts';
import { parseResource, toResourcePath } from '../events/event-types.ts';

/** Returns the body of a delivery: the event as the feed shows it, as JSON. It contains no data of the record (WHK-9). */
export function createEventBody(event: LoggedEvent): string {
  const { id, type, occurredAt, builderId, projectId, recordId } = event;
  const resource = { type: parseResource(type), id: recordId, path: toResourcePath(event) };
  return JSON.stringify({ id, type, occurredAt, builderId, projectId, resource });
}
