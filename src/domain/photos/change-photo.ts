import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { Photo } from '../../../entities/photo.entity.ts';
import type { PhotoFolder } from '../../../entities/photo-folder.entity.ts';
import { ConcurrentUpdateError } from '../../database/write/retry.ts';
import type { OperationContext } from '../operation-context.ts';
import { requireFound } from '../require-found.ts';
import type { UpdatePhotoInput } from './photo-inputs.ts';
import { folderFor } from './photo-location.ts';

interface Target {
  builderId: string;
  photoId: string;
}

/** Changes what is given of a photo of the gallery (PHO-11, PHO-13). */
export function updatePhoto(
  { clock, database }: OperationContext,
  target: Target,
  changes: UpdatePhotoInput,
): Promise<Photo> {
  const { fileName, capturedAt, description, folderId } = changes;
  return database.transaction(async (em) => {
    // Folders are locked before photos, as everywhere in the gallery.
    const folder = folderId == null ? null : await folderOf(em, target, folderId);
    const photo = await activePhoto(em, target);
    if (folder) {
      const isElsewhere = folder.projectId !== null && photo.projectId !== null && folder.projectId !== photo.projectId;
      if (isElsewhere) throw new ConcurrentUpdateError('The photo was put into a project in between.');
      photo.folderId = folder.id;
      photo.projectId ??= folder.projectId;
    } else if (folderId === null) {
      photo.folderId = null;
    }
    if (fileName != null) photo.fileName = fileName;
    if (description !== undefined) photo.description = description;
    if (capturedAt != null) {
      photo.photoTakenDate = capturedAt;
      photo.sortDate = capturedAt;
    }
    photo.updatedAt = new Date(clock.now()).toISOString();
    return photo;
  });
}

/** Archives a photo of the gallery; its bytes stay. */
export function archivePhoto({ clock, database }: OperationContext, target: Target): Promise<Photo> {
  return database.transaction(async (em) => {
    const photo = await activePhoto(em, target);
    photo.archivedAt = new Date(clock.now()).toISOString();
    photo.updatedAt = photo.archivedAt;
    return photo;
  });
}

/** The folder, locked, if the photo may be put there; 404 for the photo comes before what is wrong with the folder. */
async function folderOf(em: EntityManager, { builderId, photoId }: Target, id: string): Promise<PhotoFolder> {
  const photo = await requireFound(
    em.findOne(Photo, { id: photoId, ...WRITABLE, builderId }, { disableIdentityMap: true }),
    'Photo',
  );
  return folderFor(em, photo, { field: 'folderId', id });
}

/** Photos of other areas of the product are read-only here. */
const WRITABLE = { source: 'GALLERY', archivedAt: null } as const;

function activePhoto(em: EntityManager, { builderId, photoId }: Target): Promise<Photo> {
  return requireFound(
    em.findOne(Photo, { id: photoId, builderId, ...WRITABLE }, { lockMode: LockMode.PESSIMISTIC_WRITE }),
    'Photo',
  );
}
