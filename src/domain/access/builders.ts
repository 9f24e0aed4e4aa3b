import type { EntityClass } from '@mikro-orm/core';
import { Builder } from '../../../entities/builder.entity.ts';
import { getTimeZone, isTimeZone } from '../../../schema/time-zone.ts';
import { type ChangeContext, inTransaction, lockRow } from '../change-context.ts';
import { parseId } from './access-values.ts';
import { InvalidInputError } from './invalid-input-error.ts';

interface BuilderUpdate {
  /** IANA name; null for the default of the region. */
  timeZone?: string | null;
}

/** Replaces settings of a builder; absent ones are kept. Throws `InvalidInputError` for an unknown time zone or builder. */
export async function updateBuilder(context: ChangeContext, builderId: string, update: BuilderUpdate) {
  const { region } = context.database;
  const id = parseId('builderId', 'builder', builderId);
  if (update.timeZone != null && !isTimeZone(update.timeZone))
    throw new InvalidInputError('timeZone', `${update.timeZone} is not a time zone such as Australia/Sydney`);
  return inTransaction(context, async (em, now, record) => {
    const builder = await lockRow(em, Builder as EntityClass<Builder>, { id });
    if (!builder) throw new InvalidInputError('builderId', `there is no builder ${id} in ${region}`);
    const before = { timeZone: builder.timeZone ?? null };
    const after = { timeZone: update.timeZone === undefined ? before.timeZone : update.timeZone };
    const changed = before.timeZone !== after.timeZone;
    if (changed) {
      Object.assign(builder, after, { updatedAt: now });
      await record({ action: 'builder.updated', objectId: id, builderId: id, before, after });
    }
    return { builderId: id, timeZone: getTimeZone(after, region), changed };
  });
}
