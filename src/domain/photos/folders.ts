import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { Photo } from '../../../entities/photo.entity.ts';
import { PhotoFolder } from '../../../entities/photo-folder.entity.ts';
import { newId } from '../../../schema/ids.ts';
import { acquireRecordLock } from '../../database/write/advisory-lock.ts';
import { conflict, invalidField } from '../../shared/errors.ts';
import { createOnce, type IdempotentRequest } from '../create-once.ts';
import type { OperationContext } from '../operation-context.ts';
import { requireFound } from '../require-found.ts';
import type { CreateFolderInput, UpdateFolderInput } from './photo-inputs.ts';
import { lockFolderForProject, lockFolders, requireProject } from './photo-location.ts';

interface Target {
  builderId: string;
  folderId: string;
}

/** Creates a folder, once with a key. The default project is that of the parent (PHO-16). */
export function createFolder(
  context: OperationContext,
  builderId: string,
  input: CreateFolderInput,
  request: IdempotentRequest | null,
): Promise<PhotoFolder> {
  const { clock, database } = context;
  const { name, projectId = null, parentId = null } = input;
  const find = (em: EntityManager, id: string) => em.findOne(PhotoFolder, { id, archivedAt: null });
  return createOnce(database, request, find, async (claim) => {
    if (projectId !== null) await requireProject(context, builderId, projectId);
    const id = newId('folder', clock.now());
    return database.transaction(async (em) => {
      await claim(em, id);
      const location = { builderId, projectId };
      const parent =
        parentId === null ? null : await lockFolderForProject(em, location, { field: 'parentId', id: parentId });
      requireProjectOfParent(parent, projectId ?? parent?.projectId ?? null);
      const now = new Date(clock.now()).toISOString();
      const folder = em.create(PhotoFolder, {
        id,
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
      em.persist(folder);
      return folder;
    });
  });
}

/** Renames or moves a folder. Throws a conflict if it would become its own ancestor. */
export async function updateFolder(
  context: OperationContext,
  target: Target,
  changes: UpdateFolderInput,
): Promise<PhotoFolder> {
  const { clock, database } = context;
  const { name, parentId } = changes;
  return database.transaction(async (em) => {
    // Two concurrent moves, each valid, could create a cycle together.
    if (parentId != null) {
      await acquireRecordLock(em, `photo folders ${target.builderId}`);
      await lockFolders(em, [target.folderId, parentId], 'exclusive');
    }
    const folder = await lockActiveFolder(em, target);
    if (parentId != null && parentId !== folder.parentId) {
      const parent = await lockFolderForProject(em, folder, { field: 'parentId', id: parentId });
      if (await isWithin(em, parentId, folder.id)) {
        throw conflict('FOLDER_CYCLE', 'A folder cannot be moved into itself or a folder below it.');
      }
      requireProjectOfParent(parent, folder.projectId);
    }
    if (name !== undefined) folder.name = name;
    if (parentId !== undefined) folder.parentId = parentId;
    folder.updatedAt = new Date(clock.now()).toISOString();
    return folder;
  });
}

/** Deletes a folder without active photos and folders; throws a conflict otherwise. */
export async function deleteFolder({ clock, database }: OperationContext, target: Target): Promise<PhotoFolder> {
  return database.transaction(async (em) => {
    const folder = await lockActiveFolder(em, target);
    const active = { archivedAt: null };
    const contents =
      (await em.count(Photo, { ...active, folderId: folder.id })) +
      (await em.count(PhotoFolder, { ...active, parentId: folder.id }));
    if (contents > 0) throw conflict('FOLDER_NOT_EMPTY', 'The folder holds photos or folders.');
    folder.archivedAt = new Date(clock.now()).toISOString();
    return folder;
  });
}

// SQL: a recursive query.
const ANCESTORS = `with recursive up as (
    select id, parent_id from photo_folder where id = ?
    union select f.id, f.parent_id from photo_folder f join up on f.id = up.parent_id)
  select exists (select from up where id = ?) as found`;

/** Whether the folder is the ancestor itself or one of its descendants. */
async function isWithin(em: EntityManager, folderId: string, ancestorId: string): Promise<boolean> {
  const [row] = (await em.execute(ANCESTORS, [folderId, ancestorId])) as { found: boolean }[];
  return row!.found;
}

function requireProjectOfParent(parent: PhotoFolder | null, projectId: string | null): void {
  if (parent && parent.projectId !== projectId) throw invalidField('parentId', 'must be in the same project');
}

/** Locks the folder exclusively: waits for transactions that add to it. */
const lockActiveFolder = (em: EntityManager, { builderId, folderId }: Target): Promise<PhotoFolder> =>
  requireFound(
    em.findOne(PhotoFolder, { id: folderId, builderId, archivedAt: null }, { lockMode: LockMode.PESSIMISTIC_WRITE }),
    'Photo folder',
  );
