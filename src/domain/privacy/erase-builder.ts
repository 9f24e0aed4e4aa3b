import { setTimeout as sleep } from 'node:timers/promises';
import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import type pg from 'pg';
import { Builder } from '../../../entities/builder.entity.ts';
import { Connection } from '../../../entities/connection.entity.ts';
import { Erasure } from '../../../entities/erasure.entity.ts';
import { Membership } from '../../../entities/membership.entity.ts';
import { newId } from '../../../schema/ids.ts';
import type { Database } from '../../database/database.ts';
import { FOREIGN_KEY_VIOLATION, getErrorCode } from '../../database/errors.ts';
import { connectWithSettings, DIRECT_SETTINGS } from '../../database/pool/session-settings.ts';
import { DAY_MS } from '../../shared/clock.ts';
import { InvalidInputError } from '../access/invalid-input-error.ts';
import { recordErasure } from '../audit/maintain-audit-log.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { inTransaction, lockRow } from '../change-context.ts';
import { rejectForeignBucket } from '../uploads/bucket-owner.ts';
import { erasePerson, ignoreRollback, type PrivacyContext } from './erase-person.ts';
import { type EndedMembership, recordEndedMemberships } from './erase-records.ts';
import { type ListedErasure, readStoredErasure, storeErasure } from './erasure-list.ts';
import { listPersonalTables, type PersonalTable, quote } from './personal-tables.ts';

const BATCH_ROWS = 5_000;
/** Attempts to delete a builder for which requests still write records, one second apart: a revocation needs up to one second. */
const ATTEMPTS = 5;
/** What an entry and an erasure must end first. Rows that were added since prevent that the builder's row is deleted. */
const UNENDED: Record<string, string> = { membership: ' and false', connection: " and status = 'REVOKED'" };
/** Folders of the storage whose objects are below the id of their builder. The sweep deletes others to which no row refers any longer. */
const FOLDERS = ['uploads', 'photos', 'renditions', 'logos', 'documents', 'snapshots'];

/**
 * Schedules the erasure of a builder by the database's clock (PRV-8). Returns the erasure that is scheduled already, if there is one. It is
 * stored outside of the database after the commit, so that an erasure which was not scheduled is never there; the hourly job repeats that.
 */
export async function scheduleBuilderErasure(
  context: PrivacyContext,
  builderId: string,
  graceDays: number,
  reason: string | null = null,
): Promise<{ erasure: Erasure; changed: boolean }> {
  const { database, storage } = context;
  await rejectForeignBucket(database, storage);
  const at = await database.now();
  const scheduled = await inTransaction({ ...context, clock: { now: () => at } }, async (em, now, record) => {
    const builder = await em.findOne(Builder, { id: builderId });
    if (!builder) throw new InvalidInputError('builder', `there is no builder ${builderId} in ${database.region}`);
    const dueAt = new Date(at + graceDays * DAY_MS).toISOString();
    const erasure: ListedErasure = {
      id: newId('erasure', at),
      kind: 'BUILDER',
      subjectIds: [builderId],
      builderIds: [],
      pseudonym: null,
      requestedAt: now,
      dueAt,
      cancelledAt: null,
    };
    await recordErasure(em, erasure, null);
    // A unique index keeps the one that is open already, also of requests at the same time.
    const open = await em.findOneOrFail(Erasure, createOpenErasureFilter(builderId));
    if (open.id !== erasure.id) return { erasure: open, changed: false };
    await record({
      action: 'builder.erasure_scheduled',
      objectId: builderId,
      builderId,
      after: { name: builder.name, effectiveAt: dueAt, reason },
    });
    return { erasure: open, changed: true };
  });
  await storeErasure(storage, scheduled.erasure);
  return scheduled;
}

/**
 * Cancels the scheduled erasure of a builder, until it is due by the database's clock (PRV-8). Throws `InvalidInputError` if none is
 * scheduled. The cancellation is stored outside of the database before the commit: whatever is restored later, the builder is not erased.
 */
