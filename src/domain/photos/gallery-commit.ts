import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { Photo } from '../../../entities/photo.entity.ts';
import { PhotoFolder } from '../../../entities/photo-folder.entity.ts';
import { Upload } from '../../../entities/upload.entity.ts';
import { newId } from '../../../schema/ids.ts';
import { ConcurrentUpdateError } from '../../database/write/retry.ts';
import { invalidField } from '../../shared/errors.ts';
import type { OperationContext } from '../operation-context.ts';
import { ImageProblem } from '../uploads/prepare-image.ts';
import { buildGalleryPhoto } from './create-photo.ts';
import type { GalleryImage, GalleryOutcome } from './gallery-images.ts';
import {
  archiveEmptyFolders,
  archivePhotos,
  findActivePhotos,
  findPageFolder,
  findReusablePhotos,
  findSyncedFolders,
  lockPage,
  type PagePhoto,
  type SyncedPage,
} from './gallery-page.ts';
import type { BulkUpsertInput, GalleryPhotoInput } from './photo-inputs.ts';
import { lockFolders } from './photo-location.ts';

export interface CommitResult {
  folderId: string | null;
  /** New photos by external id. */
  created: Map<string, Photo>;
  /** Existing photos by external id. */
  existing: Map<string, PagePhoto>;
  /** Photos whose upload was consumed meanwhile, by external id. */
  rejected: Map<string, ImageProblem>;
}

interface Candidate {
  id: string;
  photo: GalleryPhotoInput;
  image: GalleryImage;
}

/**
 * Creates the photos of a page whose images are ready, and their folder. The first new photo moves the page: all its photos in other
 * projects are archived, even those that the call does not name (PHO-31). Without a new photo nothing moves (PHO-27); photos in the
 * same project remain (PHO-32). The number of statements does not depend on the number of photos.
 */
export async function commitPage(
  em: EntityManager,
  { clock }: OperationContext,
  page: SyncedPage,
  input: BulkUpsertInput & { usableFolderId: string | null },
  outcomes: ReadonlyMap<string, GalleryOutcome>,
): Promise<CommitResult> {
  const { projectId } = input;
  await lockPage(em, page);
  const copies = await findActivePhotos(em, page);
  const requestedIds = new Set(input.photos.map(({ externalSourceId }) => externalSourceId));
  const existing = new Map(
    copies
      .filter((copy) => copy.projectId === projectId && requestedIds.has(copy.externalSourceId))
      .map((copy) => [copy.externalSourceId, copy]),
  );
  const candidates = input.photos.flatMap((photo): Candidate[] => {
    const image = outcomes.get(photo.externalSourceId);
    if (existing.has(photo.externalSourceId) || !image || image instanceof ImageProblem) return [];
    return [{ id: newId('attachment', clock.now()), photo, image }];
  });
  const now = new Date(clock.now()).toISOString();
  const used = await consumeUploads(em, page, candidates, now);
  const accepted = candidates.filter(({ id, image }) => image.uploadKey === null || used.has(id));
  const rejected = new Map(
    candidates
      .filter((candidate) => !accepted.includes(candidate))
      .map(({ photo }) => [photo.externalSourceId, alreadyUsedProblem()] as const),
  );
  const existingFolder = await findPageFolder(em, page, { projectId, given: input.usableFolderId, copies });
  if (accepted.length === 0) return { folderId: existingFolder, created: new Map(), existing, rejected };
  const copiesToArchive = copies.filter((copy) => copy.projectId !== projectId).map(({ id }) => id);
  const previousFolders = copiesToArchive.length > 0 ? await findSyncedFolders(em, page, projectId) : [];
  const folders = existingFolder === null ? previousFolders : [existingFolder, ...previousFolders];
  const locked = await lockFolders(em, folders, previousFolders.length > 0 ? 'exclusive' : 'shared');
  if (existingFolder !== null && !locked.has(existingFolder))
    throw new ConcurrentUpdateError('The folder was deleted in between.');
  const folderId = existingFolder ?? (await insertFolder(em, page, input, { id: newId('folder', clock.now()), now }));
  await archivePhotos(em, copiesToArchive, now, projectId);
  const rows = accepted.map((candidate) => toPhotoRow(candidate, page, { projectId, folderId, now }));
  await em.insertMany(Photo, rows);
  await archiveEmptyFolders(em, previousFolders, now);
  return { folderId, created: new Map(rows.map((row) => [row.externalSourceId!, row])), existing, rejected };
}

const alreadyUsedProblem = () => new ImageProblem('imageAttachment.key', 'INVALID_REFERENCE', 'has been used before');

/**
 * Consumes the uploads that are unused or that their photo may use again, each for one photo, and returns the ids of these. Locks their
 * rows in the order of their keys.
 */
async function consumeUploads(
  em: EntityManager,
  page: SyncedPage,
  candidates: readonly Candidate[],
  now: string,
): Promise<Set<string>> {
  const uses = candidates.flatMap(({ id, photo: { externalSourceId }, image: { uploadKey: key } }) =>
    key === null ? [] : [{ id, key, externalSourceId }],
  );
  if (uses.length === 0) return new Set();
  const where = { key: { $in: uses.map(({ key }) => key) } };
  const locked = await em.find(Upload, where, { orderBy: { key: 'asc' }, lockMode: LockMode.PESSIMISTIC_WRITE });
  const uploads = new Map(locked.map((upload) => [upload.key, upload]));
  const consumed = uses.map((use) => ({ ...use, photoId: uploads.get(use.key)?.photoId ?? null }));
  const reusable = await findReusablePhotos(em, page, consumed);
  const used = new Set<string>();
  for (const { id, key } of uses) {
    const upload = uploads.get(key);
    if (!upload || (upload.consumedAt !== null && reusable.get(key)?.id !== upload.photoId)) continue;
    upload.consumedAt = now;
    upload.photoId = id;
    used.add(id);
  }
  return used;
}

/** Creates the folder of a page; called for the first photo. */
async function insertFolder(
  em: EntityManager,
  page: SyncedPage,
  { projectId, folderName }: BulkUpsertInput,
  { id, now }: { id: string; now: string },
): Promise<string> {
  if (folderName == null) throw folderNameRequired();
  await em.insert(PhotoFolder, {
    ...page,
    id,
    projectId,
    parentId: null,
    name: folderName,
    createdAt: now,
    updatedAt: now,
    archivedAt: null,
  });
  return id;
}

export const folderNameRequired = () =>
  invalidField('folderName', 'is required: the page has no folder in this project');

function toPhotoRow(
  { id, photo, image }: Candidate,
  page: SyncedPage,
  location: { projectId: string; folderId: string; now: string },
): Photo {
  const { externalSourceId, sequenceId = null, width, height } = photo;
  return buildGalleryPhoto({
    ...page,
    ...location,
    id,
    fileName: photo.fileName ?? image.fileName,
    description: photo.description ?? null,
    capturedAt: photo.capturedAt ?? null,
    externalSourceId,
    metadata: {
      externalSourceId,
      sourceApp: page.sourceApp,
      pageExternalSourceId: page.pageExternalSourceId,
      sequenceId,
      width: width ?? image.facts.width,
      height: height ?? image.facts.height,
    },
    image,
  });
}
