import { canonicalJsonBytes } from '../canonical-json.ts';
import { removeNullFields } from './null-fields.ts';
import { validatePageDocument } from './page-document.ts';
import { toPageTree } from './page-tree.ts';
import type { CheckedPage } from './prepared-page.ts';
import type { PageDocument } from './report-inputs.ts';

/** Free bytes before and after the canonical JSON, for the other fields of a request. */
const MARGIN = 64 * 1024;

/** Validates any value as a Page document and prepares it for a sync. Runs in a worker thread, because it takes linear time. */
export function preparePage(value: unknown): CheckedPage {
  const errors = validatePageDocument(value);
  if (errors.length > 0) return { errors };
  removeNullFields(value);
  const page = value as PageDocument;
  const { buffer, start, end } = canonicalJsonBytes(page, MARGIN);
  return { content: { title: page.title, tree: toPageTree(page), buffer, start, end } };
}
