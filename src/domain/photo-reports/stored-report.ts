import { toInstant } from '../../../schema/scalars.ts';
import { canonicalJson, fingerprintOf } from '../../shared/canonical-json.ts';
import type { FieldError } from '../../shared/errors.ts';
import { inspectPageDocument } from './page-document.ts';
import { digestOfPath, statusOf, treeOf } from './page-tree.ts';
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
import { type Fields, Findings, isAbsent } from './validation-errors.ts';

/*
 * What holds of a report that was synced, for reports that come otherwise: by an import. Each is held to the rules of a sync, so
 * that it can be read, shown and synced again.
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

/** A row of a report by itself: its content as a request, and its other fields as that content says. */
export function inspectStoredReport(row: Fields): FieldError[] {
  const errors = Findings.of((findings) => inspectContent(row, findings));
  if (errors.length > 0) return errors;
  const page = inspectPageDocument((row.content as Fields).page, 'content.page');
  return page.length > 0 ? page : Findings.of((findings) => inspectColumns(row, findings));
}

function inspectContent({ content, sourceRevision }: Fields, findings: Findings): void {
  const fields = findings.object(content, 'content', 'the content of a report', CONTENT_FIELDS);
  if (!fields) return;
  inspectFields(fields, 'content', CONTENT, findings);
  const author = findings.object(fields.sourceAuthor, 'content.sourceAuthor', 'an author', AUTHOR_FIELDS);
  if (author) inspectFields(author, 'content.sourceAuthor', AUTHOR, findings);
  inspectFields({ sourceRevision }, '', { sourceRevision: { type: SourceRevision } }, findings);
}

function inspectFields(fields: Fields, path: string, rules: Record<string, Rule>, findings: Findings): void {
  for (const [name, { type, optional }] of Object.entries(rules)) {
    const here = path === '' ? name : `${path}.${name}`;
    if (isAbsent(fields[name])) {
      if (!optional) findings.add(here, 'is required');
      continue;
    }
    try {
      type.parseValue(fields[name]);
    } catch (error) {
      findings.add(here, (error as Error).message);
    }
  }
}

function inspectColumns(row: Fields, findings: Findings): void {
  const content = row.content as Fields & { page: PageDocument };
  const expected = {
    sourceApp: content.sourceApp,
    sourceExternalId: content.sourceExternalId,
    projectId: content.projectId ?? null,
    mappedAdminUserId: content.mappedAdminUserId ?? null,
    sourceDeepLink: content.sourceDeepLink ?? null,
    title: content.page.title,
    status: statusOf(treeOf(content.page)),
    sourceAuthor: content.sourceAuthor,
  };
  for (const [name, value] of Object.entries(expected)) {
    if (canonicalJson(row[name] ?? null) !== canonicalJson(value)) findings.add(name, 'is not what the content says');
  }
  for (const name of ['sourceCreatedAt', 'walkthroughDate']) {
    if (toInstant(row[name] as string) !== toInstant(content[name] as string))
      findings.add(name, 'is not what the content says');
  }
  if (row.fingerprint !== fingerprintOf(canonicalJson(content)))
    findings.add('fingerprint', 'is not that of the content');
}

/** A row of a page by itself. */
export function inspectStoredPage({ path, pathDigest }: Fields): FieldError[] {
  const isRight = pathDigest === digestOfPath(path as string[]);
  return isRight ? [] : [{ fieldName: 'pathDigest', message: 'is not that of the path' }];
}

/** A report as it is stored, with its pages, and the photos of its builder that it may show. */
export interface WholeReport {
  page: PageDocument;
  pages: { id: string; parentId: string | null; pathDigest: string; path: string[] }[];
  photos: string[];
}

/** Reports by their ids, each as a `WholeReport`. */
export const WHOLE_REPORTS = `select r.id, r.content -> 'page' as page,
    coalesce((select json_agg(json_build_object('id', p.id, 'parentId', p.parent_id, 'pathDigest', p.path_digest, 'path', p.path))
      from photo_report_page p where p.report_id = r.id), '[]') as pages,
    array(select p.id from photo p where p.builder_id = r.builder_id and p.id in (
      select x #>> '{}' from jsonb_path_query(r.content, '$.**.attachmentId') x)) as photos
  from photo_report r where r.id = any($1::text[])`;

/** A report with its pages and photos: one page for each of its tree, under that of its parent, and every photo is there. */
export function inspectWholeReport({ page, pages, photos }: WholeReport): FieldError[] {
  return Findings.of((findings) => {
    const tree = treeOf(page);
    const stored = new Map(pages.map((one) => [one.pathDigest, one]));
    for (const { path, pathDigest, parentDigest } of tree.pages) {
      const found = stored.get(pathDigest);
      if (!found)
        findings.add('content.page', `has a page at ${nameOf(path)} that is not among its photo-report-pages`);
      else if (found.parentId !== (parentDigest === null ? null : stored.get(parentDigest)?.id))
        findings.add('content.page', `has ${found.id} at ${nameOf(path)}, and its parentId is not the page around it`);
    }
    const known = new Set(photos);
    for (const { at, block } of tree.images) {
      if (block.imageStatus === 'SYNCED' && !known.has(block.attachmentId!))
        findings.add(`content.${at}.attachmentId`, `${block.attachmentId} is no photo of the builder`);
    }
  });
}

const nameOf = (path: readonly string[]) => JSON.stringify(path);
