// Loads all entities, whose decorators fill `publishedResources`.
import '../../../entities/index.ts';
import { publishedResources } from '../../../entities/published.ts';
import { getTypeScope } from '../../../schema/rest.ts';
import type { Scope } from '../../../schema/scopes.ts';
import type { LoggedEvent, LogPosition } from './event-log.ts';

/** What may happen to a record (EVT-3). */
const CHANGES = ['created', 'updated', 'archived', 'restored'] as const;

/** An event without its position in the log. */
export type EventContent = Omit<LoggedEvent, keyof LogPosition>;

/** Types of events, with the scope of the resource. */
export const eventTypes: ReadonlyMap<string, Scope> = new Map(
  [...publishedResources.values()].flatMap(({ resource, entity }) =>
    CHANGES.map((change) => [`${resource}.${change}`, getTypeScope(entity)] as const),
  ),
);

/** The error of a value that is no type of event. */
export const EVENT_TYPE_MESSAGE = `must be one of the resources ${[...publishedResources.values()]
  .map(({ resource }) => resource)
  .sort()
  .join(', ')} with .created, .updated, .archived or .restored, such as photo.created`;

/** Returns `photo_report` for `photo_report.created`. */
export const parseResource = (type: string): string => type.slice(0, type.lastIndexOf('.'));

/** Returns the v1 path that reads the event's record; that of its list where v1 reads no single one; null where v1 reads none. */
export function toResourcePath({ type, recordId, builderId, projectId, parentId }: EventContent): string | null {
  const path = publishedResources.get(parseResource(type))?.path;
  const values: Record<string, string | null> = { id: recordId, builderId, projectId, parentId };
  return path?.replace(/\{(\w+)\}/g, (_, name: string) => values[name]!).replace('?source=GALLERY', '') ?? null;
}

/** Returns an event as the feed and deliveries show it (EVT-4, WHK-9). It contains no data of the record. */
export function toPublicEvent(event: EventContent) {
  const { id, type, occurredAt, builderId, projectId, recordId } = event;
  const resource = { type: parseResource(type), id: recordId, path: toResourcePath(event) };
  return { id, type, occurredAt, builderId, projectId, resource };
}
