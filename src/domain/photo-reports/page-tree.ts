import type { PhotoReportStatus } from '../../../schema/enums.ts';
import { createFingerprint } from '../canonical-json.ts';
import type { Block, PageDocument } from './report-inputs.ts';

/** A page of a tree with its path: the `sourceBlockId`s of the blocks from the root to it. */
interface TreePage {
  path: string[];
  pathDigest: string;
  /** Digest of its parent's path; null for the root. */
  parentDigest: string | null;
}

/** An image of a tree; `at` is its path in the request. */
export interface TreeImage {
  at: string;
  block: Pick<Block, 'sourceBlockId' | 'imageStatus' | 'attachmentId'>;
}

/** Pages and images of a Page document. */
export interface PageTree {
  /** Parents before children. */
  pages: TreePage[];
  images: TreeImage[];
}

/** Returns `partial` if an image has failed, else `synced` (PRP-7). */
export const toReportStatus = ({ images }: PageTree): PhotoReportStatus =>
  images.some(({ block }) => block.imageStatus === 'FAILED') ? 'partial' : 'synced';

/** Returns the SHA-256 of a path. */
export const toPathDigest = (path: readonly string[]) => createFingerprint(JSON.stringify(path));

/** Returns the pages and images of a valid document. */
export function toPageTree(root: PageDocument): PageTree {
  const tree: PageTree = { pages: [], images: [] };
  walk(root, [], null, 'page', tree);
  return tree;
}

function walk(page: PageDocument, path: string[], parentDigest: string | null, at: string, tree: PageTree): void {
  const pathDigest = toPathDigest(path);
  tree.pages.push({ path, pathDigest, parentDigest });
  for (const [index, block] of page.blocks.entries()) {
    const here = `${at}.blocks[${index}]`;
    if (block.type === 'IMAGE') {
      const { sourceBlockId, imageStatus, attachmentId } = block;
      tree.images.push({ at: here, block: { sourceBlockId, imageStatus, attachmentId } });
    }
    if (block.type === 'PAGE') {
      walk(block.childPage as PageDocument, [...path, block.sourceBlockId], pathDigest, `${here}.childPage`, tree);
    }
  }
}