export async function cancelBuilderErasure(context: PrivacyContext, builderId: string): Promise<Erasure> {
  const { database, source, storage } = context;
  await rejectForeignBucket(database, storage);
  return database.transaction(async (em) => {
    const scheduled = await lockRow(em, Erasure, createOpenErasureFilter(builderId));
    if (!scheduled) throw new InvalidInputError('builder', `no erasure of ${builderId} is scheduled`);
    const at = await database.now();
    if (Date.parse(scheduled.dueAt) <= at) {
      throw new InvalidInputError(
        'builder',
        `the erasure of ${builderId} was due at ${scheduled.dueAt} and cannot be undone`,
      );
    }
    const now = new Date(at).toISOString();
    scheduled.cancelledAt = now;
    await recordAudit(em, {
      ...source,
      at: now,
      action: 'builder.erasure_cancelled',
      objectId: builderId,
      builderId,
      before: { effectiveAt: scheduled.dueAt },
    });
    await storeErasure(storage, scheduled);
    return scheduled;
  });
}

const createOpenErasureFilter = (builderId: string) => ({
  kind: 'BUILDER' as const,
  subjectIds: { $contains: [builderId] },
  cancelledAt: null,
  completedAt: null,
});

/** Lists the erasures of the region, newest first. */
export const listErasures = (database: Database): Promise<Erasure[]> =>
  database.fork().find(Erasure, {}, { orderBy: { requestedAt: 'desc', id: 'desc' } });

/**
 * Deletes every record of a builder, and its stored objects. Users who were members of no other builder are erased as people. Interrupted
 * anywhere, a repetition completes it. Returns false without a change if the erasure was cancelled meanwhile.
 */
export async function executeBuilderErasure(context: PrivacyContext, erasure: ListedErasure): Promise<boolean> {
  const { database } = context;
  const [builderId] = erasure.subjectIds as [string];
  await rejectForeignBucket(database, context.storage);
  // A restored database may lack the cancellation.
  if ((await readStoredErasure(context.storage, erasure.id))?.cancelledAt) return false;
  if (!(await endAccess(context, erasure.id, builderId))) return false;
  await storeErasure(context.storage, erasure);
  const rows: Record<string, number> = {};
  for (let attempt = 1, isDeleted = false; !isDeleted; attempt++) {
    // One after the other: each takes seconds, in which others may become members of another builder.
    for (let id = await findOnlyMember(database, builderId); id; id = await findOnlyMember(database, builderId)) {
      const others = { userId: id, builderId: { $ne: builderId } };
      const isOnlyMember = async (em: EntityManager) => (await em.count(Membership, others)) === 0;
      await erasePerson(context, [id], 'builder erased', isOnlyMember).catch(ignoreRollback);
    }
    // Of what was added since the last time.
    await endAccess(context, erasure.id, builderId);
    isDeleted = await deleteRecords(context, builderId, rows).catch(async (error) => {
      if (getErrorCode(error) !== FOREIGN_KEY_VIOLATION || attempt === ATTEMPTS) throw error;
      return sleep(1_000, false);
    });
  }
  let storedFiles = 0;
  for (const folder of FOLDERS) storedFiles += await context.storage.removeFolder(`${folder}/${builderId}/`);
  await inTransaction(context, async (em, now, record) => {
    await em.nativeUpdate(Erasure, { id: erasure.id }, { completedAt: now });
    await record({ action: 'builder.erased', objectId: builderId, builderId, after: { rows, storedFiles } });
  });
  return true;
}

