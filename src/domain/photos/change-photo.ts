import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { Photo } from '../../../entities/photo.entity.ts';
import type { PhotoFolder } from '../../../entities/photo-folder.entity.ts';
import { ConcurrentUpdateError } from '../../database/write/retry.ts';
import type { OperationContext } from '../operation-context.ts';
import { requireFound } from '../require-found.ts';
import type { UpdatePhotoInput } from './photo-inputs.ts';
import { lockFolderForProject } from './photo-location.ts';

interface Target {
  builderId: string;
  photoId: string;
}

/** Updates the given fields of a gallery photo (PHO-11, PHO-13). */
export function updatePhoto(
  { clock, database }: OperationContext,
  target: Target,
  changes: UpdatePhotoInput,
): Promise<Photo> {
  const { fileName, capturedAt, description, folderId } = changes;
  return database.transaction(async (em) => {
    // Lock order of the gallery: folders before photos.
    const folder = folderId == null ? null : await lockTargetFolder(em, target, folderId);
    const photo = await lockActivePhoto(em, target);
    if (folder) {
      const isInOtherProject =
        folder.projectId !== null && photo.projectId !== null && folder.projectId !== photo.projectId;
      if (isInOtherProject) throw new ConcurrentUpdateError('The photo was put into a project in between.');
      photo.folderId = folder.id;
      photo.projectId ??= folder.projectId;
    } else if (folderId === null) {
      photo.folderId = null;
    }
    if (fileName !== undefined) photo.fileName = fileName;
    if (description !== undefined) photo.description = description;
    if (capturedAt !== undefined) {
      photo.photoTakenDate = capturedAt;
      photo.sortDate = capturedAt;
    }
    photo.updatedAt = new Date(clock.now()).toISOString();
    return photo;
  });
}

/** Archives a gallery photo; its bytes remain stored. */
export const archivePhoto = ({ clock, database }: OperationContext, target: Target): Promise<Photo> =>
  database.transaction(async (em) => {
    const photo = await lockActivePhoto(em, target);
    photo.archivedAt = new Date(clock.now()).toISOString();
    photo.updatedAt = photo.archivedAt;
    return photo;
  });

/** Locks the folder for the photo. A missing photo precedes errors of the folder. */
async function lockTargetFolder(em: EntityManager, { builderId, photoId }: Target, id: string): Promise<PhotoFolder> {
  const photo = await requireFound(
    em.findOne(Photo, { id: photoId, ...WRITABLE, builderId }, { disableIdentityMap: true }),
    'Photo',
  );
  return lockFolderForProject(em, photo, { field: 'folderId', id });
}

/** Only gallery photos are writable. */
const WRITABLE = { source: 'GALLERY', archivedAt: null } as const;

const lockActivePhoto = (em: EntityManager, { builderId, photoId }: Target): Promise<Photo> =>
  requireFound(
    em.findOne(Photo, { id: photoId, builderId, ...WRITABLE }, { lockMode: LockMode.PESSIMISTIC_WRITE }),
    'Photo',
  );
