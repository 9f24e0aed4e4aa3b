import type { FastifyInstance } from 'fastify';
import type pg from 'pg';
import { newId } from '../../../schema/ids.ts';
import { canonicalJson, createFingerprint } from '../../../src/domain/canonical-json.ts';
import { validatePageDocument } from '../../../src/domain/photo-reports/page-document.ts';
import { type PageTree, toPageTree } from '../../../src/domain/photo-reports/page-tree.ts';
import type { PageDocument } from '../../../src/domain/photo-reports/report-inputs.ts';
import type { ConcurrencyLimits } from './concurrency-limits.ts';
import { conflict, HttpError, invalid, notFound } from './http-error.ts';
import { pools, runInTransaction } from './plain-database.ts';
import { getShareKey, type RequestAuthorizer } from './request-authorizer.ts';
import { PHOTO_REPORT_BODY, PHOTO_REPORT_BYTES, type PhotoReportBody } from './request-bodies.ts';

const FIND_REPORT = {
  name: 'stored-report',
  text: `select id, integrator_id, source_revision, fingerprint, status from photo_report
    where builder_id = $1 and source_app = $2 and source_external_id = $3 for update`,
};
const LIST_PAGES = { name: 'pages', text: 'select id, path_digest from photo_report_page where report_id = $1' };
const FIND_PROJECT = { name: 'project', text: 'select 1 from project where id = $1 and builder_id = $2' };
const LOCK_PHOTOS = {
  name: 'photos-of-report',
  text: `select id, project_id from photo
    where id = any($1) and builder_id = $2 and archived_at is null order by id for share`,
};
const UPSERT_REPORT = {
  name: 'save-report',
  text: `insert into photo_report (id, created_at, updated_at, builder_id, source_app, source_external_id, integrator_id,
      project_id, source_revision, status, title, source_created_at, walkthrough_date, source_author, fingerprint, content)
    values ($1, $2, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
    on conflict (builder_id, source_app, source_external_id) do update set updated_at = excluded.updated_at,
      project_id = excluded.project_id, source_revision = excluded.source_revision, status = excluded.status,
      title = excluded.title, source_created_at = excluded.source_created_at, walkthrough_date = excluded.walkthrough_date,
      source_author = excluded.source_author, fingerprint = excluded.fingerprint, content = excluded.content, archived_at = null
    where photo_report.id = excluded.id`,
};
const REMOVE_PAGES = {
  name: 'remove-pages',
  text: 'delete from photo_report_page where report_id = $1 and id <> all($2)',
};
const ADD_PAGES = {
  name: 'add-pages',
  text: `insert into photo_report_page (id, report_id, parent_id, path, path_digest)
    select id, $1, "parentId", array(select jsonb_array_elements_text(path)), "pathDigest"
    from jsonb_to_recordset($2::jsonb) as page (id text, "parentId" text, path jsonb, "pathDigest" text)`,
};

const ROOT_PAGE = createFingerprint('[]');

/**
 * Registers the photo-report sync. It reuses the measured service's validation, canonical form and tree of the page document, so that the
 * comparison concerns the code around them. Users and deep links of the source application and PATCH are omitted.
 */
export function registerPlainPhotoReports(
  app: FastifyInstance,
  authorizer: RequestAuthorizer,
  limits: ConcurrencyLimits,
): void {
  app.post<{ Params: { builderId: string }; Body: PhotoReportBody }>(
    '/builders/:builderId/photo-reports/sync',
    { schema: { body: PHOTO_REPORT_BODY }, bodyLimit: PHOTO_REPORT_BYTES },
    async (request) => {
      const { builderId } = request.params;
      const caller = await authorizer.authorize(request, 'write:photos');
      await authorizer.authorizePathBuilder(caller, builderId, 'write:photos');
      const { sourceRevision, ...content } = request.body;
      const errors = validatePageDocument(content.page, 'page');
      if (errors.length > 0) throw invalid(errors);
      const text = canonicalJson(content);
      const sync: Sync = {
        ...{ builderId, integratorId: caller.access.integrator_id, body: request.body },
        ...{ text, fingerprint: createFingerprint(text), tree: toPageTree(content.page as PageDocument) },
      };
      const shareKey = getShareKey(caller);
      const write = () => runInTransaction(pools[caller.region], (client) => saveReport(client, sync));
      return limits.runSync(shareKey, () => limits.runWrite(shareKey, write));
    },
  );
}