/** Ends the builder's connections, and the memberships of users who remain. Returns false for an erasure that was cancelled. */
const endAccess = (context: PrivacyContext, erasureId: string, builderId: string) =>
  inTransaction(context, async (em, now, record) => {
    // A cancellation waits for the lock, and is rejected afterwards because the erasure is due.
    const erasure = await lockRow(em, Erasure, { id: erasureId, cancelledAt: null });
    if (!erasure) return false;
    const lockMode = LockMode.PESSIMISTIC_WRITE;
    const orderBy = { integratorId: 'asc' } as const;
    for (const connection of await em.find(Connection, { builderId, status: 'ACTIVE' }, { orderBy, lockMode })) {
      const { integratorId } = connection;
      Object.assign(connection, { status: 'REVOKED', updatedAt: now });
      await record({
        action: 'connection.revoked',
        objectId: `${integratorId}/${builderId}`,
        integratorId,
        builderId,
        before: { status: 'ACTIVE' },
        after: { status: 'REVOKED' },
      });
    }
    const ended = await em.execute<EndedMembership[]>(
      `delete from membership m where builder_id = ?
        and exists (select from membership o where o.user_id = m.user_id and o.builder_id <> m.builder_id)
        returning user_id as "userId", builder_id as "builderId", role`,
      [builderId],
    );
    await recordEndedMemberships(em, context.source, now, ended);
    return true;
  });

/** Selects a member of the builder who is a member of no other. */
const findOnlyMember = async (database: Database, builderId: string): Promise<string | undefined> => {
  const [member] = await database.fork().execute<{ id: string }[]>(
    `select user_id as id from membership m where builder_id = ?
      and not exists (select from membership o where o.user_id = m.user_id and o.builder_id <> m.builder_id) order by 1 limit 1`,
    [builderId],
  );
  return member?.id;
};

/** Deletes the rows of all tables that belong to the builder, referring tables first. Adds their number to that of their class. */
async function deleteRecords({ database }: PrivacyContext, builderId: string, rows: Record<string, number>) {
  const tables = listPersonalTables(database.metadata);
  const client = await connectWithSettings(database.url, DIRECT_SETTINGS);
  try {
    for (const table of [...tables].reverse()) {
      const condition = builderCondition(table, tables);
      const deleted = await deleteRows(client, table, condition && condition + (UNENDED[table.table] ?? ''), builderId);
      if (deleted > 0) rows[table.className] = (rows[table.className] ?? 0) + deleted;
    }
    return true;
  } finally {
    await client.end();
  }
}

/** Returns the SQL condition of the rows that belong to the builder `$1`; null for a table of which none do. */
export function builderCondition(table: PersonalTable, tables: readonly PersonalTable[]): string | null {
  const { declaration, builder, columns } = table;
  if (declaration.erase === 'audit') return null;
  if (builder !== 'null') return `${builder} = $1`;
  for (const property of columns.values()) {
    const parent = tables.find((other) => other.className === property.targetMeta?.className && other !== table);
    const condition = parent && parent.className !== 'User' ? builderCondition(parent, tables) : null;
    if (condition)
      return `${quote(property.fieldNames[0]!)} in (select id from ${quote(parent!.table)} where ${condition})`;
  }
  return null;
}

async function deleteRows(
  client: pg.Client,
  { table, columns }: PersonalTable,
  condition: string | null,
  builderId: string,
): Promise<number> {
  if (condition === null) return 0;
  const isSelfReferring = [...columns.values()].some(({ targetMeta }) => targetMeta?.tableName === table);
  // Rows that refer to each other go in one statement, others in batches that hold their locks for a short time.
  const limit = isSelfReferring ? '' : `limit ${BATCH_ROWS}`;
  const sql = `with found as materialized (select ctid from ${quote(table)} where ${condition} ${limit}),
      deleted as (delete from ${quote(table)} where ctid = any(array(select ctid from found)) returning 1)
    select (select count(*) from found)::int as found, (select count(*) from deleted)::int as deleted`;
  for (let total = 0; ; ) {
    const { rows } = await client.query<{ found: number; deleted: number }>(sql, [builderId]);
    total += rows[0]!.deleted;
    // A row that another transaction has replaced meanwhile was found, and is deleted by the next statement.
    if (rows[0]!.found === 0) return total;
  }
}
