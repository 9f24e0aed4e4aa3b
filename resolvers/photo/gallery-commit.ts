import type { EntityManager } from '@mikro-orm/postgresql';
import { Photo } from '../../entities/photo.entity.ts';
import { PhotoFolder } from '../../entities/photo-folder.entity.ts';
import { invalidField } from '../../src/errors.ts';
import { newId } from '../../src/ids.ts';
import { ImageProblem } from '../attachment/prepare.ts';
import type { Context } from '../context.ts';
import { photoOf } from './create-photo.ts';
import type { BulkUpsertArgs, GalleryPhoto } from './gallery.input.ts';
import type { GalleryImage, GalleryOutcome } from './gallery-images.ts';
import {
  activeCopies,
  archiveEmptyFolders,
  archivePhotos,
  folderOfPage,
  lockPage,
  type PageCopy,
  type SyncedPage,
} from './page.ts';

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
  photo: GalleryPhoto;
  image: GalleryImage;
  old: PageCopy | undefined;
}

/**
 * Makes the photos of a page whose images are ready, and what they need: their folder, and the end of their copies in other
 * projects. The number of statements does not depend on how many photos there are.
 */
export async function commitPage(
  em: EntityManager,
  { clock }: Context,
  page: SyncedPage,
  input: BulkUpsertArgs & { usableFolderId: string | null },
  outcomes: ReadonlyMap<string, GalleryOutcome>,
): Promise<Committed> {
  await lockPage(em, page);
  const ids = input.photos.map(({ externalSourceId }) => externalSourceId);
  const copies = new Map((await activeCopies(em, page, ids)).map((copy) => [copy.externalSourceId, copy]));
  const existing = new Map([...copies].filter(([, { projectId }]) => projectId === input.projectId));
  const candidates = input.photos.flatMap((photo): Candidate[] => {
    const image = outcomes.get(photo.externalSourceId);
    if (existing.has(photo.externalSourceId) || !image || image instanceof ImageProblem) return [];
    const old = copies.get(photo.externalSourceId);
    return [{ id: newId('attachment', clock.now()), photo, image, old }];
  });
  const now = new Date(clock.now()).toISOString();
  const used = await useUploads(em, page, candidates, now);
  const accepted = candidates.filter(({ image }) => image.uploadKey === null || used.has(image.uploadKey));
  const refused = new Map(
    candidates
      .filter((candidate) => !accepted.includes(candidate))
      .map(({ photo }) => [photo.externalSourceId, usedBefore()] as const),
  );
  let folderId = await folderOfPage(em, page, input.projectId, input.usableFolderId);
  if (accepted.length === 0) return { folderId, created: new Map(), existing, refused };
  folderId ??= await makeFolder(em, page, input, { id: newId('folder', clock.now()), now });
  const moved = accepted.flatMap(({ old }) => old ?? []);
  await archivePhotos(
    em,
    moved.map(({ id }) => id),
    now,
  );
  const rows = accepted.map((candidate) => rowOf(candidate, page, { projectId: input.projectId, folderId, now }));
  await em.insertMany(Photo, rows);
  if (moved.length > 0) await archiveEmptyFolders(em, page, now, input.projectId);
  return { folderId, created: new Map(rows.map((row) => [row.externalSourceId!, row])), existing, refused };
}

const usedBefore = () => new ImageProblem('imageAttachment.key', 'INVALID_REFERENCE', 'has been used before');

/**
 * Uses the uploads up, each if it is unused; or by its photo's own earlier copy, when the photo leaves another project.
 * Answers the keys that could be.
 */
async function useUploads(
  em: EntityManager,
  page: SyncedPage,
  candidates: readonly Candidate[],
  now: string,
): Promise<Set<string>> {
  const wanted = candidates.flatMap(({ id, photo, image, old }) =>
    image.uploadKey === null
      ? []
      : [{ key: image.uploadKey, photo_id: id, external_id: photo.externalSourceId, moving: old !== undefined }],
  );
  if (wanted.length === 0) return new Set();
  const rows = (await em.execute(
    `update upload u set consumed_at = ?, photo_id = w.photo_id
     from json_to_recordset(?::json) as w(key text, photo_id text, external_id text, moving boolean)
     where u.key = w.key and (u.consumed_at is null or (w.moving and exists (select from photo p where p.id = u.photo_id
       and p.builder_id = ? and p.integrator_id is not distinct from ? and p.source_app = ?
       and p.page_external_source_id = ? and p.external_source_id = w.external_id)))
     returning u.key`,
    [now, JSON.stringify(wanted), page.builderId, page.integratorId, page.sourceApp, page.pageExternalSourceId],
  )) as { key: string }[];
  return new Set(rows.map(({ key }) => key));
}

/** The folder comes with the first photo. */
async function makeFolder(
  em: EntityManager,
  page: SyncedPage,
  { projectId, folderName }: BulkUpsertArgs,
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
