import type { QueryResult } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { IdempotencyKey } from '../../entities/idempotency-key.entity.ts';
import type { Database } from '../database/database.ts';
import { DAY_MS } from '../shared/clock.ts';
import { idempotencyKeyReused, idempotentRecordGone, unavailable } from '../shared/errors.ts';

/** Days for which a key is valid (HDR-19). */
export const RETENTION_DAYS = 1;

/** A request with an `Idempotency-Key`. */
export interface IdempotentRequest {
  /** SHA-256 of integrator, user, operation and key. */
  digest: string;
  /** Equal for equal requests. */
  fingerprint: string;
  /** Milliseconds since the epoch. */
  now: number;
  /** Called when an earlier request has created the record. */
  onReplay(): void;
}

/** Stores the key in the transaction that creates the record, before anything else: it waits for other transactions with the key. */
export type ClaimKey = (em: EntityManager, recordId: string) => Promise<void>;

/** SQL: conditions on the row in conflict. It replaces a key whose time is over. */
const CLAIM = `insert into idempotency_key (digest, fingerprint, record_id, created_at) values (?, ?, ?, ?)
  on conflict (digest) do update
    set fingerprint = excluded.fingerprint, record_id = excluded.record_id, created_at = excluded.created_at
    where idempotency_key.created_at < ?`;

/**
 * Creates a record, or returns the one that an earlier request with the same key created, as it is now. Call it before the checks of
 * references, which may fail for a repeated request. Throws 422 for a key of another request, and 410 for a deleted record.
 *
 * @param request Null without a key: every request creates a record.
 * @param find Returns the record; null when it is deleted.
 * @param create Creates the record in one transaction, which begins with `claim`.
 */
export async function createOnce<T>(
  database: Database,
  request: IdempotentRequest | null,
  find: (em: EntityManager, recordId: string) => Promise<T | null>,
  create: (claim: ClaimKey) => Promise<T>,
): Promise<T> {
  if (!request) return create(async () => undefined);
  const { digest, fingerprint, now, onReplay } = request;
  const since = new Date(now - RETENTION_DAYS * DAY_MS).toISOString();

  const findEarlier = async (): Promise<T | null> => {
    const em = database.fork();
    const key = await em.findOne(IdempotencyKey, { digest, createdAt: { $gte: since } });
    if (!key) return null;
    if (key.fingerprint !== fingerprint) throw idempotencyKeyReused();
    const record = await find(em, key.recordId);
    if (!record) throw idempotentRecordGone();
    onReplay();
    return record;
  };

  const earlier = await findEarlier();
  if (earlier) return earlier;
  try {
    return await create(async (em, recordId) => {
      const values = [digest, fingerprint, recordId, new Date(now).toISOString(), since];
      const { affectedRows } = await em.execute<QueryResult>(CLAIM, values, 'run');
      if (affectedRows === 0) throw unavailable(new Error('A concurrent request has used the key.'));
    });
  } catch (error) {
    // A concurrent request may have created the record, and consumed what this one refers to; or the answer to the commit was lost.
    const concurrent = await findEarlier();
    if (concurrent) return concurrent;
    throw error;
  }
}
