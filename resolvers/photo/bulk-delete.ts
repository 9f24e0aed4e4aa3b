import type { Context } from '../context.ts';
import type { BulkDeleteArgs } from './gallery.input.ts';
import type { BulkDeleteResult } from './gallery.type.ts';
import { activeCopies, archiveEmptyFolders, archivePhotos, folderOfPage, lockPage, type SyncedPage } from './page.ts';

/**
 * Removes the photos of a page, in whatever project they are now, and its folder when a sync had made it and it is left
 * empty. A page that is not there is removed already. Part 4 of the specification, part 8 of the decisions.
 */
export function bulkDelete(
  { caller, clock, database }: Context,
  builderId: string,
  { externalSourceId, sourceApp, projectId, folderId }: BulkDeleteArgs,
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
    const copies = await activeCopies(em, page, null);
    const project = copies[0]?.projectId ?? projectId ?? null;
    const folder = project === null ? null : await folderOfPage(em, page, project, null);
    const ids = copies.map(({ id }) => id);
    await archivePhotos(em, ids, now);
    await archiveEmptyFolders(em, page, now, null);
    return { status: 'deleted', folderId: folder ?? folderId ?? null, deletedAttachmentIds: ids };
  });
}
