import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { Photo } from '../../../entities/photo.entity.ts';
import { PhotoFolder } from '../../../entities/photo-folder.entity.ts';
import { acquireRecordLock } from '../../database/write/advisory-lock.ts';
import { conflict, invalidField } from '../../shared/errors.ts';
import { newId } from '../../shared/ids.ts';
import type { OperationContext } from '../operation-context.ts';
import { requireFound } from '../require-found.ts';
import type { CreateFolderInput, UpdateFolderInput } from './photo-inputs.ts';
import { folderFor, lockFolders, requireProject } from './photo-location.ts';

interface Target {
  builderId: string;
  folderId: string;
}

/** A new folder; without a project of its own it is of its parent's (PHO-16). */
export async function createFolder(
  context: OperationContext,
  builderId: string,
  input: CreateFolderInput,
): Promise<PhotoFolder> {
  const { clock, database } = context;
  const { name, projectId = null, parentId = null } = input;
  if (projectId !== null) await requireProject(context, builderId, projectId);
  return database.transaction(async (em) => {
    const place = { builderId, projectId };
    const parent = parentId === null ? null : await folderFor(em, place, { field: 'parentId', id: parentId });
    requireSameProject(parent, projectId ?? parent?.projectId ?? null);
    const now = new Date(clock.now()).toISOString();
    const folder = Object.assign(Object.create(PhotoFolder.prototype) as PhotoFolder, {
      id: newId('folder', clock.now()),
      builderId,
      projectId: projectId ?? parent?.projectId ?? null,
      parentId,
      name,
      integratorId: null,
      sourceApp: null,
      pageExternalSourceId: null,
      createdAt: now,
      updatedAt: now,
      archivedAt: null,
    });
    await em.insert(PhotoFolder, folder);
    return folder;
  });
}

/** Renames or moves a folder; never under itself. */
export async function updateFolder(
  context: OperationContext,
  target: Target,
  changes: UpdateFolderInput,
): Promise<PhotoFolder> {
  const { clock, database } = context;
  const { name, parentId } = changes;
  return database.transaction(async (em) => {
    // Two moves at once could each be right and make a cycle together.
    if (parentId != null) {
      await acquireRecordLock(em, `photo folders ${target.builderId}`);
      await lockFolders(em, [target.folderId, parentId], 'exclusive');
    }
    const folder = await activeFolder(em, target);
    if (parentId != null && parentId !== folder.parentId) {
      const parent = await folderFor(em, folder, { field: 'parentId', id: parentId });
      if (await isWithin(em, parentId, folder.id)) {
        throw conflict('FOLDER_CYCLE', 'A folder cannot be moved into itself or a folder below it.');
      }
      requireSameProject(parent, folder.projectId);
    }
    if (name != null) folder.name = name;
    if (parentId !== undefined) folder.parentId = parentId;
    folder.updatedAt = new Date(clock.now()).toISOString();
    return folder;
  });
}

/** Deletes an empty folder; archived photos do not count. */
export async function deleteFolder({ clock, database }: OperationContext, target: Target): Promise<PhotoFolder> {
  return database.transaction(async (em) => {
    const folder = await activeFolder(em, target);
    const inside = { archivedAt: null };
    const holds =
      (await em.count(Photo, { ...inside, folderId: folder.id })) +
      (await em.count(PhotoFolder, { ...inside, parentId: folder.id }));
    if (holds > 0) throw conflict('FOLDER_NOT_EMPTY', 'The folder holds photos or folders.');
    folder.archivedAt = new Date(clock.now()).toISOString();
    return folder;
  });
}

const ANCESTORS = `with recursive up as (
    select id, parent_id from photo_folder where id = ?
    union select f.id, f.parent_id from photo_folder f join up on f.id = up.parent_id)
  select exists (select from up where id = ?) as found`;

/** Whether the folder is that ancestor, or stands somewhere below it. */
async function isWithin(em: EntityManager, folderId: string, ancestorId: string): Promise<boolean> {
  const [row] = (await em.execute(ANCESTORS, [folderId, ancestorId])) as { found: boolean }[];
  return row!.found;
}

function requireSameProject(parent: PhotoFolder | null, projectId: string | null): void {
  if (parent && parent.projectId !== projectId) throw invalidField('parentId', 'is in another project');
}

/** Waits for those who are putting something into the folder. */
function activeFolder(em: EntityManager, { builderId, folderId }: Target): Promise<PhotoFolder> {
  return requireFound(
    em.findOne(PhotoFolder, { id: folderId, builderId, archivedAt: null }, { lockMode: LockMode.PESSIMISTIC_WRITE }),
    'Photo folder',
  );
}
