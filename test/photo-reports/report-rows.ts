import { newId } from '../../schema/ids.ts';
import type { Database } from '../../src/database/database.ts';
import { canonicalJson, createFingerprint } from '../../src/domain/canonical-json.ts';
import { page, request } from './documents.ts';

const NOW = Date.UTC(2026, 2, 2);

/** Inserts the rows of a report of one page without blocks. */
export async function addReport(database: Database, builderId: string, title: string): Promise<string> {
  const { sourceRevision, ...content } = request({ page: page([], { title }) });
  const { sourceApp, sourceExternalId, sourceCreatedAt, walkthroughDate, sourceAuthor } = content;
  const id = newId('photoReport', NOW);
  const at = new Date(NOW).toISOString();
  await database.fork().execute(
    `insert into photo_report (id, created_at, updated_at, builder_id, source_app, source_external_id, integrator_id,
       source_revision, status, title, source_created_at, walkthrough_date, source_author, fingerprint, content)
     values (?, ?, ?, ?, ?, ?, 'intg_a', ?, 'synced', ?, ?, ?, ?, ?, ?)`,
    [
      ...[id, at, at, builderId, sourceApp, sourceExternalId, sourceRevision, title, sourceCreatedAt, walkthroughDate],
      ...[JSON.stringify(sourceAuthor), createFingerprint(canonicalJson(content)), JSON.stringify(content)],
    ],
  );
  await database
    .fork()
    .execute(`insert into photo_report_page (id, report_id, path, path_digest) values (?, ?, '{}', ?)`, [
      newId('page', NOW),
      id,
      createFingerprint('[]'),
    ]);
  return id;
}
