import type { OperationContext } from '../operation-context.ts';
import {
  activeCopies,
  archiveEmptyFolders,
  archivePhotos,
  folderOfPage,
  lockPage,
  type SyncedPage,
  syncedFolders,
} from './gallery-page.ts';
import type { BulkDeleteInput, BulkDeleteResult } from './photo-inputs.ts';
import { lockFolders } from './photo-location.ts';

/**
 * Removes the photos of a page, in whatever project they are now, and its folder when a sync had made it and it is left
 * empty. A page that is not there is removed already (PHO-35 to PHO-37).
 */
export function bulkDelete(
  { caller, clock, database }: OperationContext,
  builderId: string,
  { externalSourceId, sourceApp, projectId, folderId }: BulkDeleteInput,
): Promise<BulkDeleteResult> {
  const page: SyncedPage = {
    builderId,
    integratorId: caller.integratorId,
    sourceApp,
    pageExternalSourceId: externalSourceId,
  };
  return database.transaction(async (em) => {
    await lockPage(em, page);
    const now = new Date(clock.now()).toISOString();
    const copies = await activeCopies(em, page);
    const project = copies[0]?.projectId ?? projectId ?? null;
    const folder = project === null ? null : await folderOfPage(em, page, project, null);
    const folders = await syncedFolders(em, page, null);
    await lockFolders(em, folders, 'exclusive');
    const ids = copies.map(({ id }) => id);
    const archived = await archivePhotos(em, ids, now, null);
    await archiveEmptyFolders(em, folders, now);
    const deletedAttachmentIds = ids.filter((id) => archived.has(id));
    return { status: 'deleted', folderId: folder ?? folderId ?? null, deletedAttachmentIds };
  });
}
