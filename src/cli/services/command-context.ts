import { type EntityClass, type FilterQuery, LockMode, UniqueConstraintViolationException } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Database } from '../../database/database.ts';
import type { Clock } from '../../shared/clock.ts';
import { refuse } from '../cli-error.ts';

/** Where and when a command works. */
export interface Place {
  database: Database;
  clock: Clock;
}

/** Runs a command's work as one transaction, with the instant that it happens at. */
export function inTransaction<T>(place: Place, work: (em: EntityManager, now: string) => Promise<T>): Promise<T> {
  const now = new Date(place.clock.now()).toISOString();
  return place.database.transaction((em) => work(em, now));
}

/** Inserts a row; refuses with the given words when it, or another command at the same moment, has made it before. */
export async function insertOnce<T extends object>(
  em: EntityManager,
  entity: EntityClass<T>,
  row: Partial<T>,
  taken: { option: string; problem: string },
): Promise<void> {
  try {
    await em.insert(entity, row as never);
  } catch (error) {
    if (error instanceof UniqueConstraintViolationException) refuse(taken.option, taken.problem);
    throw error;
  }
}

/** The row, held until the transaction ends, so that commands on the same one take turns. */
export function lockRow<T extends object>(em: EntityManager, entity: EntityClass<T>, where: FilterQuery<NoInfer<T>>) {
  return em.findOne(entity, where, { lockMode: LockMode.PESSIMISTIC_WRITE });
}

/** The row with that id; refuses an option that names one which the region does not have. */
export async function existing<T extends { id: string }>(
  { database }: Place,
  em: EntityManager,
  entity: EntityClass<T>,
  named: { option: string; what: string; id: string },
): Promise<T> {
  const row = await em.findOne(entity, { id: named.id } as FilterQuery<T>);
  return (row as T | null) ?? refuse(named.option, `there is no ${named.what} ${named.id} in ${database.region}`);
}
