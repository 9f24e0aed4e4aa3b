import type { OperationContext } from '../operation-context.ts';
import {
  archiveEmptyFolders,
  archivePhotos,
  findActivePhotos,
  findPageFolder,
  findSyncedFolders,
  lockPage,
  toSyncedPage,
} from './gallery-page.ts';
import type { BulkDeleteInput } from './photo-inputs.ts';
import { lockFolders } from './photo-location.ts';

/**
 * Archives the photos of a page in all projects, and its folder if a sync created it and it is empty then. Succeeds for an unknown
 * page (PHO-35 to PHO-37).
 */
export function bulkDelete(context: OperationContext, builderId: string, input: BulkDeleteInput) {
  const { clock, database } = context;
  const { projectId, folderId } = input;
  const page = toSyncedPage(context, builderId, input);
  return database.transaction(async (em) => {
    await lockPage(em, page);
    const now = new Date(clock.now()).toISOString();
    const copies = await findActivePhotos(em, page);
    const project = copies[0]?.projectId ?? projectId ?? null;
    const folder =
      project === null ? null : await findPageFolder(em, page, { projectId: project, given: null, copies });
    const folders = await findSyncedFolders(em, page, null);
    await lockFolders(em, folders, 'exclusive');
    const ids = copies.map(({ id }) => id);
    const archived = await archivePhotos(em, ids, now, null);
    await archiveEmptyFolders(em, folders, now);
    const deletedAttachmentIds = ids.filter((id) => archived.has(id));
    return { status: 'deleted' as const, folderId: folder ?? folderId ?? null, deletedAttachmentIds };
  });
}
