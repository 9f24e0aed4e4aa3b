import type { EntityManager } from '@mikro-orm/postgresql';
import { Snapshot } from '../../../entities/snapshot.entity.ts';
import { newId } from '../../../schema/ids.ts';
import { SNAPSHOT_RESOURCES, SNAPSHOT_SCOPES, type SnapshotResource } from '../../../schema/snapshot.scalars.ts';
import { Reader } from '../../database/read/reader.ts';
import { acquireRecordLock } from '../../database/write/advisory-lock.ts';
import { conflict, insufficientScope, notFound, rateLimited } from '../../shared/errors.ts';
import { SIGNED_URL_SECONDS } from '../../storage/storage.ts';
import { type AuditSource, recordAudit } from '../audit/record-audit.ts';
import { type ClaimKey, createOnce, type IdempotentRequest } from '../create-once.ts';
import type { OperationContext } from '../operation-context.ts';
import { requireQuota } from '../uploads/quota.ts';
import { endSnapshots, removeEndedFiles } from './end-snapshots.ts';

/** Snapshots of an integrator and builder in a day (SNP-4). */
export const MAX_PER_DAY = 10;

const DAY_MS = 24 * 3_600_000;

/**
 * Snapshots of an integrator that the caller may see: it has their scopes, and so has the connection (SNP-3). SQL: a condition on a
 * table to which the entity has no relation.
 */
export const snapshots = new Reader(Snapshot, {
  filters: {
    integratorId: { column: 'integrator_id', op: 'eq' },
    scopes: {
      sql: `t.scopes <@ :scopes::text[] and exists (select from connection where connection.integrator_id = t.integrator_id
        and connection.builder_id = t.builder_id and connection.status = 'ACTIVE' and t.scopes <@ connection.scopes)`,
    },
  },
  condition: 't.deleted_at is null',
  exclude: [
    'clientId',
    'scopes',
    'deletedAt',
    'downloadedAt',
    'attempts',
    'leasedUntil',
    'erasures',
    'bytes',
    'hasFiles',
  ],
});

