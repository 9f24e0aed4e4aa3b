import { raw } from '@mikro-orm/core';
import { WebhookDelivery } from '../../../entities/webhook-delivery.entity.ts';
import { WebhookProgress } from '../../../entities/webhook-progress.entity.ts';
import { conflict } from '../../shared/errors.ts';
import { inTransaction, lockRow } from '../change-context.ts';
import { decodeEventCursor, encodeEventCursor } from '../events/event-cursor.ts';
import { findPositionBefore, readHead } from '../events/event-log.ts';
import { lockEndpoint, requireManageableEndpoint } from './endpoints.ts';
import { toShownEndpoint } from './list-endpoints.ts';
import type { EndpointKey, WebhookChangeContext } from './webhook-context.ts';

/**
 * Delivers the events after a cursor of the feed, or since an instant, again, before those that come (WHK-15). Throws a `ValidationError`
 * for a cursor that is none, `CURSOR_EXPIRED` for one that has expired, and a conflict while another replay is running or while nothing is
 * delivered.
 */
export async function startReplay(
  context: WebhookChangeContext,
  key: EndpointKey,
  from: { after: string } | { since: string },
) {
  const { database } = context;
  await requireManageableEndpoint(database.fork(), key);
  const head = await readHead(database);
  const position =
    'after' in from
      ? decodeEventCursor(database.region, head, from.after)
      : await findPositionBefore(database, from.since);
  const cursor = encodeEventCursor(database.region, head, position);
  return inTransaction(context, async (em, now, record) => {
    const endpoint = await lockEndpoint(context, em, key);
    if ((await toShownEndpoint(em, endpoint)).status !== 'ACTIVE') {
      throw conflict('WEBHOOK_ENDPOINT_NOT_ACTIVE', 'The endpoint is paused or disabled.');
    }
    const progress = (await lockRow(em, WebhookProgress, { endpointId: endpoint.id }))!;
    if (progress.replayUntil !== null) throw conflict('WEBHOOK_REPLAY_RUNNING', 'A replay is running already.');
    // A cursor of the position or of later events has nothing to repeat.
    if (position.number < Number(progress.number)) {
      const number = String(position.number);
      // They are read again, behind the earlier events of their records. Those that are under way are waited for.
      const isFree = { $or: [{ leasedUntil: null }, { leasedUntil: { $lt: raw('clock_timestamp()') } }] };
      const retries = { endpointId: endpoint.id, status: 'PENDING', number: { $gt: number } } as const;
      await em.nativeDelete(WebhookDelivery, { ...retries, ...isFree });
      Object.assign(progress, { day: position.day, number, replayUntil: progress.number, suspendedUntil: null });
    }
    const { id: objectId, integratorId } = endpoint;
    await record({ action: 'webhook_endpoint.replayed', objectId, integratorId, after: { cursor } });
    return { endpointId: objectId, startedAt: now };
  });
}
