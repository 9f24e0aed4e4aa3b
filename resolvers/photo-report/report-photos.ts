import type { Transaction } from '../../src/database/transactions.ts';
import { conflict } from '../../src/errors.ts';
import type { PlacedImage } from './page-tree.ts';
import { PHOTOS } from './sync-statements.ts';

/** Most blocks that one answer names. */
const MOST_NAMED = 10;

/**
 * Throws 409 `ATTACHMENT_CONFLICT`, naming the blocks, unless every image that is there is an active photo of the builder, and none
 * is in another project than the report. The photos stay so until the transaction ends. Part 9 of the decisions.
 */
export async function requirePhotos(
  transaction: Transaction,
  images: readonly PlacedImage[],
  { builderId, projectId }: { builderId: string; projectId?: string | null },
): Promise<void> {
  const synced = images.filter(({ block }) => block.imageStatus === 'SYNCED');
  if (synced.length === 0) return;
  const ids = [...new Set(synced.map(({ block }) => block.attachmentId!))];
  const rows = await transaction.query([PHOTOS, [ids, builderId]]);
  const projects = new Map(rows.map((row) => [row.id as string, row.projectId as string | null]));
  const problems = synced.flatMap(({ at, block }) => {
    const photoProject = projects.get(block.attachmentId!);
    const where = `${at}.attachmentId (block "${block.sourceBlockId}")`;
    if (photoProject === undefined) return [`${where}: ${block.attachmentId} is not an active photo of this builder`];
    if (projectId == null || photoProject === null || photoProject === projectId) return [];
    return [`${where}: ${block.attachmentId} is in another project`];
  });
  if (problems.length === 0) return;
  const more = problems.length > MOST_NAMED ? [`and ${problems.length - MOST_NAMED} more`] : [];
  throw conflict('ATTACHMENT_CONFLICT', `${[...problems.slice(0, MOST_NAMED), ...more].join('; ')}.`);
}