/** A client of an integrator, and what it may read. */
interface SnapshotCaller {
  readonly integratorId: string;
  readonly clientId: string;
  /** Scopes of the token. */
  readonly scopes: ReadonlySet<string>;
  /** Scopes that each connected builder allows. */
  readonly connections: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Context of a client's operation on snapshots. */
export interface SnapshotContext extends OperationContext {
  readonly caller: SnapshotCaller;
  readonly source: AuditSource;
}

/** A snapshot that is requested; null resources for all that the client may read. */
interface NewSnapshot {
  builderId: string;
  resources?: readonly SnapshotResource[] | null;
}

/**
 * Stores a request for a snapshot of a connected builder (SNP-1). Throws `INSUFFICIENT_SCOPE` with the missing scopes, `SNAPSHOT_RUNNING`
 * while another one of the builder is written, and `RATE_LIMITED` or `UPLOAD_QUOTA`.
 */
export function createSnapshot(
  context: SnapshotContext,
  input: NewSnapshot,
  request: IdempotentRequest | null,
): Promise<Snapshot> {
  const resources = chooseResources(context.caller, input);
  const { integratorId } = context.caller;
  const find = async (em: EntityManager, id: string) => {
    const earlier = await em.findOne(Snapshot, { id, integratorId, deletedAt: null });
    if (earlier) requireScopesOf(context.caller, earlier);
    return earlier;
  };
  const create = (claim: ClaimKey) => insertSnapshot(context, input.builderId, resources, claim);
  return createOnce(context.database, request, find, create);
}

async function insertSnapshot(
  context: SnapshotContext,
  builderId: string,
  resources: SnapshotResource[],
  claim: ClaimKey,
): Promise<Snapshot> {
  const { clock, database, source } = context;
  const { integratorId, clientId } = context.caller;
  await requireQuota(context, 1);
  const now = clock.now();
  const createdAt = new Date(now).toISOString();
  const scopes = [...new Set(resources.map((resource) => SNAPSHOT_SCOPES[resource]))];
  const row = { id: newId('snapshot', now), integratorId, clientId, builderId, resources, scopes, createdAt };
  return database.transaction(async (em) => {
    await claim(em, row.id);
    await acquireRecordLock(em, `snapshots ${integratorId} ${builderId}`);
    if (await em.findOne(Snapshot, { integratorId, builderId, status: { $in: ['PENDING', 'RUNNING'] } }))
      throw conflict('SNAPSHOT_RUNNING', 'A snapshot of the builder is being written. Wait for it, or delete it.');
    await requireDayBudget(em, { integratorId, builderId }, now);
    await em.insert(Snapshot, { ...row, status: 'PENDING' } as never);
    const entry = {
      action: 'snapshot.created',
      objectId: row.id,
      builderId,
      integratorId,
      after: { resources },
    } as const;
    await recordAudit(em, { ...source, at: createdAt, ...entry });
    return em.findOneOrFail(Snapshot, { id: row.id });
  });
}

function chooseResources(caller: SnapshotCaller, { builderId, resources }: NewSnapshot): SnapshotResource[] {
  const requested = SNAPSHOT_RESOURCES.filter((resource) => !resources || resources.includes(resource));
  const missing = findMissingScopes(
    caller,
    builderId,
    requested.map((resource) => SNAPSHOT_SCOPES[resource]),
  );
  const readable = requested.filter((resource) => !missing.includes(SNAPSHOT_SCOPES[resource]));
  if (resources ? missing.length > 0 : readable.length === 0) throw missingScopes(missing);
  return readable;
}

const findMissingScopes = (
  { scopes, connections }: SnapshotCaller,
  builderId: string,
  required: readonly string[],
): string[] => {
  const isMissing = (scope: string) => !scopes.has(scope) || !connections.get(builderId)?.has(scope);
  return [...new Set(required)].filter(isMissing).sort();
};

const missingScopes = (missing: readonly string[]) =>
  insufficientScope(
    missing.join(' '),
    `A snapshot needs the scope of each of its resources, in the token and in the builder's connection, of which these are missing: ${missing.join(' ')}.`,
  );

async function requireDayBudget(
  em: EntityManager,
  owner: Pick<Snapshot, 'integratorId' | 'builderId'>,
  now: number,
): Promise<void> {
  const where = { ...owner, createdAt: { $gt: new Date(now - DAY_MS).toISOString() } };
  const page = { orderBy: { createdAt: 'desc' }, limit: 1, offset: MAX_PER_DAY - 1 } as const;
  const [oldest] = await em.find(Snapshot, where, { ...page, fields: ['createdAt'] });
  if (oldest) throw rateLimited(Math.ceil((Date.parse(oldest.createdAt) + DAY_MS - now) / 1000));
}

/**
 * Returns the snapshot, with URLs of its files. Records their use in the audit log, once in the time for which they are valid. Throws
 * `NOT_FOUND`, and `INSUFFICIENT_SCOPE` with the missing scopes.
 */
export async function getSnapshot(context: SnapshotContext, id: string): Promise<Snapshot> {
  const { clock, database, source, storage } = context;
  await endSnapshots(database, clock.now(), id);
  const snapshot = await requireOwnSnapshot(context, id);
  if (snapshot.status !== 'READY') return snapshot;
  const now = new Date(clock.now()).toISOString();
  const recorded = new Date(clock.now() - SIGNED_URL_SECONDS * 1000).toISOString();
  await database.transaction(async (em) => {
    const where = { id, $or: [{ downloadedAt: null }, { downloadedAt: { $lte: recorded } }] };
    if ((await em.nativeUpdate(Snapshot, where, { downloadedAt: now })) === 0) return;
    const { builderId, integratorId, resources, progress, bytes } = snapshot;
    const after = { resources, records: progress.done, bytes: Number(bytes) };
    const entry = { action: 'snapshot.downloaded', objectId: id, builderId, integratorId, after } as const;
    await recordAudit(em, { ...source, at: now, ...entry });
  });
  for (const file of snapshot.files) {
    file.url = storage.createDownloadUrl(file.key, 'application/gzip', `${file.resource}.ndjson.gz`);
  }
  return snapshot;
}

/** Cancels or removes the snapshot, and deletes its files. */
export async function deleteSnapshot(context: SnapshotContext, id: string): Promise<Snapshot> {
  const { clock, database, source, storage } = context;
  const { integratorId, builderId } = await requireOwnSnapshot(context, id);
  const now = new Date(clock.now()).toISOString();
  await database.transaction(async (em) => {
    if ((await em.nativeUpdate(Snapshot, { id, deletedAt: null }, { deletedAt: now })) === 0)
      throw notFound('Snapshot');
    await recordAudit(em, { ...source, at: now, action: 'snapshot.deleted', objectId: id, builderId, integratorId });
  });
  await endSnapshots(database, clock.now(), id);
  await removeEndedFiles(database, storage, id).catch(() => undefined);
  return database.fork().findOneOrFail(Snapshot, { id });
}

/** Returns a snapshot of the integrator, without URLs. */
async function requireOwnSnapshot({ database, caller }: SnapshotContext, id: string): Promise<Snapshot> {
  const { integratorId, connections } = caller;
  const snapshot = await database.fork().findOne(Snapshot, { id, integratorId, deletedAt: null });
  if (!snapshot || !connections.has(snapshot.builderId)) throw notFound('Snapshot');
  requireScopesOf(caller, snapshot);
  return snapshot;
}

function requireScopesOf(caller: SnapshotCaller, { builderId, scopes }: Snapshot): void {
  const missing = findMissingScopes(caller, builderId, scopes);
  if (missing.length > 0) throw missingScopes(missing);
}
