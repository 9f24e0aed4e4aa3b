import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import type { Database } from '../../src/database/database.ts';
import type { ByteStore } from '../../src/storage/byte-store.ts';

/** State of a page after the last acknowledged request. */
export interface ExpectedPage {
  page: string;
  projectId: string;
  /** SHA-256 of each photo's bytes by its external id; empty once the page is deleted. */
  photos: Map<string, string>;
}

/** Returns photos that lack bytes, are duplicated, lost or in the wrong project, and folders that are empty or duplicated. */
export async function verifyPhotos(
  database: Database,
  store: ByteStore,
  sourceApp: string,
  expected: ExpectedPage[],
): Promise<string[]> {
  const em = database.fork();
  const problems: string[] = [];
  const photos = (await em.execute(
    `select id, key, file_size, project_id, folder_id, page_external_source_id as page, external_source_id as photo,
       archived_at is null as active from photo where source_app = ?`,
    [sourceApp],
  )) as {
    id: string;
    key: string;
    file_size: number;
    project_id: string;
    page: string;
    photo: string;
    active: boolean;
  }[];
  const byPage = new Map(expected.map((each) => [each.page, each]));
  const found = new Set<string>();
  for (const { id, key, file_size: size, project_id: project, page, photo, active } of photos) {
    const opened = await store.open(key);
    const bytes = opened && (await buffer(opened.stream));
    if (!bytes || bytes.length !== size) problems.push(`${id} of ${page} has no bytes, or not all of them`);
    if (!active) continue;
    const { projectId, photos: hashes } = byPage.get(page)!;
    if (found.has(`${page} ${photo}`)) problems.push(`${photo} of ${page} is there twice`);
    found.add(`${page} ${photo}`);
    if (!hashes.has(photo)) problems.push(`${photo} of ${page} should be deleted`);
    else if (bytes && createHash('sha256').update(bytes).digest('hex') !== hashes.get(photo))
      problems.push(`${photo} of ${page} has other bytes`);
    if (project !== projectId) problems.push(`${photo} of ${page} is in another project`);
  }
  for (const { page, photos: hashes } of expected) {
    for (const photo of hashes.keys()) if (!found.has(`${page} ${photo}`)) problems.push(`${photo} of ${page} is lost`);
  }
  const folders = (await em.execute(
    `select f.id, f.page_external_source_id as page, count(p.id)::int as photos from photo_folder f
     left join photo p on p.folder_id = f.id and p.archived_at is null
     where f.source_app = ? and f.archived_at is null group by f.id`,
    [sourceApp],
  )) as { id: string; page: string; photos: number }[];
  for (const { id, page, photos: count } of folders)
    if (count === 0) problems.push(`the folder ${id} of ${page} is empty`);
  const pages = folders.map(({ page }) => page);
  for (const page of new Set(pages))
    if (pages.indexOf(page) !== pages.lastIndexOf(page)) problems.push(`${page} has two folders`);
  return problems;
}
