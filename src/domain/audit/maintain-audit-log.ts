import type { EntityManager } from '@mikro-orm/postgresql';

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
 * Replaces a user or worker by a pseudonym in every entry: as the actor, the object and in the recorded values, where it also replaces
 * name, e-mail address and phone number. The addresses from which the person acted are removed. Returns the number of changed entries.
 */
export async function pseudonymizeAuditLog(em: EntityManager, personId: string, pseudonym: string): Promise<number> {
  const [row] = await em.execute<{ changed: string }[]>('select audit_pseudonymize(?, ?) as changed', [
    personId,
    pseudonym,
  ]);
  return Number(row!.changed);
}
