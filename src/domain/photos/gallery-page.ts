import type { EntityManager } from '@mikro-orm/postgresql';
import { acquireRecordLock } from '../../database/write/advisory-lock.ts';
import type { OperationContext } from '../operation-context.ts';

/** A page of another application, whose photos are synced (PHO-23). */
export interface SyncedPage {
  builderId: string;
  integratorId: string | null;
  sourceApp: string;
  pageExternalSourceId: string;
}

/** An active photo of a page. */
export interface PagePhoto {
  id: string;
  externalSourceId: string;
  projectId: string;
  folderId: string | null;
}

/** Field in the `metadata` of a photo that was archived because its page moved: the new project. */
const MOVED_TO = 'movedToProjectId';

/** SQL condition for rows of the page in a table or alias; `toPageValues` returns its parameters. */
const pageCondition = (row: string) =>
  `${row}.builder_id = ? and ${row}.integrator_id is not distinct from ? and ${row}.source_app = ?
   and ${row}.page_external_source_id = ?`;

const toPageValues = ({ builderId, integratorId, sourceApp, pageExternalSourceId }: SyncedPage) => [
  builderId,
  integratorId,
  sourceApp,
  pageExternalSourceId,
];

/**
 * Locks the page until the transaction ends, against concurrent syncs and deletions on all instances. To avoid deadlocks, transactions
 * of the gallery lock in this order: the page, uploads by key, folders by id, photos by id.
 */
export async function lockPage(em: EntityManager, page: SyncedPage): Promise<void> {
  const name = JSON.stringify(['photo page', ...toPageValues(page)]);
  await acquireRecordLock(em, name);
}

/** Returns the page that a bulk call names. */
export const toSyncedPage = (
  { caller }: OperationContext,
  builderId: string,
  { sourceApp, externalSourceId }: { sourceApp: string; externalSourceId: string },
): SyncedPage => ({ builderId, integratorId: caller.integratorId, sourceApp, pageExternalSourceId: externalSourceId });

/** Returns the active photos of the page in all projects. */
export async function findActivePhotos(em: EntityManager, page: SyncedPage): Promise<PagePhoto[]> {
  return em.execute(
    `select id, external_source_id as "externalSourceId", project_id as "projectId", folder_id as "folderId"
     from photo where ${pageCondition('photo')} and archived_at is null order by created_at, id`,
    toPageValues(page),
  ) as Promise<PagePhoto[]>;
}

/**
 * Archives the photos that are still active and returns their ids. Locks the rows in the order of their ids.
 *
 * @param movedTo project that the page moved to, or null if the page was deleted.
 */
export async function archivePhotos(
  em: EntityManager,
  ids: readonly string[],
  now: string,
  movedTo: string | null,
): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const addedMetadata = movedTo === null ? {} : { [MOVED_TO]: movedTo };
  const archived = (await em.execute(
    `with active as materialized (
       select id from photo where id in (select json_array_elements_text(?::json)) and archived_at is null order by id for update)
     update photo set archived_at = ?, updated_at = ?, metadata = metadata || ?::jsonb
     where id in (select id from active) returning id`,
    [JSON.stringify(ids), now, now, JSON.stringify(addedMetadata)],
  )) as { id: string }[];
  return new Set(archived.map(({ id }) => id));
}

/**
 * Returns the folder for the page's photos in a project: the given folder if it is usable, else the one that a sync created for the
 * page, else the one that contains its photos. Does not lock it: it may be deleted before `lockFolders`.
 */
export async function findPageFolder(
  em: EntityManager,
  page: SyncedPage,
  projectId: string,
  given: string | null,
): Promise<string | null> {
  const [row] = (await em.execute(
    `select f.id from photo_folder f
     where f.builder_id = ? and f.archived_at is null and (f.project_id = ? or f.project_id is null) and (f.id = ?
       or (f.project_id = ? and f.integrator_id is not distinct from ? and f.source_app = ? and f.page_external_source_id = ?)
       or f.id in (select folder_id from photo where ${pageCondition('photo')} and project_id = ? and archived_at is null))
     order by (f.id = ?) desc nulls last, (${pageCondition('f')}) desc nulls last, f.created_at desc limit 1`,
    [
      page.builderId,
      projectId,
      given,
      projectId,
      page.integratorId,
      page.sourceApp,
      page.pageExternalSourceId,
      ...toPageValues(page),
      projectId,
      given,
      ...toPageValues(page),
    ],
  )) as { id: string }[];
  return row?.id ?? null;
}

/** Returns the active folders that a sync created for the page, except those of one project. */
export async function findSyncedFolders(
  em: EntityManager,
  page: SyncedPage,
  exceptProjectId: string | null,
): Promise<string[]> {
  const rows = (await em.execute(
    `select id from photo_folder where ${pageCondition('photo_folder')} and archived_at is null and project_id is distinct from ?`,
    [...toPageValues(page), exceptProjectId],
  )) as { id: string }[];
  return rows.map(({ id }) => id);
}

/** Archives the folders that are empty (PHO-33, PHO-37). The caller has locked them. */
export async function archiveEmptyFolders(em: EntityManager, ids: readonly string[], now: string): Promise<void> {
  if (ids.length === 0) return;
  await em.execute(
    `update photo_folder f set archived_at = ?, updated_at = ? where f.id in (select json_array_elements_text(?::json))
       and f.archived_at is null
       and not exists (select from photo p where p.folder_id = f.id and p.archived_at is null)
       and not exists (select from photo_folder c where c.parent_id = f.id and c.archived_at is null)`,
    [now, now, JSON.stringify(ids)],
  );
}

/**
 * Returns the consumed uploads that photos of the page may reuse: the photo that consumed each last, by upload key. A photo that the page
 * moves to another project may reuse the upload of its own earlier copy, even if an earlier call archived that copy. Uploads of a
 * deleted page cannot be reused (PHO-34).
 */
export async function findReusableUploads(
  em: EntityManager,
  page: SyncedPage,
  photos: readonly { externalSourceId: string; key: string }[],
): Promise<Map<string, string>> {
  if (photos.length === 0) return new Map();
  const rows = (await em.execute(
    `select u.key, p.id as "photoId"
     from json_to_recordset(?::json) as wanted("key" text, "externalSourceId" text)
       join upload u on u.key = wanted.key
       join photo p on p.id = u.photo_id and p.external_source_id = wanted."externalSourceId"
     where ${pageCondition('p')} and (p.archived_at is null or p.metadata ->> '${MOVED_TO}' is not null)
       and exists (select from photo other where ${pageCondition('other')} and other.archived_at is null)`,
    [JSON.stringify(photos), ...toPageValues(page), ...toPageValues(page)],
  )) as { key: string; photoId: string }[];
  return new Map(rows.map(({ key, photoId }) => [key, photoId]));
}
