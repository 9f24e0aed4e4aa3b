import type { EntityClass } from '@mikro-orm/core';
import { Builder } from '../../../entities/builder.entity.ts';
import { getTimeZone, isTimeZone } from '../../../schema/time-zone.ts';
import { type ChangeContext, changeRow, inTransaction, lockRequiredRow } from '../change-context.ts';
import { InvalidInputError } from './invalid-input-error.ts';

interface BuilderUpdate {
  /** IANA name; null for the default of the region. */
  timeZone?: string | null;
}

/** Replaces settings of a builder; absent ones are kept. Throws `InvalidInputError` for an unknown time zone or builder. */
export async function updateBuilder(context: ChangeContext, id: string, { timeZone }: BuilderUpdate) {
  if (timeZone != null && !isTimeZone(timeZone))
    throw new InvalidInputError('timeZone', `${timeZone} is not a time zone such as Australia/Sydney`);
  return inTransaction(context, async (em, now, record) => {
    const builder = await lockRequiredRow(context, em, Builder as EntityClass<Builder>, 'builder', id);
    const after = timeZone === undefined ? {} : { timeZone };
    const change = { action: 'builder.updated' as const, objectId: id, builderId: id };
    const changed = await changeRow(builder, after, now, record, change);
    return { builderId: id, timeZone: getTimeZone(builder, context.database.region), changed };
  });
}
