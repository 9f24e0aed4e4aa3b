import { canonicalJsonBytes } from '../../shared/canonical-json.ts';
import { inspectPageDocument } from './page-document.ts';
import { treeOf } from './page-tree.ts';
import type { CheckedPage } from './prepared-page.ts';
import type { PageDocument } from './report-inputs.ts';

/** Bytes before and after the canonical JSON, for the other fields of a request. */
const MARGIN = 64 * 1024;

/** Checks a Page document of any shape and prepares it for a sync. For a worker thread: it takes time in proportion to its size. */
export function preparePage(value: unknown, path: string): CheckedPage {
  const errors = inspectPageDocument(value, path);
  if (errors.length > 0) return { errors };
  const page = value as PageDocument;
  const { buffer, start, end } = canonicalJsonBytes(page, MARGIN);
  return { content: { title: page.title, tree: treeOf(page), buffer, start, end } };
}
