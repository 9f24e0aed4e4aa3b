import { findJsonProblems } from '../../../schema/json-problems.ts';
import { toInstant } from '../../../schema/scalars.ts';
import type { FieldError } from '../../shared/errors.ts';
import { canonicalJson, createFingerprint } from '../canonical-json.ts';
import { removeNullFields } from './null-fields.ts';
import { validatePageDocument } from './page-document.ts';
import { toPageTree, toPathDigest, toReportStatus } from './page-tree.ts';
import {
  AuthorEmail,
  AuthorExternalId,
  AuthorName,
  DeepLink,
  ReportExternalId,
  ReportProjectId,
  ReportSourceApp,
  ReportUserId,
  SourceInstant,
  SourceRevision,
} from './photo-report.scalars.ts';
import type { PageDocument } from './report-inputs.ts';
import { type Fields, isAbsent, ValidationErrors } from './validation-errors.ts';

/*
 * Validation of imported reports. An imported report must satisfy the rules of a sync, so that it can be read and synced again.
 */

interface Rule {
  type: { parseValue(value: unknown): unknown };
  optional?: true;
}

const CONTENT: Record<string, Rule> = {
  sourceApp: { type: ReportSourceApp },
  sourceExternalId: { type: ReportExternalId },
  sourceCreatedAt: { type: SourceInstant },
  walkthroughDate: { type: SourceInstant },
  mappedAdminUserId: { type: ReportUserId, optional: true },
  sourceDeepLink: { type: DeepLink, optional: true },
  projectId: { type: ReportProjectId, optional: true },
};
const AUTHOR: Record<string, Rule> = {
  externalId: { type: AuthorExternalId },
  name: { type: AuthorName },
  email: { type: AuthorEmail, optional: true },
};

const CONTENT_FIELDS = new Set([...Object.keys(CONTENT), 'sourceAuthor', 'page']);
const AUTHOR_FIELDS = new Set(Object.keys(AUTHOR));

/** Removes null fields from the content of an imported row, and computes its fingerprint again where it was that of the content (PRP-2). */
export function normalizeReportRow(row: Fields): void {
  // Numbers that JSON does not have and very deep nesting, which the validation of the field reports.
  if (findJsonProblems(row.content, { level: 1 }).length > 0) return;
  const isOfContent = row.fingerprint === createFingerprint(canonicalJson(row.content ?? null));
  removeNullFields(row.content);
  if (isOfContent) row.fingerprint = createFingerprint(canonicalJson(row.content ?? null));
}

/** Validates a row of `photo_report`: its content as a request, and its columns against the content. */
export function validateReportRow(row: Fields): FieldError[] {
  const errors = ValidationErrors.collect((errors) => validateContent(row, errors));
  if (errors.length > 0) return errors;
  const page = validatePageDocument((row.content as Fields).page, 'content.page');
  return page.length > 0 ? page : ValidationErrors.collect((errors) => validateColumns(row, errors));
}

function validateContent({ content, sourceRevision }: Fields, errors: ValidationErrors): void {
  const fields = errors.requireObject(content, 'content', CONTENT_FIELDS);
  if (!fields) return;
  validateFields(fields, 'content', CONTENT, errors);
  const author = errors.requireObject(fields.sourceAuthor, 'content.sourceAuthor', AUTHOR_FIELDS);
  if (author) validateFields(author, 'content.sourceAuthor', AUTHOR, errors);
  validateFields({ sourceRevision }, '', { sourceRevision: { type: SourceRevision } }, errors);
}

function validateFields(fields: Fields, path: string, rules: Record<string, Rule>, errors: ValidationErrors): void {
  for (const [name, { type, optional }] of Object.entries(rules)) {
    const here = path === '' ? name : `${path}.${name}`;
    if (isAbsent(fields[name])) {
      if (!optional) errors.add(here, 'is required');
      continue;
    }
    try {
      type.parseValue(fields[name]);
    } catch (error) {
      errors.add(here, (error as Error).message);
    }
  }
}

function validateColumns(row: Fields, errors: ValidationErrors): void {
  const content = row.content as Fields & { page: PageDocument };
  const expected = {
    sourceApp: content.sourceApp,
    sourceExternalId: content.sourceExternalId,
    projectId: content.projectId ?? null,
    mappedAdminUserId: content.mappedAdminUserId ?? null,
    sourceDeepLink: content.sourceDeepLink ?? null,
    title: content.page.title,
    status: toReportStatus(toPageTree(content.page)),
    sourceAuthor: content.sourceAuthor,
  };
  for (const [name, value] of Object.entries(expected)) {
    if (canonicalJson(row[name] ?? null) !== canonicalJson(value)) errors.add(name, 'is not what the content says');
  }
  for (const name of ['sourceCreatedAt', 'walkthroughDate']) {
    if (toInstant(row[name] as string) !== toInstant(content[name] as string))
      errors.add(name, 'is not what the content says');
  }
  if (row.fingerprint !== createFingerprint(canonicalJson(content)))
    errors.add('fingerprint', 'is not that of the content');
}

/** Validates a row of `photo_report_page`. */
export function validatePageRow({ path, pathDigest }: Fields): FieldError[] {
  const isCorrect = pathDigest === toPathDigest(path as string[]);
  return isCorrect ? [] : [{ fieldName: 'pathDigest', message: 'is not that of the path' }];
}

/** A stored report with its pages, and the ids of the photos of its builder that it refers to. */
interface ReportWithPages {
  page: PageDocument;
  pages: { id: string; parentId: string | null; pathDigest: string; path: string[] }[];
  photos: string[];
}

/** SQL that selects reports by id, each as a `ReportWithPages`. */
export const REPORTS_WITH_PAGES = `select r.id, r.content -> 'page' as page,
    coalesce((select json_agg(json_build_object('id', p.id, 'parentId', p.parent_id, 'pathDigest', p.path_digest, 'path', p.path))
      from photo_report_page p where p.report_id = r.id), '[]') as pages,
    array(select p.id from photo p where p.builder_id = r.builder_id and p.id in (
      select x #>> '{}' from jsonb_path_query(r.content, '$.**.attachmentId') x)) as photos
  from photo_report r where r.id = any($1::text[])`;

/** Validates that each page of the tree is stored under its parent page, and that each photo exists. */
export function validateReportWithPages({ page, pages, photos }: ReportWithPages): FieldError[] {
  return ValidationErrors.collect((errors) => {
    const tree = toPageTree(page);
    const stored = new Map(pages.map((one) => [one.pathDigest, one]));
    for (const { path, pathDigest, parentDigest } of tree.pages) {
      const found = stored.get(pathDigest);
      if (!found)
        errors.add('content.page', `has a page at ${formatPath(path)} that is not among its photo-report-pages`);
      else if (found.parentId !== (parentDigest === null ? null : stored.get(parentDigest)?.id))
        errors.add(
          'content.page',
          `has ${found.id} at ${formatPath(path)}, and its parentId is not the page around it`,
        );
    }
    const photoIds = new Set(photos);
    for (const { at, block } of tree.images) {
      if (block.imageStatus === 'SYNCED' && !photoIds.has(block.attachmentId!))
        errors.add(`content.${at}.attachmentId`, `${block.attachmentId} is no photo of the builder`);
    }
  });
}

const formatPath = (path: readonly string[]) => JSON.stringify(path);
