import { type EntityClass, type FilterQuery, LockMode, UniqueConstraintViolationException } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Database } from '../../database/database.ts';
import type { AuditSource } from '../../domain/audit/record-audit.ts';
import type { Clock } from '../../shared/clock.ts';
import { CliError } from '../cli-error.ts';

/** Database of one region, and the clock, of a command. */
export interface CommandContext {
  database: Database;
  clock: Clock;
  /** The operator and the host, for the audit log. */
  source: AuditSource;
}

/** Runs the work of a command in one transaction. `now` is the same instant throughout. */
export function inTransaction<T>(
  context: CommandContext,
  work: (em: EntityManager, now: string) => Promise<T>,
): Promise<T> {
  const now = new Date(context.clock.now()).toISOString();
  return context.database.transaction((em) => work(em, now));
}

/** Inserts a row. Throws the given `CliError` on a unique constraint violation. */
export async function insertUnique<T extends object>(
  em: EntityManager,
  entity: EntityClass<T>,
  row: Partial<T>,
  conflict: { option: string; problem: string },
): Promise<void> {
  try {
    await em.insert(entity, row as never);
  } catch (error) {
    if (error instanceof UniqueConstraintViolationException)
      throw CliError.forOption(conflict.option, conflict.problem);
    throw error;
  }
}

/** Selects a row FOR UPDATE, so that concurrent commands on it run one after the other; null if there is none. */
export function lockRow<T extends object>(em: EntityManager, entity: EntityClass<T>, where: FilterQuery<NoInfer<T>>) {
  return em.findOne(entity, where, { lockMode: LockMode.PESSIMISTIC_WRITE });
}

/** Returns the row with the id. Throws `CliError` for the option if the region has none. */
export async function requireRow<T extends { id: string }>(
  { database }: CommandContext,
  em: EntityManager,
  entity: EntityClass<T>,
  named: { option: string; what: string; id: string },
): Promise<T> {
  const row = await em.findOne(entity, { id: named.id } as FilterQuery<T>);
  if (!row) throw CliError.forOption(named.option, `there is no ${named.what} ${named.id} in ${database.region}`);
  return row as T;
}
