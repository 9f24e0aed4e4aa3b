import type pg from 'pg';
import type { Attacker } from './scenario.ts';

export interface DataVolume {
  /** Number of timesheets of the first attacker's builder. */
  timesheets: number;
  photos: number;
}

/** Maximum characters of the notes of a meeting. */
const MAX_NOTES = 1_000_000;

/** Inserts many records, and some as large as the API accepts, for the builder of the first attacker. */
export async function insertBulkData(client: pg.Client, attackers: Attacker[], volume: DataVolume): Promise<void> {
  await insertTimesheets(client, attackers[0]!.builderId, volume.timesheets);
  await insertPhotos(client, attackers[0]!.builderId, volume.photos);
  const [{ builderId, largeProjectId, escapedProjectId }] = attackers as [Attacker];
  await insertMeetings(client, builderId, largeProjectId, `left(repeat(md5(n::text), 31250), ${MAX_NOTES})`);
  await insertMeetings(client, builderId, escapedProjectId, `repeat(E'\\x01', ${MAX_NOTES})`);
  for (const { builderId, notesMeetingId } of attackers) {
    await client.query(
      `insert into meeting (id, created_at, updated_at, builder_id, title, date, status, notes)
        values ($1, now(), now(), $2, 'Notes', now(), 'DRAFT', repeat(md5('notes'), 900 * 1024 / 32))`,
      [notesMeetingId, builderId],
    );
  }
}

async function insertTimesheets(client: pg.Client, builderId: string, count: number): Promise<void> {
  await client.query(
    `insert into timesheet (id, created_at, updated_at, builder_id, project_id, profile_id, status, date, hours, notes)
      select 'ts_a0bulk' || lpad(n::text, 8, '0') || substr(md5('ts' || n), 1, 8),
        '2025-01-06T00:00:00Z'::timestamptz + n * interval '61.5 seconds', now(), $1,
        (array(select id from project where builder_id = $1 order by id))[n % $3 + 1],
        (array(select id from person_profile where builder_id = $1 order by id))[n % 7 + 1],
        (array['WAITING_REVIEW', 'APPROVED_1', 'APPROVED_2', 'REJECTED'])[n / 7 % 4 + 1],
        date_trunc('day', '2025-01-06T00:00:00Z'::timestamptz + n * interval '61.5 seconds'), 4 + n % 17 * 0.25,
        case when n % 3 = 0 then 'Poured slab ' || n end
      from generate_series(1, $2::int) n`,
    [builderId, count, await countRecords(client, 'project', builderId)],
  );
}

async function insertPhotos(client: pg.Client, builderId: string, count: number): Promise<void> {
  await client.query(
    `insert into photo (id, created_at, updated_at, builder_id, project_id, source, file_name, content_type, key, file_size,
        sort_date, metadata)
      select 'att_a0bulk' || lpad(n::text, 8, '0') || substr(md5('att' || n), 1, 8),
        '2025-01-06T00:00:00Z'::timestamptz + n * interval '95 seconds', now(), $1,
        (array(select id from project where builder_id = $1 order by id))[n % $3 + 1], 'GALLERY', n || '.jpg', 'image/jpeg',
        'photos/' || $1 || '/' || md5('photo' || n) || '.jpg', 2000000, now(), '{}'
      from generate_series(1, $2::int) n`,
    [builderId, count, await countRecords(client, 'project', builderId)],
  );
}

async function countRecords(client: pg.Client, table: string, builderId: string): Promise<number> {
  const { rows } = await client.query(`select count(*)::int as count from ${table} where builder_id = $1`, [builderId]);
  return rows[0].count;
}

/** Inserts 25 meetings of the project. `notes` is the SQL of the notes of meeting `n`. */
async function insertMeetings(client: pg.Client, builderId: string, projectId: string, notes: string): Promise<void> {
  await client.query(
    `insert into meeting (id, created_at, updated_at, builder_id, project_id, title, date, status, notes)
      select 'meet_' || n || substr(md5($2::text || n), 1, 12), now() + n * interval '1 ms', now(), $1, $2, 'Meeting ' || n,
        now(), 'DRAFT', ${notes}
      from generate_series(1, 25) n`,
    [builderId, projectId],
  );
}
