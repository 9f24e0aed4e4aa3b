import { type Statement, statement } from '../../database/pool/pg-pipeline.ts';

/*
 * Statements of one sync. At READ COMMITTED each statement has its own snapshot, so the lock is a statement of its own: what the next
 * statement reads of the report stays true until the commit.
 */

export const LOCK_REPORT = statement('photo-report.lock')`select pg_advisory_xact_lock(hashtextextended($1, 0))`;

const IDENTITY = 'r.builder_id = $1 and r.source_app = $2 and r.source_external_id = $3';

const STORED = `(select to_json(s) from (
    select r.id, r.integrator_id as "integratorId", r.source_revision as "sourceRevision", r.fingerprint, r.status,
      to_char(r.archived_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "archivedAt"
    from photo_report r where ${IDENTITY}) s) as stored`;

/** Parameters: builder, `sourceApp`, `sourceExternalId`, integrator, project, user. */
export const READ_FACTS = statement('photo-report.facts')`select ${STORED},
  (select json_object_agg(p.path_digest, p.id) from photo_report_page p join photo_report r on r.id = p.report_id
    where ${IDENTITY}) as pages,
  exists (select from project where id = $5 and builder_id = $1) as "projectExists",
  exists (select from membership where user_id = $6 and builder_id = $1) as "userIsMember",
  (select to_json(deep_link_schemes) from integrator where id = $4) as schemes`;

/** Parameters: builder, `sourceApp`, `sourceExternalId`. */
export const READ_STORED = statement('photo-report.stored')`select ${STORED},
  (select p.id from photo_report_page p join photo_report r on r.id = p.report_id
    where ${IDENTITY} and p.parent_id is null) as "pageId"`;

/** Locks the photos against archiving and moving, ordered by id so that two syncs do not deadlock. */
export const LOCK_PHOTOS = statement('photo-report.photos')`select id, project_id as "projectId" from photo
  where id = any($1::text[]) and builder_id = $2 and archived_at is null order by id for share`;

const INSERT = `insert into photo_report (id, created_at, updated_at, builder_id, source_app, source_external_id, integrator_id, project_id,
    source_revision, status, title, source_created_at, walkthrough_date, source_author, mapped_admin_user_id, source_deep_link,
    fingerprint, content)
  values ($1, $2::timestamptz, $2::timestamptz, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`;

/** Saves the first revision of a report. A statement that could also update would fire the triggers of both. */
export const CREATE: Statement = { name: 'photo-report.create', text: INSERT };

/** Saves a further revision. Has the parameters of `CREATE`. */
export const REPLACE = statement('photo-report.replace')`${INSERT}
  on conflict (builder_id, source_app, source_external_id) do update set updated_at = excluded.updated_at,
    project_id = excluded.project_id, source_revision = excluded.source_revision, status = excluded.status,
    title = excluded.title, source_created_at = excluded.source_created_at, walkthrough_date = excluded.walkthrough_date,
    source_author = excluded.source_author, mapped_admin_user_id = excluded.mapped_admin_user_id,
    source_deep_link = excluded.source_deep_link, fingerprint = excluded.fingerprint, content = excluded.content,
    archived_at = null`;

/** Parameters: report, ids of the pages to keep. */
export const REMOVE_PAGES = statement('photo-report.remove-pages')`
  delete from photo_report_page where report_id = $1 and id <> all($2::text[])`;

/** Parameters: report, new pages as JSON. */
export const ADD_PAGES = statement('photo-report.add-pages')`
  insert into photo_report_page (id, report_id, parent_id, path, path_digest)
  select p.id, $1, p."parentId", array(select jsonb_array_elements_text(p.path)), p."pathDigest"
  from jsonb_to_recordset($2::jsonb) as p (id text, "parentId" text, path jsonb, "pathDigest" text)`;

export const ARCHIVE = statement('photo-report.archive')`
  update photo_report set archived_at = $2::timestamptz, updated_at = $2::timestamptz where id = $1`;
