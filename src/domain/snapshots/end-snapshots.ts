import { Snapshot } from '../../../entities/snapshot.entity.ts';
import type { Database } from '../../database/database.ts';
import { statement } from '../../database/pool/pg-pipeline.ts';
import type { Storage } from '../../storage/storage.ts';

/** Processes that may begin to write a snapshot: what ends every process is given up. */
const MAX_ATTEMPTS = 5;

// SQL: conditions on tables to which the entity has no relations.

/** Whether the client that created the snapshot may still read all of it (SNP-3). */
export const IS_ALLOWED = `exists (select from connection join oauth_client client on client.integrator_id = connection.integrator_id
  where client.id = snapshot.client_id and client.disabled_at is null and 'client_credentials' = any(client.grants) and snapshot.scopes <@ client.scopes
    and connection.builder_id = snapshot.builder_id and connection.status = 'ACTIVE' and snapshot.scopes <@ connection.scopes)`;

/**
 * Number of the erasures of people in the records of a builder, where staff may be in those of any, and the time of the last: an import or
 * restore may have one repeated.
 */
export const countErasures = (
  builder: string,
) => `(select concat(count(*), ' ', extract(epoch from max(completed_at))) from erasure
  where kind = 'PERSON' and completed_at is not null and (${builder} = any(builder_ids)
    or exists (select from app_user where app_user.id = any(subject_ids) and staff_role is not null)))`;

const END_FORBIDDEN = statement('snapshots.end')`
  update snapshot set status = case status when 'READY' then 'EXPIRED' else 'FAILED' end,
    finished_at = coalesce(finished_at, $1::timestamptz), files = '[]'
  where status in ('PENDING', 'RUNNING', 'READY') and ($2::text is null or id = $2)
    and (deleted_at is not null or expires_at <= $1::timestamptz or not ${IS_ALLOWED} or erasures <> ${countErasures('snapshot.builder_id')}
      or (attempts >= ${MAX_ATTEMPTS} and leased_until < clock_timestamp() and status = 'RUNNING'))`;

/**
 * Ends the snapshots that were deleted, whose time is over, whose client may not read them any more, whose builder's records had a person erased
 * since, and those that no process could write. They are looked up, and not ended where access is changed, so that nothing that interrupts a
 * change keeps a file.
 *
 * @param now milliseconds since the Unix epoch.
 * @param id of the only one to look at.
 */
export async function endSnapshots({ backgroundRunner }: Database, now: number, id: string | null = null) {
  await backgroundRunner.run(END_FORBIDDEN, [new Date(now).toISOString(), id]);
}

/** Removes the files of ended snapshots, also of attempts that were interrupted. @param id of the only one to look at. */
export async function removeEndedFiles(database: Database, storage: Storage, id?: string): Promise<void> {
  const em = database.fork();
  const where = { hasFiles: true, status: { $in: ['FAILED', 'EXPIRED'] }, ...(id && { id }) } as const;
  for (const ended of await em.find(Snapshot, where, { fields: ['id', 'builderId'] })) {
    await storage.removeFolder(toFolder(ended));
    await em.nativeUpdate(Snapshot, { id: ended.id }, { hasFiles: false });
  }
}

/** Folder of the files of a snapshot, below that of its builder, and of one attempt to write it. */
export const toFolder = ({ id, builderId }: Pick<Snapshot, 'id' | 'builderId'>, attempt?: number) =>
  `snapshots/${builderId}/${id}/${attempt === undefined ? '' : `${attempt}/`}`;
