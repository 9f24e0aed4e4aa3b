import { createHash } from 'node:crypto';
import type { Database } from '../../src/database/database.ts';
import { canonicalJson, createFingerprint } from '../../src/domain/canonical-json.ts';
import type { Storage } from '../../src/storage/storage.ts';
import type { Json } from '../photo-reports/documents.ts';
import type { IntegratorApplication } from './integrator-application.ts';

/** Returns acknowledged writes that the service does not have, or has twice. */
export async function verifyWrites(
  database: Database,
  storage: Storage,
  application: IntegratorApplication,
): Promise<string[]> {
  return [
    ...(await verifyEvents(database, application)),
    ...(await verifyPhotos(database, storage, application)),
    ...(await verifyReports(database, application)),
    ...(await verifyMeetings(database, application)),
  ];
}

const readRows = (database: Database, sql: string, values: unknown[]) =>
  database.fork().execute(sql, values) as Promise<Record<string, Json>[]>;

async function verifyEvents(
  database: Database,
  { acknowledged, client, target, run }: IntegratorApplication,
): Promise<string[]> {
  const problems: string[] = [];
  const sql = `select e.source_event_id as id, e.status from sign_on_event e
    join oauth_client c on c.integrator_id = e.integrator_id where c.id = ? and source_event_id like ?`;
  const stored = new Map((await readRows(database, sql, [client.clientId, `%-${run}-%`])).map((row) => [row.id, row]));
  for (const [id, { newResponses }] of acknowledged.events) {
    if (stored.get(id)?.status !== 'APPLIED') problems.push(`event ${id} is ${stored.get(id)?.status ?? 'lost'}`);
    if (newResponses > 1) problems.push(`event ${id} was taken for new ${newResponses} times`);
  }
  // Health probes use the same workers; their events and visits are in both counts.
  const countSql = `select (select count(*)::int from sign_on_visit where worker_id = any(string_to_array(?, ','))) as visits,
    (select count(*)::int from sign_on_event where worker_id = any(string_to_array(?, ',')) and type = 'SIGN_ON') as ons`;
  const workers = target.workers.join();
  const [counts] = await readRows(database, countSql, [workers, workers]);
  if (counts!.visits !== counts!.ons) problems.push(`${counts!.ons} sign-ons made ${counts!.visits} visits`);
  return problems;
}

async function verifyPhotos(database: Database, storage: Storage, { acknowledged, run }: IntegratorApplication) {
  const problems: string[] = [];
  const sql = `select key, page_external_source_id || ' ' || external_source_id as id from photo
    where source_app = 'proof' and archived_at is null and page_external_source_id like ?`;
  const found = new Map<string, string>();
  for (const { id, key } of await readRows(database, sql, [`page-${run}-%`])) {
    if (found.has(id)) problems.push(`photo ${id} is there twice`);
    found.set(id, key);
  }
  for (const [id, hash] of acknowledged.photos) {
    const key = found.get(id);
    const opened = key === undefined ? null : await storage.byteStore.open(key);
    if (!opened) {
      problems.push(`photo ${id} ${key ? 'has no bytes' : 'is lost'}`);
      continue;
    }
    const digest = createHash('sha256');
    for await (const chunk of opened.stream) digest.update(chunk as Buffer);
    if (digest.digest('hex') !== hash) problems.push(`photo ${id} has other bytes`);
  }
  const duplicateSql = `select page_external_source_id as page from photo_folder where source_app = 'proof' and archived_at is null
    and page_external_source_id like ? group by 1 having count(*) > 1`;
  for (const { page } of await readRows(database, duplicateSql, [`page-${run}-%`]))
    problems.push(`${page} has two folders`);
  return problems;
}

async function verifyReports(database: Database, { acknowledged, client }: IntegratorApplication): Promise<string[]> {
  const problems: string[] = [];
  for (const [id, { sourceRevision, ...content }] of acknowledged.reports) {
    const sql = `select source_revision as revision, fingerprint from photo_report r
      join oauth_client c on c.integrator_id = r.integrator_id where c.id = ? and source_external_id = ?`;
    const rows = await readRows(database, sql, [client.clientId, id]);
    const [row] = rows;
    // A revision whose response was lost at the end of the load may be stored.
    const isStored =
      row?.revision === sourceRevision
        ? row?.fingerprint === createFingerprint(canonicalJson(content))
        : row?.revision === sourceRevision + 1;
    if (rows.length !== 1 || !isStored) problems.push(`report ${id} is not revision ${sourceRevision} as acknowledged`);
  }
  return problems;
}

async function verifyMeetings(database: Database, { acknowledged }: IntegratorApplication): Promise<string[]> {
  const problems: string[] = [];
  const ids = [...acknowledged.meetings.keys()];
  const sql = `select m.external_source_id as id, array_agg(n.summary_markdown) as notes, count(distinct m.id)::int as meetings
    from meeting m left join meeting_note n on n.meeting_id = m.id and n.archived_at is null
    where m.source_app = 'proof' and m.external_source_id = any(string_to_array(?, ',')) group by 1`;
  const found = new Map((await readRows(database, sql, [ids.join(',')])).map((row) => [row.id, row]));
  for (const [id, summary] of acknowledged.meetings) {
    const row = found.get(id);
    if (row?.meetings !== 1) problems.push(`meeting ${id} is there ${row?.meetings ?? 0} times`);
    const version = (text: string) => Number(/Version (\d)/.exec(text)?.[1]);
    const notes = (row?.notes ?? []) as string[];
    // A version whose response was lost at the end of the load may be stored.
    if (notes.length !== 1 || version(notes[0]!) < version(summary))
      problems.push(`the note of ${id} is ${notes.join()}`);
  }
  return problems;
}
