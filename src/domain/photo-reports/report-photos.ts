import type { Transaction } from '../../database/write/transaction-runner.ts';
import { conflict } from '../../shared/errors.ts';
import type { TreeImage } from './page-tree.ts';
import { LOCK_PHOTOS } from './sync-statements.ts';

/** Maximum blocks that an error message names. */
const MAX_NAMED = 10;

type PhotoProjects = ReadonlyMap<string, string | null>;

const filterSynced = (images: readonly TreeImage[]) => images.filter(({ block }) => block.imageStatus === 'SYNCED');

/** Locks the active photos of the builder that the images refer to until the transaction ends. Returns the project of each by id. */
export async function lockPhotos(
  transaction: Transaction,
  images: readonly TreeImage[],
  builderId: string,
): Promise<PhotoProjects> {
  const ids = [...new Set(filterSynced(images).map(({ block }) => block.attachmentId!))];
  const rows = ids.length === 0 ? [] : await transaction.query([LOCK_PHOTOS, [ids, builderId]]);
  return new Map(rows.map((row) => [row.id as string, row.projectId as string | null]));
}

/**
 * Throws `ATTACHMENT_CONFLICT` with the blocks whose photo is not among the photos, or belongs to another project than the report
 * (PRP-14).
 */
export function requirePhotos(
  photos: PhotoProjects,
  images: readonly TreeImage[],
  projectId: string | null | undefined,
): void {
  const problems = filterSynced(images).flatMap(({ at, block }) => {
    const photoProject = photos.get(block.attachmentId!);
    const where = `${at}.attachmentId (block "${block.sourceBlockId}")`;
    if (photoProject === undefined) return [`${where}: ${block.attachmentId} is not an active photo of this builder`];
    if (projectId == null || photoProject === null || photoProject === projectId) return [];
    return [`${where}: ${block.attachmentId} is in another project`];
  });
  if (problems.length === 0) return;
  const more = problems.length > MAX_NAMED ? [`and ${problems.length - MAX_NAMED} more`] : [];
  const message = `${[...problems.slice(0, MAX_NAMED), ...more].join('; ')}.`;
  throw conflict('ATTACHMENT_CONFLICT', message, 'Each image must be an active photo of the builder and project.');
}
