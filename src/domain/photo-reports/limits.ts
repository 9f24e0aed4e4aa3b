import { hasLength } from '../../../schema/scalar.ts';

/** Smallest and largest that something may be. */
export interface Limit {
  /** What is limited, as an integrator calls it. */
  of: string;
  min: number;
  max: number;
  unit: string;
}

const limit = (of: string, min: number, max: number, unit: string): Limit => ({ of, min, max, unit });

/**
 * Every limit of a photo report: validation, the OpenAPI document and the README take them from here. Lengths are counted in
 * Unicode code points (PRP-18, PRP-19, PRP-22 to PRP-31).
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

/** Bytes of a body (PRP-33). */
export const MAX_BODY_BYTES = 32 * 1024 * 1024;

/** Levels of objects and lists in a request, which is the first (PRP-33). */
export const MAX_DEPTH = 64;

/** Only version of a Page document (PRP-22). */
export const SCHEMA_VERSION = 1;

/** Identifiers in a report, stricter than elsewhere (PRP-20, PRP-30). */
export const PATTERNS = {
  user: /^user_[a-z][a-z0-9]+$/,
  project: /^proj_[a-z][a-z0-9]+$/,
  attachment: /^att_[a-z][a-z0-9]+$/,
};

const written = (value: number) => value.toLocaleString('en');

/** `1 to 220 characters`, `at most 500 blocks`. */
export function rangeText({ min, max, unit }: Limit): string {
  const range = min === 0 && unit ? `at most ${max}` : `${min} to ${max}`;
  return unit ? `${range} ${unit}` : range;
}

/** The limits as a table in Markdown, for docs/photo-reports.md. */
export function limitsTable(): string {
  const rows = Object.values(LIMITS).map(({ of, min, max, unit }) => {
    const range = min === 0 && unit ? `at most ${written(max)}` : `${written(min)} to ${written(max)}`;
    return `| ${of} | ${[range, unit].filter(Boolean).join(' ')} |`;
  });
  const body = `| Body of the request | at most ${MAX_BODY_BYTES / 1024 / 1024} MiB |`;
  return ['| What | Limit |', '|---|---|', ...rows, body].join('\n');
}

/** Whether the text has as many code points as the limit allows. */
export const fitsIn = (text: string, { min, max }: Limit): boolean => hasLength(text, min, max);
