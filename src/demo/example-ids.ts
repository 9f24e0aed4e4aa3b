import type { Database } from '../database/database.ts';
import { generateAttendance } from './accounts.ts';

/** One subcontractor with a document of each kind, and a record of each other kind, of one builder. */
const QUERY = `
  select s.builder_id as buil, s.id as sub, i.id as doc, p.id as prequal, w.id as swms,
    (select min(id) from timesheet where builder_id = s.builder_id) as ts,
    (select min(id) from photo_folder where builder_id = s.builder_id and archived_at is null) as fold,
    (select min(id) from photo where builder_id = s.builder_id and archived_at is null and source = 'GALLERY') as att,
    (select min(id) from meeting where builder_id = s.builder_id) as meet,
    (select min(id) from defect where builder_id = s.builder_id) as defect
  from subcontractor s
  join insurance i on i.subcontractor_id = s.id
  join prequalification p on p.subcontractor_id = s.id
  join swms_document w on w.subcontractor_id = s.id
  where s.builder_id = ? and not s.is_builder and s.archived_at is null
  limit 1`;

/** Returns ids of records of the demo's first builder by their prefix; none where the demo is not loaded. */
export async function findExampleIds(database: Database): Promise<Partial<Record<string, string>>> {
  const { builderId, projectId, workers } = generateAttendance('au1', 0);
  const [ids] = await database.fork().execute(QUERY, [builderId]);
  return ids ? { ...ids, proj: projectId, wkr: workers.active[0] } : {};
}
