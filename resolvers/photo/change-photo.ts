import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { Photo } from '../../entities/photo.entity.ts';
import { invalidField, notFound } from '../../src/errors.ts';
import type { Context } from '../context.ts';
import type { UpdatePhotoArgs } from './photo.input.ts';
import { folderFor } from './place.ts';

interface Target {
  builderId: string;
  photoId: string;
}

/** Changes what is given of a photo of the gallery. Part 8 of the decisions. */
export function updatePhoto({ clock, database }: Context, target: Target, changes: UpdatePhotoArgs): Promise<Photo> {
  const { fileName, capturedAt, description, folderId } = changes;
  for (const [name, value] of Object.entries({ fileName, capturedAt })) {
    if (value === null) throw invalidField(name, 'must not be null');
  }
  return database.transaction(async (em) => {
    const photo = await activePhoto(em, target);
    if (folderId != null) {
      const folder = await folderFor(em, photo, { field: 'folderId', id: folderId });
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
export function archivePhoto({ clock, database }: Context, target: Target): Promise<Photo> {
  return database.transaction(async (em) => {
    const photo = await activePhoto(em, target);
    photo.archivedAt = new Date(clock.now()).toISOString();
    photo.updatedAt = photo.archivedAt;
    return photo;
  });
}

async function activePhoto(em: EntityManager, { builderId, photoId }: Target): Promise<Photo> {
  const photo = await em.findOne(
    Photo,
    { id: photoId, builderId, source: 'GALLERY', archivedAt: null },
    { lockMode: LockMode.PESSIMISTIC_WRITE },
  );
  if (!photo) throw notFound('Photo');
  return photo;
}
