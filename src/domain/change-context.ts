import { type EntityClass, type FilterQuery, LockMode, UniqueConstraintViolationException } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { IdKind } from '../../schema/ids.ts';
import type { Database } from '../database/database.ts';
import type { Clock } from '../shared/clock.ts';
import { parseId } from './access/access-values.ts';
import { InvalidInputError } from './access/invalid-input-error.ts';
import { type AuditedChange, type AuditSource, recordAudit } from './audit/record-audit.ts';
import { requireUnchanged } from './edit-conflicts.ts';

/** What an operator's change needs: the database of one region, the clock, and who makes the change. */
export interface ChangeContext {
  database: Database;
  clock: Clock;
  /** Recorded in the audit log. */
  source: AuditSource;
  /** `updatedAt` of the object as the person saw it; a later change by another person is `EDIT_CONFLICT`. */
  expectedUpdatedAt?: string;
  /** The transaction of a larger change that this one is a part of. Without it, the change is a transaction of its own. */
  em?: EntityManager;
}

/** Records a change in the audit log: `recordAudit` in the transaction of the change, with its time and who makes it. */
type RecordChange = (change: RecordedChange) => Promise<void>;
type RecordedChange = Omit<AuditedChange, keyof AuditSource | 'at'>;

/** Runs a change in one transaction, that of the context if there is one. `now` is the same instant throughout. */
export function inTransaction<T>(
  context: ChangeContext,
  work: (em: EntityManager, now: string, record: RecordChange) => Promise<T>,
): Promise<T> {
  const now = new Date(context.clock.now()).toISOString();
  const run = (em: EntityManager) =>
    work(em, now, (change) => recordAudit(em, { ...context.source, at: now, ...change }));
  return context.em ? run(context.em) : context.database.transaction(run);
}

/** Inserts a row. Throws the conflict on a unique constraint violation. */
export async function insertUnique<T extends object>(
  em: EntityManager,
  entity: EntityClass<T>,
  row: Partial<T>,
  conflict: InvalidInputError,
): Promise<void> {
  await em.insert(entity, row as never).catch((error) => {
    throw error instanceof UniqueConstraintViolationException ? conflict : error;
  });
}

/** Selects a row FOR UPDATE, so that concurrent changes of it run one after the other; null if there is none. */
export const lockRow = <T extends object>(em: EntityManager, entity: EntityClass<T>, where: FilterQuery<NoInfer<T>>) =>
  em.findOne(entity, where, { lockMode: LockMode.PESSIMISTIC_WRITE });

/** Returns the row with the id. Throws `InvalidInputError` for an id of another kind, and if the region has none. */
export async function requireRow<T extends { id: string }>(
  { database }: Pick<ChangeContext, 'database'>,
  em: EntityManager,
  entity: EntityClass<T>,
  kind: IdKind,
  id: string,
  { field = `${kind}Id`, lockMode }: { field?: string; lockMode?: LockMode } = {},
): Promise<T> {
  const row = await em.findOne(entity, { id: parseId(field, kind, id) } as FilterQuery<T>, { lockMode });
  if (!row) throw new InvalidInputError(field, `there is no ${kind} ${id} in ${database.region}`);
  return row as T;
}

/** Does the same for update. Throws `EDIT_CONFLICT` if the row has changed since the person saw it. */
export async function lockRequiredRow<T extends { id: string; updatedAt: string }>(
  context: ChangeContext,
  em: EntityManager,
  entity: EntityClass<T>,
  kind: IdKind,
  id: string,
): Promise<T> {
  const row = await requireRow(context, em, entity, kind, id, { lockMode: LockMode.PESSIMISTIC_WRITE });
  await requireUnchanged(context, em, row, id);
  return row;
}

/**
 * Assigns the values to a locked row and records the change with the values before and after it, unless the row has all of them. Returns
 * whether it has changed.
 */
export async function changeRow<T extends object>(
  row: T,
  after: Partial<T>,
  now: string,
  record: RecordChange,
  change: Omit<RecordedChange, 'before' | 'after'>,
): Promise<boolean> {
  const before = Object.fromEntries(Object.keys(after).map((name) => [name, row[name as keyof T]]));
  if (JSON.stringify(before) === JSON.stringify(after)) return false;
  Object.assign(row, after, 'updatedAt' in row && { updatedAt: now });
  await record({ ...change, before, after });
  return true;
}
