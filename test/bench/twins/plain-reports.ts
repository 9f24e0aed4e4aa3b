import type { FastifyInstance } from 'fastify';
import type pg from 'pg';
import type { PageDocumentInput } from '../../../resolvers/photo-report/photo-report.input.ts';
import { validatePageDocument } from '../../../src/domain/photo-reports/page-document.ts';
import { type PageTree, toPageTree } from '../../../src/domain/photo-reports/page-tree.ts';
import { canonicalJson, createFingerprint } from '../../../src/shared/canonical-json.ts';
import { newId } from '../../../src/shared/ids.ts';
import { REPORT_BODY, REPORT_LIMIT, type ReportBody } from './inputs.ts';
import type { Limits } from './limits.ts';
import { pools, transaction } from './plain-database.ts';
import { conflict, type Door, HttpError, invalid, notFound, shareOf } from './service.ts';

const STORED = {
  name: 'stored-report',
  text: `select id, integrator_id, source_revision, fingerprint, status from photo_report
    where builder_id = $1 and source_app = $2 and source_external_id = $3 for update`,
};
const PAGES = { name: 'pages', text: 'select id, path_digest from photo_report_page where report_id = $1' };
const PROJECT = { name: 'project', text: 'select 1 from project where id = $1 and builder_id = $2' };
const PHOTOS = {
  name: 'photos-of-report',
  text: `select id, project_id from photo
    where id = any($1) and builder_id = $2 and archived_at is null order by id for share`,
};
const SAVE = {
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

const ROOT = createFingerprint('[]');

/**
 * Takes the service's own reading of the document: its validation, canonical form and tree. What is compared is what stands around
 * them. Left out: users and deep links of the other application, and the PATCH.
 */
export function plainReports(app: FastifyInstance, door: Door, limits: Limits): void {
  app.post<{ Params: { builderId: string }; Body: ReportBody }>(
    '/builders/:builderId/photo-reports/sync',
    { schema: { body: REPORT_BODY }, bodyLimit: REPORT_LIMIT },
    async (request) => {
      const { builderId } = request.params;
      const caller = await door.enter(request, 'write:photos');
      await door.requirePathBuilder(caller, builderId, 'write:photos');
      const { sourceRevision, ...content } = request.body;
      const errors = validatePageDocument(content.page, 'page');
      if (errors.length > 0) throw invalid(errors);
      const text = canonicalJson(content);
      const sync: Sync = {
        ...{ builderId, integratorId: caller.grants.integrator_id, body: request.body },
        ...{ text, fingerprint: createFingerprint(text), tree: toPageTree(content.page as PageDocumentInput) },
      };
      const share = shareOf(caller);
      const write = () => transaction(pools[caller.region], (client) => save(client, sync));
      return limits.runSync(share, () => limits.runWrite(share, write));
    },
  );
}

interface Sync {
  builderId: string;
  integratorId: string;
  body: ReportBody;
  text: string;
  fingerprint: string;
  tree: PageTree;
}

async function save(client: pg.PoolClient, { builderId, integratorId, body, text, fingerprint, tree }: Sync) {
  const { sourceApp, sourceExternalId, sourceRevision, projectId = null } = body;
  const found = await client.query({ ...STORED, values: [builderId, sourceApp, sourceExternalId] });
  const [stored] = found.rows;
  const pages = stored ? (await client.query({ ...PAGES, values: [stored.id] })).rows : [];
  const known = new Map<string, string>(pages.map(({ id, path_digest }) => [path_digest, id]));
  if (stored) {
    if (stored.integrator_id !== integratorId) {
      const message = 'This report belongs to the integrator that synced it first.';
      throw conflict('SOURCE_OWNERSHIP_REQUIRED', message);
    }
    if (stored.source_revision === sourceRevision && stored.fingerprint === fingerprint) {
      const { id, status } = stored;
      return { status, idempotent: true, photoReportId: id, pageId: known.get(ROOT), sourceRevision };
    }
    if (stored.source_revision === sourceRevision) {
      const message = 'This revision is stored with other content; send changed content under a higher revision.';
      throw conflict('REVISION_CONFLICT', message);
    }
    if (stored.source_revision > sourceRevision) {
      throw conflict('STALE_REVISION', 'A higher revision of this report is stored; send the latest one.');
    }
  }
  if (projectId !== null && (await client.query({ ...PROJECT, values: [projectId, builderId] })).rowCount === 0) {
    throw notFound('Project');
  }
  await requirePhotos(client, tree, builderId, projectId);
  const now = Date.now();
  const id = stored?.id ?? newId('photoReport', now);
  const status = tree.images.some(({ block }) => block.imageStatus === 'FAILED') ? 'partial' : 'synced';
  const { rowCount } = await client.query({
    ...SAVE,
    values: [
      ...[id, new Date(now), builderId, sourceApp, sourceExternalId, integratorId, projectId, sourceRevision, status],
      ...[body.page.title, body.sourceCreatedAt, body.walkthroughDate, body.sourceAuthor, fingerprint, text],
    ],
  });
  // Another first sync of it came in between.
  if (rowCount === 0) throw new HttpError(503, { code: 'UNAVAILABLE', message: 'Try again.' });
  const ids = new Map(tree.pages.map(({ pathDigest }) => [pathDigest, known.get(pathDigest) ?? newId('page', now)]));
  const added = tree.pages
    .filter(({ pathDigest }) => !known.has(pathDigest))
    .map(({ path, pathDigest, parentDigest }) => {
      return { id: ids.get(pathDigest), parentId: parentDigest && ids.get(parentDigest), path, pathDigest };
    });
  if (stored) await client.query({ ...REMOVE_PAGES, values: [id, [...ids.values()]] });
  if (added.length > 0) await client.query({ ...ADD_PAGES, values: [id, JSON.stringify(added)] });
  return { status, idempotent: false, photoReportId: id, pageId: ids.get(ROOT), sourceRevision };
}

async function requirePhotos(client: pg.PoolClient, { images }: PageTree, builderId: string, projectId: string | null) {
  const shown = images.filter(({ block }) => block.imageStatus === 'SYNCED');
  if (shown.length === 0) return;
  const ids = [...new Set(shown.map(({ block }) => block.attachmentId!))];
  const { rows } = await client.query({ ...PHOTOS, values: [ids, builderId] });
  const usable = rows.filter(({ project_id }) => projectId === null || project_id === null || project_id === projectId);
  if (usable.length < ids.length) {
    throw conflict('ATTACHMENT_CONFLICT', 'An image refers to a photo that the report cannot show.');
  }
}
