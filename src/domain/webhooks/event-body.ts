import { pathOf, resourceOf } from '../events/event-types.ts';
import type { DeliveryRow } from './delivery/results.ts';

/** Returns the body of a delivery: the event as the feed shows it, as JSON. It contains no data of the record (WHK-9). */
export function createEventBody(row: DeliveryRow): string {
  const { event_id: id, type, occurred_at: occurredAt, builder_id: builderId, project_id: projectId } = row;
  const event = { id, type, recordId: row.record_id, builderId, projectId, parentId: row.parent_id, occurredAt };
  const path = pathOf({ ...event, day: '', number: row.number });
  return JSON.stringify({
    ...{ id, type, occurredAt, builderId, projectId },
    resource: { type: resourceOf(type), id: row.record_id, path },
  });
}
