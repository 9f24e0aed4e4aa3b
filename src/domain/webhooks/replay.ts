import { conflict } from '../../shared/errors.ts';
import { inTransaction } from '../change-context.ts';
import { decodeEventCursor, encodeEventCursor } from '../events/event-cursor.ts';
import { findPositionBefore, readHead } from '../events/event-log.ts';
import { lockEndpoint, requireManageableEndpoint } from './endpoints.ts';
import { toShownEndpoint } from './list-endpoints.ts';
import type { EndpointKey, WebhookChangeContext } from './webhook-context.ts';

/** A replay that has begun. */
interface Replay {
  endpointId: string;
  startedAt: string;
}

interface StoredProgress {
  number: string;
  replay_until: string | null;
}

const LOCK_PROGRESS = 'select number, replay_until from webhook_progress where endpoint_id = ? for update';

const MOVE_BACK = `update webhook_progress set day = ?, number = ?, replay_until = ?, suspended_until = null
  where endpoint_id = ?`;

/** They are read again, behind the earlier events of their records. Those that are under way are waited for. */
const FORGET_RETRIES = `delete from webhook_delivery where endpoint_id = ? and status = 'PENDING' and number > ?
  and (leased_until is null or leased_until < clock_timestamp())`;

/**
 * Delivers the events after a cursor of the feed, or since an instant, again, before those that come (WHK-15). Throws a `ValidationError`
 * for a cursor that is none, `CURSOR_EXPIRED` for one that has expired, and a conflict while another replay is running or while nothing is
 * delivered.
 */
export async function startReplay(
  context: WebhookChangeContext,
  key: EndpointKey,
  from: { after: string } | { since: string },
): Promise<Replay> {
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
    const [progress] = (await em.execute(LOCK_PROGRESS, [endpoint.id])) as unknown as StoredProgress[];
    if (progress!.replay_until !== null) throw conflict('WEBHOOK_REPLAY_RUNNING', 'A replay is running already.');
    // A cursor of the position or of later events has nothing to repeat.
    if (position.number < Number(progress!.number)) {
      await em.execute(FORGET_RETRIES, [endpoint.id, position.number]);
      await em.execute(MOVE_BACK, [position.day, position.number, progress!.number, endpoint.id]);
    }
    const { id: objectId, integratorId } = endpoint;
    await record({ action: 'webhook_endpoint.replayed', objectId, integratorId, after: { cursor } });
    return { endpointId: objectId, startedAt: now };
  });
}
