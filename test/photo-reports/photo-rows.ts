import { newId } from '../../schema/ids.ts';
import type { Service } from '../support/harness.ts';

/** Inserts the row of a gallery photo, without bytes. */
export async function addPhoto(service: Service, builderId: string, projectId: string | null = null): Promise<string> {
  const id = newId('attachment', service.clock.now());
  const now = new Date(service.clock.now()).toISOString();
  const sql = `insert into photo (id, created_at, updated_at, builder_id, project_id, source, file_name, content_type, key, file_size, sort_date)
    values (?, ?, ?, ?, ?, 'GALLERY', 'site.jpg', 'image/jpeg', ?, 1000, ?)`;
  const key = `photos/${builderId}/${id}.jpg`;
  await service.databases.au1.fork().execute(sql, [id, now, now, builderId, projectId, key, now]);
  return id;
}

export async function archivePhoto(service: Service, id: string): Promise<void> {
  await service.databases.au1.fork().execute('update photo set archived_at = now() where id = ?', [id]);
}
