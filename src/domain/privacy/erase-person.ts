import { randomBytes } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import { Erasure } from '../../../entities/erasure.entity.ts';
import type { Database } from '../../database/database.ts';
import { withAdvisoryLock } from '../../database/write/advisory-lock.ts';
import { runUnboundedTransaction } from '../../database/write/unbounded-transaction.ts';
import type { Clock } from '../../shared/clock.ts';
import { newId } from '../../shared/ids.ts';
import type { Storage } from '../../storage/storage.ts';
import { pseudonymizeAuditLog } from '../audit/maintain-audit-log.ts';
import { type AuditSource, recordAudit } from '../audit/record-audit.ts';
import { rejectForeignBucket } from '../uploads/bucket-owner.ts';
import { type ErasedMentions, eraseMentions, findKeptMentions, type KeptMention } from './erase-mentions.ts';
import { type EndedMembership, eraseRecords, recordEndedMemberships } from './erase-records.ts';
import { findPseudonym, insertErasure, type ListedErasure, storeErasure } from './erasure-list.ts';
import type { BuilderNames } from './mention-rows.ts';
import { NO_DOMAIN, type Replacement } from './mentions.ts';
import { groupPersonIds, loadPerson, toArray, UnknownPersonError } from './person.ts';
import { listPersonalTables } from './personal-tables.ts';

/** Advisory lock: people are erased one after the other, so that one who is erased twice at the same time gets one pseudonym. */
export const PEOPLE_LOCK = 'builder-integration-api erasures of people';

/** What erasures and exports of a region use. */
export interface PrivacyContext {
  database: Database;
  storage: Storage;
  clock: Clock;
  source: AuditSource;
}

interface ErasedPerson extends ErasedMentions {
  erasureId: string;
  /** Texts with a name of one word or of another person, for the operator to look at. */
  keptMentions: KeptMention[];
  pseudonym: string;
  /** Number of deleted objects of the storage. */
  storedFiles: number;
}

/**
 * Erases the person with these records: users, workers, profiles and contacts (PRV-3, PRV-4). The erasure is stored outside of the database
 * first, then the database changes in one transaction with the audit entry, then the person's files are deleted. Interrupted anywhere,
 * `replayErasures` completes it. Throws `UnknownPersonError` if a record does not exist.
 */
export const erasePerson = (
  context: PrivacyContext,
  subjectIds: readonly string[],
  reason: string | null = null,
): Promise<ErasedPerson> =>
  withAdvisoryLock(context.database.url, PEOPLE_LOCK, () => listAndErase(context, subjectIds, reason));

async function listAndErase(
  context: PrivacyContext,
  subjectIds: readonly string[],
  reason: string | null,
): Promise<ErasedPerson> {
  const ids = groupPersonIds(subjectIds);
  const tables = listPersonalTables(context.database.metadata);
  const { person, missing } = await loadPerson(context.database.fork(), tables, ids);
  if (missing.length > 0) throw new UnknownPersonError(missing);
  const at = context.clock.now();
  const pseudonym = (await findPseudonym(context.database.fork(), subjectIds)) ?? createPseudonym();
  const erasure: ListedErasure = {
    id: newId('erasure', at),
    kind: 'PERSON',
    subjectIds: [...new Set(subjectIds)],
    builderIds: person.builderIds,
    pseudonym,
    requestedAt: new Date(at).toISOString(),
    dueAt: new Date(at).toISOString(),
    cancelledAt: null,
  };
  await rejectForeignBucket(context.database, context.storage);
  await storeErasure(context.storage, erasure);
  const { names, ...erased } = await executePersonErasure(context, erasure, reason);
  return { ...erased, keptMentions: await findKeptMentions(context.database.fork(), tables, names) };
}

/** Executes an erasure of the list, which may have been executed before. The caller holds `PEOPLE_LOCK`. */
export async function executePersonErasure(
  context: PrivacyContext,
  erasure: ListedErasure,
  reason: string | null = null,
): Promise<Omit<ErasedPerson, 'keptMentions'> & { names: BuilderNames[] }> {
  const { database } = context;
  const erased = await runUnboundedTransaction(database, (em) => erasePersonRows(em, context, erasure, reason));
  const storedFiles = await deletePendingFiles(context, erasure.id);
  return { erasureId: erasure.id, pseudonym: erasure.pseudonym!, ...erased, storedFiles };
}

async function erasePersonRows(
  em: EntityManager,
  { database, clock, source }: PrivacyContext,
  erasure: ListedErasure,
  reason: string | null,
): Promise<ErasedMentions & { names: BuilderNames[] }> {
  const tables = listPersonalTables(database.metadata);
  const now = new Date(clock.now()).toISOString();
  const pseudonym = erasure.pseudonym!;
  const ids = groupPersonIds(erasure.subjectIds);
  const { person } = await loadPerson(em, tables, ids);
  // An erased user is a member of no builder any longer.
  person.builderIds = [...new Set([...person.builderIds, ...erasure.builderIds])];
  // A record that was erased before names no person.
  person.names = person.names.filter((name) => name !== pseudonym);
  person.emails = person.emails.filter((email) => !email.endsWith(NO_DOMAIN));
  const replacement = toReplacement(pseudonym);
  const mentions = await eraseMentions(em, tables, person, replacement, now);
  const memberships = await em.execute<EndedMembership[]>(
    'select user_id as "userId", builder_id as "builderId", role from membership where user_id = any(?::text[]) order by 1, 2',
    [toArray(ids.user)],
  );
  await recordEndedMemberships(em, source, now, memberships);
  const records = await eraseRecords(em, tables, ids, pseudonym, now);
  await insertErasure(em, erasure);
  let entries = 0;
  for (const id of erasure.subjectIds) entries += await pseudonymizeAuditLog(em, id, pseudonym);
  const rows = sumCounts(records.rows, mentions.rows, entries > 0 ? { AuditEntry: entries } : {});
  await em.execute('update erasure set completed_at = ?, pending_keys = pending_keys || ?::text[] where id = ?', [
    now,
    toArray(records.storageKeys),
    erasure.id,
  ]);
  await recordAudit(em, {
    ...{ ...source, at: now, action: 'person.erased', objectId: pseudonym, personId: pseudonym },
    after: { categories: Object.keys(rows), rows, storedFiles: records.storageKeys.length, reason },
  });
  return { ...mentions, rows };
}

/** Deletes the files that the erasure has left. Returns their number. */
export async function deletePendingFiles({ database, storage }: PrivacyContext, erasureId: string): Promise<number> {
  const em = database.fork();
  const erasure = await em.findOneOrFail(Erasure, { id: erasureId });
  if (erasure.pendingKeys.length === 0) return 0;
  await storage.byteStore.remove(erasure.pendingKeys);
  await em.nativeUpdate(Erasure, { id: erasureId }, { pendingKeys: [] });
  return erasure.pendingKeys.length;
}

const PSEUDONYM = 'Erased person ';

const createPseudonym = (): string => `${PSEUDONYM}${randomBytes(5).toString('hex')}`;

const toReplacement = (pseudonym: string): Replacement => ({
  pseudonym,
  email: `${pseudonym.slice(PSEUDONYM.length)}${NO_DOMAIN}`,
});

function sumCounts(...counts: Record<string, number>[]): Record<string, number> {
  const sum: Record<string, number> = {};
  for (const [name, count] of counts.flatMap(Object.entries) as [string, number][])
    sum[name] = (sum[name] ?? 0) + count;
  return sum;
}
