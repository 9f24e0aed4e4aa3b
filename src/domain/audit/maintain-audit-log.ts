import type { EntityManager } from '@mikro-orm/postgresql';
import { toSnakeCase } from '../../../entities/columns.ts';
import { requireStaffAction } from '../access/staff-roles.ts';
import { type ListedErasure, STORED_FIELDS } from '../privacy/erasure-list.ts';
import { type AuditedChange, toAuditRow } from './record-audit.ts';

// SQL: only functions of the database change entries.

/** Days for which entries are kept at least. The database function enforces it by its own clock. */
export const MIN_AUDIT_DAYS = 365;

/** Deletes entries from before the instant, oldest first. Returns their number. Throws for entries of the last `MIN_AUDIT_DAYS`. */
export async function purgeAuditLog(em: EntityManager, before: string, maxRows = 10_000): Promise<number> {
  const [row] = await em.execute<{ purged: string }[]>('select audit_purge(?::timestamptz, ?) as purged', [
    before,
    maxRows,
  ]);
  return Number(row!.purged);
}

/**
 * Inserts the row of an erasure unless it exists, and replaces the person of it in every entry: as the actor, the object and in the recorded
 * values, where it also replaces name, e-mail address and phone number. The addresses from which the person acted are removed. Appends the
 * entry of a person's erasure, with the number of changed entries among its rows, and returns that number. Throws while a record of the
 * person has a name.
 */
export async function recordErasure(
  em: EntityManager,
  erasure: ListedErasure,
  change: AuditedChange | null,
): Promise<number> {
  if (change?.actor.type === 'STAFF') requireStaffAction(change.actor.role, change.action);
  const recorded = Object.fromEntries(STORED_FIELDS.map((name) => [toSnakeCase(name), erasure[name]]));
  const [row] = await em.execute<{ changed: string }[]>('select record_erasure(?::jsonb, ?::jsonb) as changed', [
    JSON.stringify(recorded),
    change && toAuditRow(change),
  ]);
  return Number(row!.changed);
}
