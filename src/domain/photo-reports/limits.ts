import { hasLength } from '../../../schema/text.ts';

/** Minimum and maximum of a length, count or value. */
export interface Limit {
  /** What is limited, in Markdown for the documentation. */
  of: string;
  min: number;
  max: number;
  unit: string;
}

const limit = (of: string, min: number, max: number, unit: string): Limit => ({ of, min, max, unit });

/**
 * Limits of a photo report, for validation, the OpenAPI document and the documentation. Lengths are counted in Unicode code points
 * (PRP-18, PRP-19, PRP-22 to PRP-31).
 */
export const LIMITS = {
  sourceApp: limit('`sourceApp`', 1, 80, 'characters'),
  sourceExternalId: limit('`sourceExternalId`', 1, 220, 'characters'),
  sourceRevision: limit('`sourceRevision`', 1, 2_147_483_647, ''),
  authorExternalId: limit('`sourceAuthor.externalId`', 1, 220, 'characters'),
  authorName: limit('`sourceAuthor.name`', 1, 240, 'characters'),
  authorEmail: limit('`sourceAuthor.email`', 1, 320, 'characters'),
  sourceDeepLink: limit('`sourceDeepLink`', 1, 1_000, 'characters'),
  pageText: limit('`title` and `shortDescription` of a page, each', 0, 20_000, 'characters'),
  blocks: limit('`blocks` of one page, and of the whole tree', 0, 500, 'blocks'),
  levels: limit('Page levels, the root included', 1, 4, 'levels'),
  sourceBlockId: limit('`sourceBlockId`', 1, 220, 'characters'),
  items: limit('`properties.items` of a list or checklist', 1, 100, 'items'),
  itemId: limit('`id` of a list item', 1, 220, 'characters'),
  itemDepth: limit('`depth` of a list item', 0, 6, ''),
  headingLevel: limit('`properties.level` of a heading', 1, 4, ''),
  runs: limit('`richText`', 1, 200, 'runs'),
  richText: limit('Text of one `richText` in all', 0, 20_000, 'characters'),
  marks: limit('`marks` of a run', 0, 2, 'marks'),
  failureCode: limit('`imageFailure.code`', 1, 80, 'characters'),
  failureMessage: limit('`imageFailure.message`', 1, 500, 'characters'),
  digits: limit('Numbers in all free-form fields, written without exponents', 0, 32 * 1024 * 1024, 'digits'),
} satisfies Record<string, Limit>;

/** Maximum bytes of a request body (PRP-33). */
export const MAX_BODY_BYTES = 32 * 1024 * 1024;

/** Name of the GraphQL type of Page documents. */
export const DOCUMENT_TYPE = 'PageDocumentInput';

/** Only version of a Page document (PRP-22). */
export const SCHEMA_VERSION = 1;

/** Patterns of identifiers in a report, stricter than elsewhere (PRP-20, PRP-30). */
export const PATTERNS = {
  user: /^user_[a-z][a-z0-9]+$/,
  project: /^proj_[a-z][a-z0-9]+$/,
  attachment: /^att_[a-z][a-z0-9]+$/,
};

/** Returns the range as text: `1 to 220 characters`, `at most 500 blocks`. */
export function formatRange({ min, max, unit }: Pick<Limit, 'min' | 'max' | 'unit'>): string {
  const range = min === 0 && unit ? `at most ${max}` : `${min} to ${max}`;
  return unit ? `${range} ${unit}` : range;
}

/** Whether the number of code points of the text is within the limit. */
export const hasLengthWithin = (text: string, { min, max }: Limit): boolean => hasLength(text, min, max);
