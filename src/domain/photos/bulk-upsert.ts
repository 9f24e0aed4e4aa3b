import { PhotoFolder } from '../../../entities/photo-folder.entity.ts';
import { ApiError, invalidField, notFound } from '../../shared/errors.ts';
import type { OperationContext } from '../operation-context.ts';
import { ImageProblem } from '../uploads/prepare-image.ts';
import { type CommitResult, commitPage, folderNameRequired } from './gallery-commit.ts';
import { discardImages, type GalleryOutcome, prepareImages } from './gallery-images.ts';
import { findActivePhotos, findPageFolder, isFolderOf, type SyncedPage, toSyncedPage } from './gallery-page.ts';
import type { BulkUpsertInput } from './photo-inputs.ts';
import { requireProject } from './photo-location.ts';

/**
 * Adds the photos of a page of another application to a project's gallery. Skips existing photos; a photo whose image cannot be used
 * fails without the others. The first new photo archives all copies of the page in other projects.
 */
export async function bulkUpsert(context: OperationContext, builderId: string, input: BulkUpsertInput) {
  await requireProject(context, builderId, input.projectId);
  const page = toSyncedPage(context, builderId, input);
  const { usableFolderId, outcomes } = await prepare(context, page, input);
  let committed: CommitResult;
  try {
    const request = { ...input, usableFolderId };
    committed = await context.database.transaction((em) => commitPage(em, context, page, request, outcomes));
  } catch (error) {
    // After any other error the photos may be committed, and need their bytes.
    if (error instanceof ApiError) await discardImages(context, [...outcomes.values()]);
    throw error;
  }
  const unused = [...outcomes].filter(([id]) => !committed.created.has(id)).map(([, outcome]) => outcome);
  await discardImages(context, unused);
  return toResult(input, committed, outcomes);
}

/** Checks the folder and prepares the images of the new photos, before the transaction. */
async function prepare(context: OperationContext, page: SyncedPage, input: BulkUpsertInput) {
  const { projectId } = input;
  const em = context.database.fork();
  const usableFolderId = input.folderId == null ? null : await findUsableFolder(context, page, input);
  const copies = await findActivePhotos(em, page);
  const existingIds = new Set(
    copies.filter((copy) => copy.projectId === projectId).map(({ externalSourceId }) => externalSourceId),
  );
  const newPhotos = input.photos.filter(({ externalSourceId }) => !existingIds.has(externalSourceId));
  if (newPhotos.length === 0) return { usableFolderId, outcomes: new Map<string, GalleryOutcome>() };
  const location = { projectId, given: usableFolderId, copies };
  if (input.folderName == null && (await findPageFolder(em, page, location)) === null) throw folderNameRequired();
  return { usableFolderId, outcomes: await prepareImages(context, page, newPhotos) };
}

/**
 * Returns the given folder if it accepts photos of the project. Returns null for a folder that a sync created for the same page and that is
 * archived or in a former project, because clients repeat the id that they received (PHO-29). Throws `NOT_FOUND` or a `ValidationError`
 * otherwise.
 */
async function findUsableFolder(
  { database }: OperationContext,
  page: SyncedPage,
  input: BulkUpsertInput,
): Promise<string | null> {
  const folder = await database.fork().findOne(PhotoFolder, { id: input.folderId!, builderId: page.builderId });
  if (!folder) throw notFound('Photo folder');
  const inProject = folder.projectId === null || folder.projectId === input.projectId;
  if (inProject && folder.archivedAt === null) return folder.id;
  if (isFolderOf(folder, page)) return null;
  if (folder.archivedAt !== null) throw notFound('Photo folder');
  throw invalidField('folderId', 'is in another project');
}

function toResult(
  { photos }: BulkUpsertInput,
  { folderId, created, existing, rejected }: CommitResult,
  outcomes: ReadonlyMap<string, GalleryOutcome>,
) {
  const ids = photos.map(({ externalSourceId }) => externalSourceId);
  const synced = (found: ReadonlyMap<string, { id: string }>) =>
    ids
      .filter((id) => found.has(id))
      .map((externalSourceId) => ({ externalSourceId, attachmentId: found.get(externalSourceId)!.id }));
  const createdPhotos = synced(created);
  const skippedPhotos = synced(existing);
  const failedPhotos = ids
    .filter((id) => !created.has(id) && !existing.has(id))
    .map((externalSourceId) => {
      const problem = rejected.get(externalSourceId) ?? outcomes.get(externalSourceId);
      // A photo that existed before the transaction and was deleted since has no outcome.
      const { code, message, field } = problem instanceof ImageProblem ? problem : CHANGED;
      return { externalSourceId, code, message: field ? `${field} ${message}` : message };
    });
  return {
    folderId,
    createdAttachmentIds: createdPhotos.map(({ attachmentId }) => attachmentId),
    createdPhotos,
    skippedExternalSourceIds: skippedPhotos.map(({ externalSourceId }) => externalSourceId),
    skippedPhotos,
    failedPhotos,
  };
}

const CHANGED = new ImageProblem('', 'TIMEOUT', 'has changed meanwhile; send it again');
