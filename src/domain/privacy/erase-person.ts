import { randomBytes } from 'node:crypto';
import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { Erasure } from '../../../entities/erasure.entity.ts';
import { Membership } from '../../../entities/membership.entity.ts';
import { User } from '../../../entities/user.entity.ts';
import { newId } from '../../../schema/ids.ts';
import { toArrayText } from '../../database/array-text.ts';
import { withAdvisoryLock } from '../../database/write/advisory-lock.ts';
import { runUnboundedTransaction } from '../../database/write/unbounded-transaction.ts';
import type { Storage } from '../../storage/storage.ts';
import { isOfErased, NO_DOMAIN } from '../access/access-values.ts';
import { recordErasure } from '../audit/maintain-audit-log.ts';
import type { ChangeContext } from '../change-context.ts';
import { rejectForeignBucket } from '../uploads/bucket-owner.ts';
import { eraseRecords, recordEndedMemberships } from './erase-records.ts';
import { eraseStructures } from './erase-structures.ts';
import { findErasures, type ListedErasure, storeErasure } from './erasure-list.ts';
import { type FoundText, findTexts, selectFormerNames } from './find-texts.ts';
import { groupPersonIds, loadPerson, UnknownPersonError } from './person.ts';
import { listPersonalTables } from './personal-tables.ts';

/** Advisory lock: people are erased one after the other, so that one who is erased twice at the same time gets one pseudonym. */
export const PEOPLE_LOCK = 'builder-integration-api erasures of people';

/** What erasures and exports of a region use. */
export interface PrivacyContext extends ChangeContext {
  storage: Storage;
}

interface ErasedRows {
  /** Number of changed rows by class name of the table. */
  rows: Record<string, number>;
  /** Texts that name the person, which the erasure leaves. */
  texts: FoundText[];
}

interface ErasedPerson extends ErasedRows {
  erasureId: string;
  pseudonym: string;
  /** Number of deleted objects of the storage. */
  storedFiles: number;
}

/**
 * Erases the person with these records: users, workers, profiles and contacts (PRV-3), and stores where texts name the person (PRV-4). The
 * erasure is stored outside of the database first, then the database changes in one transaction with the audit entry, then the person's
 * files are deleted. Interrupted anywhere, `replayErasures` completes it. Throws `UnknownPersonError` if a record does not exist, and
 * `Rollback` where `isWanted`, which is called when the user can no longer become a member, says so.
 */
export const erasePerson = (
  context: PrivacyContext,
  subjectIds: readonly string[],
  reason: string | null = null,
  isWanted = async (_: EntityManager) => true,
): Promise<ErasedPerson> =>
  withAdvisoryLock(context.database.url, PEOPLE_LOCK, async () => {
    const erasure = await createErasure(context, subjectIds);
    await rejectForeignBucket(context.database, context.storage);
    return executePersonErasure(context, erasure, reason, async (em) => {
      if (!(await isWanted(em))) throw new Rollback();
      await storeErasure(context.storage, erasure);
    });
  });

/** Ends the transaction of a preview, or of an erasure that is not to be. */
class Rollback extends Error {}

export function ignoreRollback(error: unknown): void {
  if (!(error instanceof Rollback)) throw error;
}

/** Returns the texts that an erasure of the person would leave: erases the person, finds the texts, and rolls everything back. */
export async function previewErasure(context: PrivacyContext, subjectIds: readonly string[]): Promise<FoundText[]> {
  const erasure = await createErasure(context, subjectIds);
  let texts: FoundText[] = [];
  await runUnboundedTransaction(context.database, async (em) => {
    ({ texts } = await erasePersonRows(em, context, erasure, null));
    throw new Rollback();
  }).catch(ignoreRollback);
  return texts;
}

async function createErasure(context: PrivacyContext, subjectIds: readonly string[]): Promise<ListedErasure> {
  const { database, clock } = context;
  const em = database.fork();
  const { person, missing } = await loadPerson(em, listPersonalTables(database.metadata), groupPersonIds(subjectIds));
  if (missing.length > 0) throw new UnknownPersonError(missing);
  const now = new Date(clock.now()).toISOString();
  return {
    id: newId('erasure', Date.parse(now)),
    kind: 'PERSON',
    subjectIds: [...new Set(subjectIds)],
    builderIds: person.builderIds,
    // That of an earlier erasure of one of the records.
    pseudonym: (await findErasures(em, subjectIds))[0]?.pseudonym ?? createPseudonym(),
    requestedAt: now,
    dueAt: now,
    cancelledAt: null,
  };
}

