import type { Transaction } from '../../database/write/transaction-runner.ts';
import { conflict } from '../../shared/errors.ts';
import type { PlacedImage } from './page-tree.ts';
import { PHOTOS } from './sync-statements.ts';

/** Most blocks that one answer names. */
const MOST_NAMED = 10;

type PhotoProjects = ReadonlyMap<string, string | null>;

const synced = (images: readonly PlacedImage[]) => images.filter(({ block }) => block.imageStatus === 'SYNCED');

/** The active photos of the builder among those that the images name, with their projects. They stay so until the transaction ends. */
export async function holdPhotos(
  transaction: Transaction,
  images: readonly PlacedImage[],
  builderId: string,
): Promise<PhotoProjects> {
  const ids = [...new Set(synced(images).map(({ block }) => block.attachmentId!))];
  const rows = ids.length === 0 ? [] : await transaction.query([PHOTOS, [ids, builderId]]);
  return new Map(rows.map((row) => [row.id as string, row.projectId as string | null]));
}

/**
 * Throws 409 `ATTACHMENT_CONFLICT`, naming the blocks, unless every image that is there is among the photos, and none is in another
 * project than the report (PRP-14).
 */
export function requirePhotos(
  photos: PhotoProjects,
  images: readonly PlacedImage[],
  projectId: string | null | undefined,
): void {
  const problems = synced(images).flatMap(({ at, block }) => {
    const photoProject = photos.get(block.attachmentId!);
    const where = `${at}.attachmentId (block "${block.sourceBlockId}")`;
    if (photoProject === undefined) return [`${where}: ${block.attachmentId} is not an active photo of this builder`];
    if (projectId == null || photoProject === null || photoProject === projectId) return [];
    return [`${where}: ${block.attachmentId} is in another project`];
  });
  if (problems.length === 0) return;
  const more = problems.length > MOST_NAMED ? [`and ${problems.length - MOST_NAMED} more`] : [];
  throw conflict('ATTACHMENT_CONFLICT', `${[...problems.slice(0, MOST_NAMED), ...more].join('; ')}.`);
}
