import { createHash } from 'node:crypto';
import type { Database } from '../../src/database/database.ts';
import { canonicalJson, createFingerprint } from '../../src/shared/canonical-json.ts';
import type { Storage } from '../../src/storage/storage.ts';
import type { Json } from '../photo-reports/documents.ts';
import type { Application } from './integrator.ts';

/** Returns acknowledged writes that the service does not have, or has twice. */
export async function differencesOf(database: Database, storage: Storage, application: Application): Promise<string[]> {
  return [
    ...(await wrongEvents(database, application)),
    ...(await wrongPhotos(database, storage, application)),
    ...(await wrongReports(database, application)),
    ...(await wrongMeetings(database, application)),
  ];
}

const rowsOf = (database: Database, sql: string, values: unknown[]) =>
  database.fork().execute(sql, values) as Promise<Record<string, Json>[]>;

async function wrongEvents(database: Database, { acknowledged, client, target, run }: Application): Promise<string[]> {
  const wrong: string[] = [];
  const sql = `select e.source_event_id as id, e.status from sign_on_event e
    join oauth_client c on c.integrator_id = e.integrator_id where c.id = ? and source_event_id like ?`;
  const stored = new Map((await rowsOf(database, sql, [client.clientId, `%-${run}-%`])).map((row) => [row.id, row]));
  for (const [id, { news }] of acknowledged.events) {
    if (stored.get(id)?.status !== 'APPLIED') wrong.push(`event ${id} is ${stored.get(id)?.status ?? 'lost'}`);
    if (news > 1) wrong.push(`event ${id} was taken for new ${news} times`);
  }
  // Workers of other integrators, who probe the health too, are counted on both sides.
  const counted = `select (select count(*)::int from sign_on_visit where worker_id = any(string_to_array(?, ','))) as visits,
    (select count(*)::int from sign_on_event where worker_id = any(string_to_array(?, ',')) and type = 'SIGN_ON') as ons`;
  const workers = target.workers.join();
  const [counts] = await rowsOf(database, counted, [workers, workers]);
  if (counts!.visits !== counts!.ons) wrong.push(`${counts!.ons} sign-ons made ${counts!.visits} visits`);
  return wrong;
}

async function wrongPhotos(database: Database, storage: Storage, { acknowledged, run }: Application) {
  const wrong: string[] = [];
  const sql = `select key, page_external_source_id || ' ' || external_source_id as id from photo
    where source_app = 'proof' and archived_at is null and page_external_source_id like ?`;
  const found = new Map<string, string>();
  for (const { id, key } of await rowsOf(database, sql, [`page-${run}-%`])) {
    if (found.has(id)) wrong.push(`photo ${id} is there twice`);
    found.set(id, key);
  }
  for (const [id, hash] of acknowledged.photos) {
    const key = found.get(id);
    const opened = key === undefined ? null : await storage.byteStore.open(key);
    if (!opened) {
      wrong.push(`photo ${id} ${key ? 'has no bytes' : 'is lost'}`);
      continue;
    }
    const digest = createHash('sha256');
    for await (const chunk of opened.stream) digest.update(chunk as Buffer);
    if (digest.digest('hex') !== hash) wrong.push(`photo ${id} has other bytes`);
  }
  const twice = `select page_external_source_id as page from photo_folder where source_app = 'proof' and archived_at is null
    and page_external_source_id like ? group by 1 having count(*) > 1`;
  for (const { page } of await rowsOf(database, twice, [`page-${run}-%`])) wrong.push(`${page} has two folders`);
  return wrong;
}

async function wrongReports(database: Database, { acknowledged, client }: Application): Promise<string[]> {
  const wrong: string[] = [];
  for (const [id, { sourceRevision, ...content }] of acknowledged.reports) {
    const sql = `select source_revision as revision, fingerprint from photo_report r
      join oauth_client c on c.integrator_id = r.integrator_id where c.id = ? and source_external_id = ?`;
    const rows = await rowsOf(database, sql, [client.clientId, id]);
    const [row] = rows;
    // A revision whose response was lost at the end of the load may be stored.
    const isWhole =
      row?.revision === sourceRevision
        ? row?.fingerprint === createFingerprint(canonicalJson(content))
        : row?.revision === sourceRevision + 1;
    if (rows.length !== 1 || !isWhole) wrong.push(`report ${id} is not revision ${sourceRevision} as acknowledged`);
  }
  return wrong;
}

async function wrongMeetings(database: Database, { acknowledged }: Application): Promise<string[]> {
  const wrong: string[] = [];
  const ids = [...acknowledged.meetings.keys()];
  const sql = `select m.external_source_id as id, array_agg(n.summary_markdown) as notes, count(distinct m.id)::int as meetings
    from meeting m left join meeting_note n on n.meeting_id = m.id and n.archived_at is null
    where m.source_app = 'proof' and m.external_source_id = any(string_to_array(?, ',')) group by 1`;
  const found = new Map((await rowsOf(database, sql, [ids.join(',')])).map((row) => [row.id, row]));
  for (const [id, summary] of acknowledged.meetings) {
    const row = found.get(id);
    if (row?.meetings !== 1) wrong.push(`meeting ${id} is there ${row?.meetings ?? 0} times`);
    const version = (text: string) => Number(/Version (\d)/.exec(text)?.[1]);
    const notes = (row?.notes ?? []) as string[];
    // A version whose response was lost at the end of the load may be stored.
    if (notes.length !== 1 || version(notes[0]!) < version(summary)) wrong.push(`the note of ${id} is ${notes.join()}`);
  }
  return wrong;
}
