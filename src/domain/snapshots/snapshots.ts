import type { EntityManager } from '@mikro-orm/postgresql';
import { Snapshot } from '../../../entities/snapshot.entity.ts';
import { newId } from '../../../schema/ids.ts';
import { SNAPSHOT_RESOURCES, SNAPSHOT_SCOPES, type SnapshotResource } from '../../../schema/snapshot.scalars.ts';
import { Reader } from '../../database/read/reader.ts';
import { acquireRecordLock } from '../../database/write/advisory-lock.ts';
import { DAY_MS } from '../../shared/clock.ts';
import { conflict, insufficientScope, notFound, rateLimited } from '../../shared/errors.ts';
import { SIGNED_URL_SECONDS } from '../../storage/storage.ts';
import type { AuditSource } from '../audit/record-audit.ts';
import { inTransaction } from '../change-context.ts';
import { type ClaimKey, createOnce, type IdempotentRequest } from '../create-once.ts';
import type { OperationContext } from '../operation-context.ts';
import { requireFound } from '../require-found.ts';
import { requireQuota } from '../uploads/quota.ts';
import { endSnapshots, removeEndedFiles } from './end-snapshots.ts';

/** Snapshots of an integrator and builder in a day (SNP-4). */
const MAX_PER_DAY = 10;

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
});

/** Context of a client's operation on snapshots. */
export interface SnapshotContext extends OperationContext {
  readonly source: AuditSource;
  readonly caller: {
    readonly integratorId: string;
    readonly clientId: string;
    /** Scopes of the token. */
    readonly scopes: ReadonlySet<string>;
    /** Scopes that each connected builder allows. */
    readonly connections: ReadonlyMap<string, ReadonlySet<string>>;
  };
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
  const resources = chooseResources(context, input);
  const scopes = [...new Set(resources.map((resource) => SNAPSHOT_SCOPES[resource]))];
  const { integratorId, clientId } = context.caller;
  const { builderId } = input;
  const create = async (claim: ClaimKey) => {
    await requireQuota(context, 1);
    return inTransaction(context, async (em, createdAt, record) => {
      const now = Date.parse(createdAt);
      const id = newId('snapshot', now);
      await claim(em, id);
      await acquireRecordLock(em, `snapshots ${integratorId} ${builderId}`);
      if (await em.findOne(Snapshot, { integratorId, builderId, status: { $in: ['PENDING', 'RUNNING'] } }))
        throw conflict('SNAPSHOT_RUNNING', 'A snapshot of the builder is being written. Wait for it, or delete it.');
      const ofDay = { integratorId, builderId, createdAt: { $gt: new Date(now - DAY_MS).toISOString() } };
      const page = { orderBy: { createdAt: 'desc' }, limit: 1, offset: MAX_PER_DAY - 1 } as const;
      const [oldest] = await em.find(Snapshot, ofDay, page);
      if (oldest) throw rateLimited(Math.ceil((Date.parse(oldest.createdAt) + DAY_MS - now) / 1000));
      const row = { id, integratorId, clientId, builderId, resources, scopes, createdAt, status: 'PENDING' };
      await em.insert(Snapshot, row as never);
      await record({ action: 'snapshot.created', objectId: id, builderId, integratorId, after: { resources } });
      return em.findOneOrFail(Snapshot, { id });
    });
  };
  return createOnce(context.database, request, (em, id) => findOwnSnapshot(em, context, id), create);
}

function chooseResources(context: SnapshotContext, { builderId, resources }: NewSnapshot): SnapshotResource[] {
  const chosen = SNAPSHOT_RESOURCES.filter((resource) =>
    resources ? resources.includes(resource) : isReadable(context, builderId, SNAPSHOT_SCOPES[resource]),
  );
  const required = chosen.length > 0 ? chosen : SNAPSHOT_RESOURCES;
  requireScopes(
    context,
    builderId,
    required.map((resource) => SNAPSHOT_SCOPES[resource]),
  );
  return chosen;
}

const isReadable = ({ caller: { scopes, connections } }: SnapshotContext, builderId: string, scope: string) =>
  scopes.has(scope) && connections.get(builderId)?.has(scope);

function requireScopes(context: SnapshotContext, builderId: string, required: readonly string[]): void {
  const missing = required.filter((scope) => !isReadable(context, builderId, scope));
  if (missing.length === 0) return;
  const names = [...new Set(missing)].sort().join(' ');
  throw insufficientScope(
    names,
    `A snapshot needs the scope of each of its resources, in the token and in the builder's connection, of which these are missing: ${names}.`,
  );
}

/**
 * Returns the snapshot, with URLs of its files. Records their use in the audit log, once in the time for which they are valid. Throws
 * `NOT_FOUND`, and `INSUFFICIENT_SCOPE` with the missing scopes.
 */
export async function getSnapshot(context: SnapshotContext, id: string): Promise<Snapshot> {
  const { clock, database, storage } = context;
  await endSnapshots(database, clock.now(), id);
  const snapshot = await requireOwnSnapshot(context, id);
  if (snapshot.status !== 'READY') return snapshot;
  await inTransaction(context, async (em, now, record) => {
    const recorded = new Date(Date.parse(now) - SIGNED_URL_SECONDS * 1000).toISOString();
    const where = { id, $or: [{ downloadedAt: null }, { downloadedAt: { $lte: recorded } }] };
    if ((await em.nativeUpdate(Snapshot, where, { downloadedAt: now })) === 0) return;
    const { builderId, integratorId, resources, progress, files } = snapshot;
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    const after = { resources, records: progress.done, bytes };
    await record({ action: 'snapshot.downloaded', objectId: id, builderId, integratorId, after });
  });
  for (const file of snapshot.files) {
    file.url = storage.createDownloadUrl(file.key, 'application/gzip', `${file.resource}.ndjson.gz`);
  }
  return snapshot;
}

/** Cancels or removes the snapshot, and deletes its files. */
export async function deleteSnapshot(context: SnapshotContext, id: string): Promise<Snapshot> {
  const { clock, database, storage } = context;
  const { integratorId, builderId } = await requireOwnSnapshot(context, id);
  await inTransaction(context, async (em, now, record) => {
    if ((await em.nativeUpdate(Snapshot, { id, deletedAt: null }, { deletedAt: now })) === 0)
      throw notFound('Snapshot');
    await record({ action: 'snapshot.deleted', objectId: id, builderId, integratorId });
  });
  await endSnapshots(database, clock.now(), id);
  // The next run repeats what the storage rejects.
  await removeEndedFiles(database, storage, id).catch(() => undefined);
  return database.fork().findOneOrFail(Snapshot, { id });
}

const requireOwnSnapshot = (context: SnapshotContext, id: string): Promise<Snapshot> =>
  requireFound(findOwnSnapshot(context.database.fork(), context, id), 'Snapshot');

/** Returns a snapshot of the integrator, without URLs; null for none. Throws `INSUFFICIENT_SCOPE` with the missing scopes. */
async function findOwnSnapshot(em: EntityManager, context: SnapshotContext, id: string): Promise<Snapshot | null> {
  const { integratorId, connections } = context.caller;
  const snapshot = await em.findOne(Snapshot, { id, integratorId, deletedAt: null });
  if (!snapshot || !connections.has(snapshot.builderId)) return null;
  requireScopes(context, snapshot.builderId, snapshot.scopes);
  return snapshot;
}
