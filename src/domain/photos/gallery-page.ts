import type { EntityManager } from '@mikro-orm/postgresql';
import { acquireRecordLock } from '../../database/write/advisory-lock.ts';

/** A page of another application, whose photos are synced (PHO-23). */
export interface SyncedPage {
  builderId: string;
  integratorId: string | null;
  sourceApp: string;
  pageExternalSourceId: string;
}

/** An active photo of a page. */
export interface PageCopy {
  id: string;
  externalSourceId: string;
  projectId: string;
  folderId: string | null;
}

/** Field of the `metadata` of a copy that was archived because its page moved: the project that it moved to. */
const MOVED_TO = 'movedToProjectId';

/** Condition that a row of that table or alias is of the page; `identity` gives its values. */
const ofPage = (row: string) =>
  `${row}.builder_id = ? and ${row}.integrator_id is not distinct from ? and ${row}.source_app = ?
   and ${row}.page_external_source_id = ?`;

const identity = ({ builderId, integratorId, sourceApp, pageExternalSourceId }: SyncedPage) => [
  builderId,
  integratorId,
  sourceApp,
  pageExternalSourceId,
];

/**
 * Those who sync or delete the same page take turns, on every instance, until their transactions end. A transaction of the gallery
 * takes its locks in this order, so that no two can wait for each other: the page, uploads by key, folders by id, photos by id.
 */
export async function lockPage(em: EntityManager, page: SyncedPage): Promise<void> {
  const name = JSON.stringify(['photo page', ...identity(page)]);
  await acquireRecordLock(em, name);
}

/** The active photos of the page, in any project. */
export async function activeCopies(em: EntityManager, page: SyncedPage): Promise<PageCopy[]> {
  return em.execute(
    `select id, external_source_id as "externalSourceId", project_id as "projectId", folder_id as "folderId"
     from photo where ${ofPage('photo')} and archived_at is null order by created_at, id`,
    identity(page),
  ) as Promise<PageCopy[]>;
}

/**
 * Archives those of the photos that are still active, and returns their ids. Rows are locked in the order of their ids.
 *
 * @param movedTo the project that the page has moved to, when that is the reason.
 */
export async function archivePhotos(
  em: EntityManager,
  ids: readonly string[],
  now: string,
  movedTo: string | null,
): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const locked = (await em.execute(
    `select id from photo where id in (select json_array_elements_text(?::json)) and archived_at is null
     order by id for update`,
    [JSON.stringify(ids)],
  )) as { id: string }[];
  const active = locked.map(({ id }) => id);
  const mark = movedTo === null ? {} : { [MOVED_TO]: movedTo };
  await em.execute(
    `update photo set archived_at = ?, updated_at = ?, metadata = metadata || ?::jsonb
     where id in (select json_array_elements_text(?::json))`,
    [now, now, JSON.stringify(mark), JSON.stringify(active)],
  );
  return new Set(active);
}

/**
 * The folder for the page's photos in that project: the given folder if it will do, else the one that a sync made for the page,
 * else the one that its photos are in. Locks nothing: the folder may be deleted until `lockFolders` has it.
 */
export async function folderOfPage(
  em: EntityManager,
  page: SyncedPage,
  projectId: string,
  given: string | null,
): Promise<string | null> {
  const [row] = (await em.execute(
    `select f.id from photo_folder f
     where f.builder_id = ? and f.archived_at is null and (f.project_id = ? or f.project_id is null) and (f.id = ?
       or (f.project_id = ? and f.integrator_id is not distinct from ? and f.source_app = ? and f.page_external_source_id = ?)
       or f.id in (select folder_id from photo where ${ofPage('photo')} and project_id = ? and archived_at is null))
     order by (f.id = ?) desc nulls last, (f.page_external_source_id is not null) desc, f.created_at desc limit 1`,
    [
      ...[page.builderId, projectId, given],
      ...[projectId, page.integratorId, page.sourceApp, page.pageExternalSourceId],
      ...[...identity(page), projectId],
      given,
    ],
  )) as { id: string }[];
  return row?.id ?? null;
}

/** The active folders that a sync made for the page, but for those of one project. */
export async function syncedFolders(
  em: EntityManager,
  page: SyncedPage,
  exceptProjectId: string | null,
): Promise<string[]> {
  const rows = (await em.execute(
    `select id from photo_folder where ${ofPage('photo_folder')} and archived_at is null and project_id is distinct from ?`,
    [...identity(page), exceptProjectId],
  )) as { id: string }[];
  return rows.map(({ id }) => id);
}

/** Archives those of the folders, locked before, that hold nothing now (PHO-33, PHO-37). */
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
 * Keys of used uploads that photos of the page may use again, each with the photo that used it last. A photo that is not in the
 * project that the page moves to may use its own earlier copy's upload again, also when an earlier call of the move has archived that
 * copy. The uploads of a page that was deleted stay used (PHO-34).
 */
export async function reusableUploads(
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
     where ${ofPage('p')} and (p.archived_at is null or p.metadata ->> '${MOVED_TO}' is not null)
       and exists (select from photo other where ${ofPage('other')} and other.archived_at is null)`,
    [JSON.stringify(photos), ...identity(page), ...identity(page)],
  )) as { key: string; photoId: string }[];
  return new Map(rows.map(({ key, photoId }) => [key, photoId]));
}
