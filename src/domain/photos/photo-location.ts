import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { PhotoFolder } from '../../../entities/photo-folder.entity.ts';
import { invalidField } from '../../shared/errors.ts';
import type { OperationContext } from '../operation-context.ts';
import { projects } from '../readers/project.reader.ts';
import { requireFound } from '../require-found.ts';

/** Throws `NOT_FOUND` unless the project belongs to the builder. */
export async function requireProject(
  { database }: OperationContext,
  builderId: string,
  projectId: string,
): Promise<void> {
  await requireFound(projects.findOne(database, projectId, { builderId }), 'Project');
}

/**
 * Returns the folder, locked against deletion until the transaction ends. Throws `NOT_FOUND` unless it belongs to the builder, and a
 * `ValidationError` if it is in another project. A folder without a project accepts photos of all projects.
 */
export async function lockFolderForProject(
  em: EntityManager,
  where: { builderId: string; projectId: string | null },
  named: { field: string; id: string },
): Promise<PhotoFolder> {
  const { builderId, projectId } = where;
  const found = await requireFound(
    em.findOne(PhotoFolder, { id: named.id, builderId, archivedAt: null }, { lockMode: LockMode.PESSIMISTIC_READ }),
    'Photo folder',
  );
  if (found.projectId !== null && projectId !== null && found.projectId !== projectId) {
    throw invalidField(named.field, 'is in another project');
  }
  return found;
}

/**
 * Locks the folders in the order of their ids until the transaction ends, and returns the ids of the active ones. A shared lock
 * prevents deletion of a folder; an exclusive lock also prevents other transactions from adding to it.
 */
export async function lockFolders(
  em: EntityManager,
  ids: readonly string[],
  mode: 'shared' | 'exclusive',
): Promise<Set<string>> {
  const where = { id: { $in: [...ids] }, archivedAt: null };
  const lockMode = mode === 'shared' ? LockMode.PESSIMISTIC_READ : LockMode.PESSIMISTIC_WRITE;
  const folders = ids.length === 0 ? [] : await em.find(PhotoFolder, where, { orderBy: { id: 'asc' }, lockMode });
  return new Set(folders.map(({ id }) => id));
}
