import { Erasure, type ErasureKind } from '../../../entities/erasure.entity.ts';
import type { Database, Databases } from '../../database/database.ts';
import { tryWithAdvisoryLock, withAdvisoryLock } from '../../database/write/advisory-lock.ts';
import type { Clock } from '../../shared/clock.ts';
import type { Job } from '../../shared/jobs.ts';
import type { Storages } from '../../storage/storage.ts';
import { NO_DOMAIN } from '../access/access-values.ts';
import { recordErasure } from '../audit/maintain-audit-log.ts';
import { inTransaction } from '../change-context.ts';
import { rejectForeignBucket } from '../uploads/bucket-owner.ts';
import { executeBuilderErasure } from './erase-builder.ts';
import { deletePendingFiles, executePersonErasure, PEOPLE_LOCK, type PrivacyContext } from './erase-person.ts';
import { type ListedErasure, listStoredErasures, readStoredErasure, storeErasure } from './erasure-list.ts';

const INTERVAL_MS = 3_600_000;
/** Of its own, because deleting a builder may take minutes, and a start waits for the lock of people. */
const BUILDER_LOCK = 'builder-integration-api erasures of builders';

const SELECT_ANY = { name: '', text: 'select 1 from erasure limit 1' };

interface ReplayResult {
  /** Erasures that were applied: begun and interrupted, due, or undone by a restore or an import. */
  applied: number;
  /** Erasures that only the database had, and that the storage has again. */
  stored: number;
}

/**
 * Applies every erasure of a person on the list whose records are not erased (PRV-6): after a restore from an older backup, an import of an
 * older export, or an interruption. One instance works at a time; others wait.
 */
export const replayErasures = (context: PrivacyContext): Promise<ReplayResult> =>
  withAdvisoryLock(context.database.url, PEOPLE_LOCK, () => applyErasures(context));

async function applyErasures(context: PrivacyContext): Promise<ReplayResult> {
  const { database, storage } = context;
  const stored = new Set(await listStoredErasures(storage));
  // The usual case. A start then needs no MikroORM, which takes long to create.
  if (stored.size === 0 && (await database.runner.run(SELECT_ANY, [])).length === 0) return { applied: 0, stored: 0 };
  const rows = await database.fork().find(Erasure, {});
  const recordedIds = new Set(rows.map(({ id }) => id));
  const unrecordedIds = [...stored].filter((id) => !recordedIds.has(id));
  // A store that another deployment uses may name people and builders that are in use here.
  if (unrecordedIds.length > 0) await rejectForeignBucket(database, storage);
  const result = { applied: 0, stored: 0 };
  await runAll([
    ...unrecordedIds.map((id) => async () => {
      const erasure = await readStoredErasure(storage, id);
      if (erasure?.kind === 'BUILDER') await insertBuilderErasure(context, erasure);
      if (erasure?.kind !== 'PERSON') return;
      await executePersonErasure(context, erasure);
      result.applied++;
    }),
    ...rows.filter(({ id }) => stored.has(id)).map((row) => () => mergeCancellation(context, row)),
    async () => {
      const open = await findOpenErasures(database, 'PERSON');
      await runAll(
        open.map(({ erasure, isUndone }) => async () => {
          if (!isUndone && erasure.completedAt !== null) return deletePendingFiles(context, erasure.id);
          await executePersonErasure(context, erasure);
          result.applied++;
        }),
      );
    },
    ...rows.map((row) => async () => {
      // An erasure of a person that was begun is listed before its row exists.
      if (stored.has(row.id) || (row.kind === 'PERSON' && row.completedAt === null)) return;
      await storeErasure(storage, row);
      result.stored++;
    }),
  ]);
  return result;
}

