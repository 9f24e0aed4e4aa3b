import type { EntityManager } from '@mikro-orm/postgresql';
import { Photo } from '../../../entities/photo.entity.ts';
import { Upload } from '../../../entities/upload.entity.ts';
import { newId } from '../../../schema/ids.ts';
import { ApiError, invalidField } from '../../shared/errors.ts';
import { type ClaimKey, createOnce, type IdempotentRequest } from '../create-once.ts';
import type { OperationContext } from '../operation-context.ts';
import { discard, ImageProblem, type PreparedImage } from '../uploads/prepare-image.ts';
import { loadImageSources, type ReadyImage } from './image-sources.ts';
import type { CreatePhotoInput } from './photo-inputs.ts';
import { lockFolderForProject, requireProject } from './photo-location.ts';

/**
 * Creates a photo from an uploaded or downloaded image. Returns the active photo with the same `externalSourceId` if there is one,
 * regardless of the other fields (PHO-8); without one, a key creates one photo, which may be archived since.
 */
export function createPhoto(
  context: OperationContext,
  builderId: string,
  input: CreatePhotoInput,
  request: IdempotentRequest | null,
): Promise<Photo> {
  const find = (em: EntityManager, id: string) => em.findOne(Photo, { id });
  return createOnce(context.database, input.externalSourceId == null ? request : null, find, async (claim) => {
    const before = await findBySource(context, builderId, input);
    if (before) return markReplayed(context, before);
    if (input.projectId != null) await requireProject(context, builderId, input.projectId);
    let image: ReadyImage | null = null;
    try {
      const ready = await (await loadImageSources(context, builderId, [input])).prepare(input);
      image = ready;
      const { photo, created } = await context.database.transaction((em) =>
        insertPhoto(em, context, builderId, input, ready, claim),
      );
      if (created) return photo;
      await discard(context.storage, ready.key);
      return markReplayed(context, photo);
    } catch (error) {
      const isImageProblem = error instanceof ImageProblem;
      // After any other error the photo may be committed, and needs its bytes.
      if (image && (isImageProblem || error instanceof ApiError)) await discard(context.storage, image.key);
      // A concurrent identical request may have created the photo and consumed the upload.
      const winner = isImageProblem ? await findBySource(context, builderId, input) : null;
      if (winner) return markReplayed(context, winner);
      throw isImageProblem ? invalidField(error.field, error.message) : error;
    }
  });
}

function markReplayed(context: OperationContext, photo: Photo): Photo {
  context.outcome = 'REPLAYED';
  return photo;
}

function findBySource(
  { caller, database }: OperationContext,
  builderId: string,
  { externalSourceId }: CreatePhotoInput,
  em: EntityManager = database.fork(),
): Promise<Photo | null> {
  if (externalSourceId == null) return Promise.resolve(null);
  const identity = { builderId, integratorId: caller.integratorId, externalSourceId, pageExternalSourceId: null };
  return em.findOne(Photo, { ...identity, archivedAt: null });
}

/**
 * Inserts the photo, or returns the one that a concurrent request created from the same source: the unique index makes the insert
 * fail, and the retried transaction finds the photo. Lock order of the gallery: uploads before folders.
 */
async function insertPhoto(
  em: EntityManager,
  context: OperationContext,
  builderId: string,
  input: CreatePhotoInput,
  image: ReadyImage,
  claim: ClaimKey,
): Promise<{ photo: Photo; created: boolean }> {
  const { caller, clock } = context;
  const winner = await findBySource(context, builderId, input, em);
  if (winner) return { photo: winner, created: false };
  const id = newId('attachment', clock.now());
  await claim(em, id);
  const now = new Date(clock.now()).toISOString();
  if (image.uploadKey !== null) {
    const used = { consumedAt: now, photoId: id };
    const count = await em.nativeUpdate(Upload, { key: image.uploadKey, consumedAt: null }, used);
    if (count === 0) throw new ImageProblem('imageAttachment.key', 'INVALID_REFERENCE', 'has been used before');
  }
  const where = { builderId, projectId: input.projectId ?? null };
  const folder =
    input.folderId == null ? null : await lockFolderForProject(em, where, { field: 'folderId', id: input.folderId });
  const photo = buildGalleryPhoto({
    id,
    builderId,
    projectId: where.projectId ?? folder?.projectId ?? null,
    folderId: folder?.id ?? null,
    fileName: input.fileName,
    description: input.description ?? null,
    capturedAt: input.capturedAt ?? null,
    metadata: input.externalSourceId == null ? {} : { externalSourceId: input.externalSourceId },
    integratorId: caller.integratorId,
    sourceApp: null,
    pageExternalSourceId: null,
    externalSourceId: input.externalSourceId ?? null,
    image,
    now,
  });
  await em.insert(Photo, photo);
  return { photo, created: true };
}

/** Fields that no image and no time decides about. */
type GivenFields = Omit<
  Photo,
  | ('source' | 'contentType' | 'key' | 'fileSize' | 'photoTakenDate' | 'sortDate')
  | ('createdAt' | 'updatedAt' | 'archivedAt')
>;

/** Returns a new gallery photo, not yet stored. */
export function buildGalleryPhoto({
  image,
  now,
  capturedAt,
  ...given
}: GivenFields & { image: PreparedImage; now: string; capturedAt: string | null }): Photo {
  const { contentType, size, takenAt } = image.facts;
  const photoTakenDate = capturedAt ?? takenAt;
  return Object.assign(Object.create(Photo.prototype) as Photo, {
    ...given,
    source: 'GALLERY' as const,
    contentType,
    key: image.key,
    fileSize: size,
    photoTakenDate,
    sortDate: photoTakenDate ?? now,
    createdAt: now,
    updatedAt: now,
    archivedAt: null,
  });
}
