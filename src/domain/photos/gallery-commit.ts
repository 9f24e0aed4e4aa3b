import type { EntityManager } from '@mikro-orm/postgresql';
import { Photo } from '../../../entities/photo.entity.ts';
import { PhotoFolder } from '../../../entities/photo-folder.entity.ts';
import { ConcurrentUpdateError } from '../../database/write/retry.ts';
import { invalidField } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import type { OperationContext } from '../operation-context.ts';
import { ImageProblem } from '../uploads/prepare-image.ts';
import { photoOf } from './create-photo.ts';
import type { GalleryImage, GalleryOutcome } from './gallery-images.ts';
import {
  activeCopies,
  archiveEmptyFolders,
  archivePhotos,
  folderOfPage,
  lockPage,
  type PageCopy,
  reusableUploads,
  type SyncedPage,
  syncedFolders,
} from './gallery-page.ts';
import type { BulkUpsertInput, GalleryPhotoInput } from './photo-inputs.ts';
import { lockFolders } from './photo-location.ts';

export interface Committed {
  folderId: string | null;
  /** New photos by external id. */
  created: Map<string, Photo>;
  /** Photos that were there, by external id. */
  existing: Map<string, PageCopy>;
  /** Images that have found no use, because others were first or the upload was used meanwhile. */
  refused: Map<string, ImageProblem>;
}

interface Candidate {
  id: string;
  photo: GalleryPhotoInput;
  image: GalleryImage;
}

/**
 * Makes the photos of a page whose images are ready, and their folder. When the first of them is made while the page has photos in
 * other projects, the page moves: all of those are archived, whether the call names them or not (PHO-31). Nothing moves without a
 * new photo (PHO-27), and the copies in the same project stay (PHO-32).
 * The number of statements does not depend on how many photos there are.
 */
export async function commitPage(
  em: EntityManager,
  { clock }: OperationContext,
  page: SyncedPage,
  input: BulkUpsertInput & { usableFolderId: string | null },
  outcomes: ReadonlyMap<string, GalleryOutcome>,
): Promise<Committed> {
  const { projectId } = input;
  await lockPage(em, page);
  const copies = await activeCopies(em, page);
  const here = new Map(
    copies.filter((copy) => copy.projectId === projectId).map((copy) => [copy.externalSourceId, copy]),
  );
  const existing = new Map(
    input.photos.flatMap(({ externalSourceId: id }) => (here.has(id) ? [[id, here.get(id)!] as const] : [])),
  );
  const candidates = input.photos.flatMap((photo): Candidate[] => {
    const image = outcomes.get(photo.externalSourceId);
    if (existing.has(photo.externalSourceId) || !image || image instanceof ImageProblem) return [];
    return [{ id: newId('attachment', clock.now()), photo, image }];
  });
  const now = new Date(clock.now()).toISOString();
  const used = await useUploads(em, page, candidates, now);
  const accepted = candidates.filter(({ image }) => image.uploadKey === null || used.has(image.uploadKey));
  const refused = new Map(
    candidates
      .filter((candidate) => !accepted.includes(candidate))
      .map(({ photo }) => [photo.externalSourceId, usedBefore()] as const),
  );
  const found = await folderOfPage(em, page, projectId, input.usableFolderId);
  if (accepted.length === 0) return { folderId: found, created: new Map(), existing, refused };
  const elsewhere = copies.filter((copy) => copy.projectId !== projectId).map(({ id }) => id);
  const left = elsewhere.length > 0 ? await syncedFolders(em, page, projectId) : [];
  const wanted = found === null ? left : [found, ...left];
  const locked = await lockFolders(em, wanted, left.length > 0 ? 'exclusive' : 'shared');
  if (found !== null && !locked.has(found)) throw new ConcurrentUpdateError('The folder was deleted in between.');
  const folderId = found ?? (await makeFolder(em, page, input, { id: newId('folder', clock.now()), now }));
  await archivePhotos(em, elsewhere, now, projectId);
  const rows = accepted.map((candidate) => rowOf(candidate, page, { projectId, folderId, now }));
  await em.insertMany(Photo, rows);
  await archiveEmptyFolders(em, left, now);
  return { folderId, created: new Map(rows.map((row) => [row.externalSourceId!, row])), existing, refused };
}

const usedBefore = () => new ImageProblem('imageAttachment.key', 'INVALID_REFERENCE', 'has been used before');

/**
 * Uses the uploads up, each if it is unused, or if its photo may use it again. Returns the keys that could be. Their rows are locked in
 * the order of their keys, whatever order the photos are in.
 */
async function useUploads(
  em: EntityManager,
  page: SyncedPage,
  candidates: readonly Candidate[],
  now: string,
): Promise<Set<string>> {
  const wanted = candidates.flatMap(({ id, photo: { externalSourceId }, image: { uploadKey: key } }) =>
    key === null ? [] : [{ key, photoId: id, externalSourceId }],
  );
  if (wanted.length === 0) return new Set();
  const locked = (await em.execute(
    `select key, consumed_at is null as unused from upload
     where key in (select json_array_elements_text(?::json)) order by key for update`,
    [JSON.stringify(wanted.map(({ key }) => key))],
  )) as { key: string; unused: boolean }[];
  const unused = new Set(locked.filter((upload) => upload.unused).map(({ key }) => key));
  const reusable = await reusableUploads(
    em,
    page,
    wanted.filter(({ key }) => !unused.has(key)),
  );
  const usable = wanted.filter(({ key }) => unused.has(key) || reusable.has(key));
  await em.execute(
    `update upload u set consumed_at = ?, photo_id = used."photoId"
     from json_to_recordset(?::json) as used(key text, "photoId" text) where u.key = used.key`,
    [now, JSON.stringify(usable)],
  );
  return new Set(usable.map(({ key }) => key));
}

/** The folder comes with the first photo. */
async function makeFolder(
  em: EntityManager,
  page: SyncedPage,
  { projectId, folderName }: BulkUpsertInput,
  { id, now }: { id: string; now: string },
): Promise<string> {
  if (folderName == null) throw folderNameNeeded();
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

export const folderNameNeeded = () => invalidField('folderName', 'is required: the page has no folder in this project');

function rowOf(
  { id, photo, image }: Candidate,
  page: SyncedPage,
  place: { projectId: string; folderId: string; now: string },
): Photo {
  const { externalSourceId, sequenceId = null, width, height } = photo;
  return photoOf({
    ...page,
    ...place,
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
