import type { EntityManager } from '@mikro-orm/postgresql';

/**
 * Executes SQL with bound values in the transaction of the entity manager. Its own `execute` writes the values into the text, which PostgreSQL
 * shows in `pg_stat_activity` and writes to its log: personal data that is erased must not be there.
 *
 * @param sql Every `?` is a value.
 * @returns The rows, and the number of changed ones.
 */
export async function executeBound<T>(
  em: EntityManager,
  sql: string,
  values: readonly unknown[],
): Promise<{ rows: T[]; affectedRows: number }> {
  let count = 0;
  const numbered = sql.replaceAll('?', () => `$${++count}`);
  const kysely = em.getKysely();
  const compiled = { ...kysely.selectNoFrom([]).compile(), sql: numbered, parameters: values };
  const { rows, numAffectedRows = 0n } = await kysely.executeQuery<T>(compiled as never);
  return { rows, affectedRows: Number(numAffectedRows) };
}