interface Sync {
  builderId: string;
  integratorId: string;
  body: PhotoReportBody;
  text: string;
  fingerprint: string;
  tree: PageTree;
}

async function saveReport(client: pg.PoolClient, { builderId, integratorId, body, text, fingerprint, tree }: Sync) {
  const { sourceApp, sourceExternalId, sourceRevision, projectId = null } = body;
  const { rows } = await client.query({ ...FIND_REPORT, values: [builderId, sourceApp, sourceExternalId] });
  const [stored] = rows;
  const pages = stored ? (await client.query({ ...LIST_PAGES, values: [stored.id] })).rows : [];
  const pageIds = new Map<string, string>(pages.map(({ id, path_digest }) => [path_digest, id]));
  if (stored) {
    if (stored.integrator_id !== integratorId) {
      const message = 'This report belongs to the integrator that synced it first.';
      throw conflict('SOURCE_OWNERSHIP_REQUIRED', message);
    }
    if (stored.source_revision === sourceRevision && stored.fingerprint === fingerprint) {
      const { id, status } = stored;
      return { status, idempotent: true, photoReportId: id, pageId: pageIds.get(ROOT_PAGE), sourceRevision };
    }
    if (stored.source_revision === sourceRevision) {
      const message = 'This revision is stored with other content; send changed content under a higher revision.';
      throw conflict('REVISION_CONFLICT', message);
    }
    if (stored.source_revision > sourceRevision) {
      throw conflict('STALE_REVISION', 'A higher revision of this report is stored; send the latest one.');
    }
  }
  if (projectId !== null && (await client.query({ ...FIND_PROJECT, values: [projectId, builderId] })).rowCount === 0) {
    throw notFound('Project');
  }
  await requirePhotos(client, tree, builderId, projectId);
  const now = Date.now();
  const id = stored?.id ?? newId('photoReport', now);
  const status = tree.images.some(({ block }) => block.imageStatus === 'FAILED') ? 'partial' : 'synced';
  const { rowCount } = await client.query({
    ...UPSERT_REPORT,
    values: [
      ...[id, new Date(now), builderId, sourceApp, sourceExternalId, integratorId, projectId, sourceRevision, status],
      ...[body.page.title, body.sourceCreatedAt, body.walkthroughDate, body.sourceAuthor, fingerprint, text],
    ],
  });
  // A concurrent first sync of the same report has committed.
  if (rowCount === 0) throw new HttpError(503, { code: 'UNAVAILABLE', message: 'Try again.' });
  const ids = new Map(tree.pages.map(({ pathDigest }) => [pathDigest, pageIds.get(pathDigest) ?? newId('page', now)]));
  const addedPages = tree.pages
    .filter(({ pathDigest }) => !pageIds.has(pathDigest))
    .map(({ path, pathDigest, parentDigest }) => {
      return { id: ids.get(pathDigest), parentId: parentDigest && ids.get(parentDigest), path, pathDigest };
    });
  if (stored) await client.query({ ...REMOVE_PAGES, values: [id, [...ids.values()]] });
  if (addedPages.length > 0) await client.query({ ...ADD_PAGES, values: [id, JSON.stringify(addedPages)] });
  return { status, idempotent: false, photoReportId: id, pageId: ids.get(ROOT_PAGE), sourceRevision };
}

async function requirePhotos(client: pg.PoolClient, { images }: PageTree, builderId: string, projectId: string | null) {
  const syncedImages = images.filter(({ block }) => block.imageStatus === 'SYNCED');
  if (syncedImages.length === 0) return;
  const ids = [...new Set(syncedImages.map(({ block }) => block.attachmentId!))];
  const { rows } = await client.query({ ...LOCK_PHOTOS, values: [ids, builderId] });
  const usablePhotos = rows.filter(
    ({ project_id }) => projectId === null || project_id === null || project_id === projectId,
  );
  if (usablePhotos.length < ids.length) {
    throw conflict('ATTACHMENT_CONFLICT', 'An image refers to a photo that the report cannot show.');
  }
}