/** Runs the work in order. An erasure that fails does not prevent the others; the first error is thrown at the end. */
async function runAll(work: readonly (() => Promise<unknown>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const each of work) await each().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

/** Inserts the erasure of a builder that was scheduled after the backup, unless another one is open. */
const insertBuilderErasure = (context: PrivacyContext, erasure: ListedErasure) =>
  inTransaction(context, async (em, _now, record) => {
    await recordErasure(em, erasure, null);
    const added = await em.findOne(Erasure, { id: erasure.id, cancelledAt: null });
    if (!added) return;
    const [builderId] = added.subjectIds as [string];
    await record({
      action: 'builder.erasure_scheduled',
      objectId: builderId,
      builderId,
      after: { effectiveAt: added.dueAt },
    });
  });

/**
 * Cancels the scheduled erasure of a builder that the storage has as cancelled: after a restore from a backup before the cancellation, or
 * when the process ended between the two. In the other direction, stores what the database alone has as cancelled.
 */
async function mergeCancellation(context: PrivacyContext, row: Erasure): Promise<void> {
  if (row.kind !== 'BUILDER' || row.completedAt !== null) return;
  const { storage } = context;
  const stored = await readStoredErasure(storage, row.id);
  if (!stored || stored.cancelledAt === row.cancelledAt) return;
  if (row.cancelledAt !== null) return storeErasure(storage, row);
  await inTransaction(context, async (em, _now, record) => {
    const cancelled = { cancelledAt: stored.cancelledAt };
    if ((await em.nativeUpdate(Erasure, { id: row.id, cancelledAt: null, completedAt: null }, cancelled)) === 0) return;
    const [builderId] = row.subjectIds as [string];
    const before = { effectiveAt: row.dueAt };
    await record({ action: 'builder.erasure_cancelled', objectId: builderId, builderId, before });
  });
}

/**
 * Erases the builders whose grace period has ended, and those that a restore has brought back (PRV-6, PRV-8). Returns null if another
 * instance is doing it.
 */
export const eraseDueBuilders = (context: PrivacyContext): Promise<{ builders: number } | null> =>
  tryWithAdvisoryLock(context.database.url, BUILDER_LOCK, async () => {
    const due = await findOpenErasures(context.database, 'BUILDER');
    let builders = 0;
    await runAll(
      due.map(({ erasure }) => async () => {
        if (await executeBuilderErasure(context, erasure)) builders++;
      }),
    );
    return { builders };
  });

/** A record can be part of several erasures. */
const hasNoPseudonym = (name: string) =>
  `not exists (select from erasure o where o.subject_ids @> array[r.id] and o.pseudonym = ${name})`;

/** Finds the erasures that are due and incomplete, or whose records are there again. */
async function findOpenErasures(
  database: Database,
  kind: ErasureKind,
): Promise<{ erasure: Erasure; isUndone: boolean }[]> {
  const em = database.fork();
  // Not this instance's clock: a wrong one must not end a grace period.
  const now = new Date(await database.now()).toISOString();
  const rows = await em.execute<{ id: string; undone: boolean }[]>(
    `select id, undone from (
      select id, requested_at, completed_at, pending_keys, case kind
        when 'BUILDER' then exists (select from builder r where r.id = any(subject_ids))
        else exists (select from contact r where r.id = any(subject_ids))
          or exists (select from app_user r where r.id = any(subject_ids)
            and (${hasNoPseudonym('r.name')} or r.email not like '%${NO_DOMAIN}' or r.picture_key is not null))
          or exists (select from worker r where r.id = any(subject_ids) and ${hasNoPseudonym('r.full_name')})
          or exists (select from person_profile r where r.id = any(subject_ids) and ${hasNoPseudonym('r.full_name')})
        end as undone
      from erasure where kind = ? and cancelled_at is null and (kind = 'PERSON' or due_at <= ?)) due
    where undone or completed_at is null or pending_keys <> '{}' order by requested_at, id`,
    [kind, now],
  );
  const erasures = await em.find(Erasure, { id: { $in: rows.map(({ id }) => id) } });
  const byId = new Map(erasures.map((erasure) => [erasure.id, erasure]));
  return rows.map(({ id, undone }) => ({ erasure: byId.get(id)!, isUndone: undone }));
}

/** Creates the hourly job that applies erasures which are due, interrupted or undone. */
export const createErasureJob = (databases: Databases, storages: Storages, clock: Clock): Job => ({
  name: 'erasures',
  everyMs: INTERVAL_MS,
  run: async (region) => {
    const context = { database: databases[region], storage: storages[region], clock, source: JOB_SOURCE };
    const erasePeople = () => tryWithAdvisoryLock(context.database.url, PEOPLE_LOCK, () => applyErasures(context));
    const counts = {};
    await runAll([
      async () => Object.assign(counts, await erasePeople()),
      async () => Object.assign(counts, await eraseDueBuilders(context)),
    ]);
    return counts;
  },
});

/** The service itself, for the audit log. */
export const JOB_SOURCE = { actor: { type: 'JOB', id: 'erasures' }, origin: {} } as const;
