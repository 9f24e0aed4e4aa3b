import type { PhotoReportStatus } from '../../../schema/enums.ts';
import { fingerprintOf } from '../../shared/canonical-json.ts';
import type { Block, PageDocument } from './report-inputs.ts';

/** A page of a tree, and how its `sourceBlockId`s lead to it. */
export interface PlacedPage {
  path: string[];
  pathDigest: string;
  /** Digest of its parent's path; null for the root. */
  parentDigest: string | null;
}

/** An image of a tree, and where it stands in the request. */
export interface PlacedImage {
  at: string;
  block: Pick<Block, 'sourceBlockId' | 'imageStatus' | 'attachmentId'>;
}

/** What a tree holds that is stored or looked up beside its content. */
export interface Tree {
  /** Parents before children. */
  pages: PlacedPage[];
  images: PlacedImage[];
}

/** What a sync of the tree comes to (PRP-7). */
export const statusOf = ({ images }: Tree): PhotoReportStatus =>
  images.some(({ block }) => block.imageStatus === 'FAILED') ? 'partial' : 'synced';

export const digestOfPath = (path: readonly string[]) => fingerprintOf(JSON.stringify(path));

/** Lists the pages and images of a valid document. */
export function treeOf(root: PageDocument): Tree {
  const tree: Tree = { pages: [], images: [] };
  walk(root, [], null, 'page', tree);
  return tree;
}

function walk(page: PageDocument, path: string[], parentDigest: string | null, at: string, tree: Tree): void {
  const pathDigest = digestOfPath(path);
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