/** Executes an erasure of the list, which may have been executed before. The caller holds `PEOPLE_LOCK`. */
export async function executePersonErasure(
  context: PrivacyContext,
  erasure: ListedErasure,
  reason: string | null = null,
  begin?: (em: EntityManager) => Promise<void>,
): Promise<ErasedPerson> {
  const { database } = context;
  const erased = await runUnboundedTransaction(database, (em) => erasePersonRows(em, context, erasure, reason, begin));
  const storedFiles = await deletePendingFiles(context, erasure.id);
  return { erasureId: erasure.id, pseudonym: erasure.pseudonym!, ...erased, storedFiles };
}

async function erasePersonRows(
  em: EntityManager,
  { database, clock, source }: PrivacyContext,
  erasure: ListedErasure,
  reason: string | null,
  begin?: (em: EntityManager) => Promise<void>,
): Promise<ErasedRows> {
  const tables = listPersonalTables(database.metadata);
  const now = new Date(clock.now()).toISOString();
  const pseudonym = erasure.pseudonym!;
  const ids = groupPersonIds(erasure.subjectIds);
  // A change by the person, which has the name, is committed before or finds the account disabled.
  await em.find(
    User,
    { id: { $in: ids.user } },
    { fields: ['id'], orderBy: { id: 'asc' }, lockMode: LockMode.PESSIMISTIC_WRITE },
  );
  await begin?.(em);
  const { person } = await loadPerson(em, tables, ids);
  // An erased user is a member of no builder any longer.
  person.builderIds = [...new Set([...person.builderIds, ...erasure.builderIds])];
  // A record that was erased before names no person.
  person.names = person.names.filter((name) => name !== pseudonym);
  person.emails = person.emails.filter((email) => !isOfErased(email));
  const formerNames = (await selectFormerNames(em, erasure.subjectIds)).filter((name) => name !== pseudonym);
  const email = `${pseudonym.slice(PSEUDONYM.length)}${NO_DOMAIN}`;
  // Before the audit log is changed, which says who closed a visit.
  const structures = await eraseStructures(em, person, { pseudonym, email }, now);
  const memberships = await em.find(
    Membership,
    { userId: { $in: ids.user } },
    { orderBy: { userId: 'asc', builderId: 'asc' }, lockMode: LockMode.PESSIMISTIC_WRITE },
  );
  await recordEndedMemberships(em, source, now, memberships);
  const records = await eraseRecords(em, tables, ids, pseudonym, now);
  const texts = await findTexts(em, tables, { ...person, names: [...person.names, ...formerNames] });
  const rows = sumCounts(records.rows, structures);
  const counts = { rows, storedFiles: records.storageKeys.length, texts: texts.length };
  const after = { categories: [...Object.keys(rows), 'AuditEntry'], ...counts, reason };
  const change = { ...source, at: now, objectId: pseudonym, personId: pseudonym, after };
  const changedEntries = await recordErasure(em, erasure, { ...change, action: 'person.erased' });
  const places = texts.map(({ table, id, column }) => ({ table, id, column }));
  // Earlier ones too, which no row names.
  const pictures = ids.user.map((id) => `pictures/${id}/`);
  await em.execute(
    `update erasure set completed_at = clock_timestamp(), builder_ids = ?::text[], pending_keys = pending_keys || ?::text[], places = (
      select coalesce(jsonb_agg(distinct place), '[]') from jsonb_array_elements(places || ?::jsonb) place) where id = ?`,
    [toArrayText(person.builderIds), toArrayText(pictures), JSON.stringify(places), erasure.id],
  );
  return { rows: changedEntries > 0 ? { ...rows, AuditEntry: changedEntries } : rows, texts };
}

/** Deletes the files that the erasure has left. Returns their number. */
export async function deletePendingFiles({ database, storage }: PrivacyContext, erasureId: string): Promise<number> {
  const em = database.fork();
  const erasure = await em.findOneOrFail(Erasure, { id: erasureId });
  if (erasure.pendingKeys.length === 0) return 0;
  let files = 0;
  for (const folder of erasure.pendingKeys) files += await storage.removeFolder(folder);
  await em.nativeUpdate(Erasure, { id: erasureId }, { pendingKeys: [] });
  return files;
}

const PSEUDONYM = 'Erased person ';

const createPseudonym = (): string => `${PSEUDONYM}${randomBytes(5).toString('hex')}`;

function sumCounts(...counts: Record<string, number>[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const [name, count] of counts.flatMap(Object.entries) as [string, number][])
    sum[name] = (sum[name] ?? 0) + count;
  return sum;
}
