import type { EntityManager } from '@mikro-orm/postgresql';

/** A page of another application, whose photos are synced. Part 8 of the decisions. */
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

const OF_PAGE = `builder_id = ? and integrator_id is not distinct from ? and source_app = ? and page_external_source_id = ?`;

const identity = ({ builderId, integratorId, sourceApp, pageExternalSourceId }: SyncedPage) => [
  builderId,
  integratorId,
  sourceApp,
  pageExternalSourceId,
];

/** Those who sync or delete the same page take turns, on every instance, until their transactions end. */
export async function lockPage(em: EntityManager, page: SyncedPage): Promise<void> {
  const name = JSON.stringify(['photo page', ...identity(page)]);
  await em.execute('select pg_advisory_xact_lock(hashtextextended(?, 0))', [name]);
}

/** The active photos of the page, in any project; only those of these ids when they are given. */
export async function activeCopies(
  em: EntityManager,
  page: SyncedPage,
  externalSourceIds: readonly string[] | null,
): Promise<PageCopy[]> {
  const some = externalSourceIds && 'and external_source_id in (select json_array_elements_text(?::json))';
  return em.execute(
    `select id, external_source_id as "externalSourceId", project_id as "projectId", folder_id as "folderId"
     from photo where ${OF_PAGE} and archived_at is null ${some ?? ''} order by created_at, id`,
    [...identity(page), ...(externalSourceIds ? [JSON.stringify(externalSourceIds)] : [])],
  ) as Promise<PageCopy[]>;
}

export async function archivePhotos(em: EntityManager, ids: readonly string[], now: string): Promise<void> {
  if (ids.length === 0) return;
  await em.execute(
    `update photo set archived_at = ?, updated_at = ? where id in (select json_array_elements_text(?::json))`,
    [now, now, JSON.stringify(ids)],
  );
}

/**
 * Where the page's photos go in that project: the given folder if it will do, else the one that a sync made for the page,
 * else the one that its photos are in. It cannot be deleted until the transaction ends.
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
       or f.id in (select folder_id from photo where ${OF_PAGE} and project_id = ? and archived_at is null))
     order by (f.id = ?) desc nulls last, (f.page_external_source_id is not null) desc, f.created_at desc limit 1 for share`,
    [
      ...[page.builderId, projectId, given],
      ...[projectId, page.integratorId, page.sourceApp, page.pageExternalSourceId],
      ...[...identity(page), projectId],
      given,
    ],
  )) as { id: string }[];
  return row?.id ?? null;
}

/**
 * Archives the folders that a sync made for the page and that hold nothing now, but for those of one project. Folders that a
 * person made stay.
 */
export async function archiveEmptyFolders(
  em: EntityManager,
  page: SyncedPage,
  now: string,
  exceptProjectId: string | null,
): Promise<void> {
  // Locked first, so that the next statement sees whatever was put into them until now.
  const locked = (await em.execute(
    `select id from photo_folder where ${OF_PAGE} and archived_at is null and project_id is distinct from ? for update`,
    [...identity(page), exceptProjectId],
  )) as { id: string }[];
  if (locked.length === 0) return;
  await em.execute(
    `update photo_folder f set archived_at = ?, updated_at = ? where f.id in (select json_array_elements_text(?::json))
       and not exists (select from photo p where p.folder_id = f.id and p.archived_at is null)
       and not exists (select from photo_folder c where c.parent_id = f.id and c.archived_at is null)`,
    [now, now, JSON.stringify(locked.map(({ id }) => id))],
  );
}
