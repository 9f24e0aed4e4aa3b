import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { Photo } from '../../../entities/photo.entity.ts';
import { PhotoFolder } from '../../../entities/photo-folder.entity.ts';
import { acquireRecordLock } from '../../database/write/advisory-lock.ts';
import type { OperationContext } from '../operation-context.ts';

/** A page of another application, whose photos are synced (PHO-23): the condition of its photos and folders. */
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

/**
 * Locks the page until the transaction ends, against concurrent syncs and deletions on all instances. To avoid deadlocks, transactions
 * of the gallery lock in this order: the page, uploads by key, folders by id, photos by id.
 */
export async function lockPage(em: EntityManager, page: SyncedPage): Promise<void> {
  const { builderId, integratorId, sourceApp, pageExternalSourceId } = page;
  await acquireRecordLock(em, JSON.stringify(['photo page', builderId, integratorId, sourceApp, pageExternalSourceId]));
}

/** Returns the page that a bulk call names. */
export const toSyncedPage = (
  { caller }: OperationContext,
  builderId: string,
  { sourceApp, externalSourceId }: { sourceApp: string; externalSourceId: string },
): SyncedPage => ({ builderId, integratorId: caller.integratorId, sourceApp, pageExternalSourceId: externalSourceId });

/** Returns the active photos of the page in all projects. */
export async function findActivePhotos(em: EntityManager, page: SyncedPage): Promise<PagePhoto[]> {
  const photos = await em.find(
    Photo,
    { ...page, archivedAt: null },
    {
      fields: ['id', 'externalSourceId', 'projectId', 'folderId'],
      orderBy: { createdAt: 'asc', id: 'asc' },
      disableIdentityMap: true,
    },
  );
  return photos as PagePhoto[];
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
  const where = { id: { $in: [...ids] }, archivedAt: null };
  const photos = await em.find(Photo, where, { orderBy: { id: 'asc' }, lockMode: LockMode.PESSIMISTIC_WRITE });
  for (const photo of photos) {
    photo.archivedAt = now;
    photo.updatedAt = now;
    if (movedTo !== null) photo.metadata = { ...photo.metadata, [MOVED_TO]: movedTo };
  }
  // Before the photos of another project are inserted under the same identity.
  await em.flush();
  return new Set(photos.map(({ id }) => id));
}

/** Whether a sync created the folder for the page. */
export const isFolderOf = (folder: PhotoFolder, page: SyncedPage): boolean =>
  folder.integratorId === page.integratorId &&
  folder.sourceApp === page.sourceApp &&
  folder.pageExternalSourceId === page.pageExternalSourceId;

/**
 * Returns the folder for the page's photos in a project: the given folder if it is usable, else the one that a sync created for the
 * page, else the one that contains its photos. Does not lock it: it may be deleted before `lockFolders`.
 *
 * @param copies active photos of the page.
 */
export async function findPageFolder(
  em: EntityManager,
  page: SyncedPage,
  { projectId, given, copies }: { projectId: string; given: string | null; copies: readonly PagePhoto[] },
): Promise<string | null> {
  const ofPhotos = copies.filter((copy) => copy.projectId === projectId).flatMap(({ folderId }) => folderId ?? []);
  const ids = [...new Set([...ofPhotos, ...(given === null ? [] : [given])])];
  const folders = await em.find(
    PhotoFolder,
    {
      builderId: page.builderId,
      archivedAt: null,
      $or: [
        { ...page, projectId },
        { id: { $in: ids }, projectId },
        { id: { $in: ids }, projectId: null },
      ],
    },
    { orderBy: { createdAt: 'desc' }, disableIdentityMap: true },
  );
  const found = folders.find(({ id }) => id === given) ?? folders.find((folder) => isFolderOf(folder, page));
  return (found ?? folders[0])?.id ?? null;
}

/** Returns the active folders that a sync created for the page, except those of one project. */
export async function findSyncedFolders(
  em: EntityManager,
  page: SyncedPage,
  exceptProjectId: string | null,
): Promise<string[]> {
  const where = { ...page, archivedAt: null, projectId: { $ne: exceptProjectId } };
  return (await em.find(PhotoFolder, where, { disableIdentityMap: true })).map(({ id }) => id);
}

/** Archives the folders that are empty (PHO-33, PHO-37). The caller has locked them. SQL: one statement for all of a page. */
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
 * Returns the photos whose upload photos of the page may use again, by upload key. A photo that the page moves to another project may reuse
 * the upload of its own earlier copy, even if an earlier call archived that copy. Uploads of a deleted page cannot be reused (PHO-34).
 *
 * @param uses consumed uploads, each with the photo that used it last, and the photo that is to use it.
 */
export async function findReusablePhotos(
  em: EntityManager,
  page: SyncedPage,
  uses: readonly { key: string; photoId: string | null; externalSourceId: string }[],
): Promise<Map<string, Photo>> {
  const ids = uses.flatMap(({ photoId }) => photoId ?? []);
  if (ids.length === 0 || (await em.count(Photo, { ...page, archivedAt: null })) === 0) return new Map();
  const photos = await em.find(Photo, { ...page, id: { $in: ids } }, { disableIdentityMap: true });
  const reusable = photos.filter(({ archivedAt, metadata }) => archivedAt === null || MOVED_TO in metadata);
  return new Map(
    uses.flatMap(({ key, photoId, externalSourceId }) => {
      const photo = reusable.find(({ id }) => id === photoId);
      return photo?.externalSourceId === externalSourceId ? [[key, photo] as const] : [];
    }),
  );
}
