import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Service, startService } from './harness.ts';
import { type Client, clientOf, projectOf } from './support/uploads.ts';

const SENDS = 50;

let service: Service;
let other: FastifyInstance;
let client: Client;
let projects: [string, string];

beforeAll(async () => {
  service = await startService();
  other = await service.another();
  client = await clientOf(service, 'A');
  projects = [await projectOf(service, client.builderId), await projectOf(service, client.builderId, 1)];
});

afterAll(() => service.stop());

/** The same call many times at once, half of it to each of two instances over one database. */
async function sendAtOnce(method: 'POST' | 'DELETE', body: object) {
  const answers = await Promise.all(
    Array.from({ length: SENDS }, (_, index) =>
      (index % 2 === 0 ? service.app : other).inject({
        method,
        url: `/builders/${client.builderId}/photo-gallery/bulk-upsert`,
        headers: { authorization: `Bearer ${client.token}` },
        payload: body,
      }),
    ),
  );
  for (const answer of answers) expect(answer.statusCode, answer.body).toBe(200);
  return answers.map((answer) => answer.json());
}

const active = async (table: string) =>
  (await service.databases.au1
    .fork()
    .execute(`select * from ${table} where page_external_source_id = 'page' and archived_at is null`)) as Record<
    string,
    unknown
  >[];

describe('50 sends of one page at once, to two instances', () => {
  it('make each photo once and one folder, and every one of them learns all the ids', async () => {
    const photos = await Promise.all(
      Array.from({ length: 4 }, async (_, index) => ({
        externalSourceId: `${index}`,
        imageAttachment: await client.upload(),
      })),
    );
    const page = { externalSourceId: 'page', sourceApp: 'app', folderName: 'Page', photos };
    const results = await sendAtOnce('POST', { ...page, projectId: projects[0] });
    const rows = await active('photo');
    expect(rows).toHaveLength(4);
    expect(await active('photo_folder')).toHaveLength(1);
    expect(results.flatMap(({ createdPhotos }) => createdPhotos)).toHaveLength(4);
    const ids = rows.map(({ id }) => id).toSorted();
    for (const { createdPhotos, skippedPhotos, failedPhotos, folderId } of results) {
      const told = [...createdPhotos, ...skippedPhotos].map(({ attachmentId }) => attachmentId);
      expect(told.toSorted()).toEqual(ids);
      expect(failedPhotos).toEqual([]);
      expect(folderId).toBe(rows[0]!.folder_id);
    }

    const moves = await sendAtOnce('POST', { ...page, projectId: projects[1], folderId: results[0].folderId });
    const moved = await active('photo');
    expect(moved).toHaveLength(4);
    expect(moved.every(({ project_id }) => project_id === projects[1])).toBe(true);
    expect(await active('photo_folder')).toMatchObject([{ project_id: projects[1] }]);
    expect(moves.flatMap(({ createdPhotos }) => createdPhotos)).toHaveLength(4);
    expect(moves.flatMap(({ failedPhotos }) => failedPhotos)).toEqual([]);

    const removals = await sendAtOnce('DELETE', { externalSourceId: 'page', sourceApp: 'app' });
    expect(removals.flatMap(({ deletedAttachmentIds }) => deletedAttachmentIds)).toHaveLength(4);
    expect(await active('photo')).toEqual([]);
    expect(await active('photo_folder')).toEqual([]);
  }, 60_000);

  it('keep the bytes of the photos alone', async () => {
    const [row] = (await service.databases.au1
      .fork()
      .execute(`select count(distinct key)::int as keys from photo where page_external_source_id = 'page'`)) as {
      keys: number;
    }[];
    const files = await readdir(join(service.dataDir, 'storage', 'objects', 'au1', 'photos', client.builderId));
    expect(files).toHaveLength(row!.keys);
    expect(await readdir(join(service.dataDir, 'storage', 'spool')).catch(() => [])).toEqual([]);
  });

  it('end well when one moves and another deletes the page', async () => {
    const photos = [{ externalSourceId: '1', imageAttachment: await client.upload() }];
    const page = { externalSourceId: 'page', sourceApp: 'app' };
    await client.ok('POST', '/photo-gallery/bulk-upsert', { ...page, folderName: 'P', photos, projectId: projects[0] });
    await Promise.all([
      client.ok('POST', '/photo-gallery/bulk-upsert', { ...page, folderName: 'P', photos, projectId: projects[1] }),
      client.ok('DELETE', '/photo-gallery/bulk-upsert', page),
    ]);
    const [left, folders] = [await active('photo'), await active('photo_folder')];
    expect(left.length).toBe(folders.length);
    expect(left.length).toBeLessThanOrEqual(1);
  });
});
