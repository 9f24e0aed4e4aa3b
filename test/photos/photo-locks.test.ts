import type { LightMyRequestResponse } from 'fastify';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type UploadReference, useBuilderClient } from '../support/builder-client.ts';
import { useService } from '../support/harness.ts';
import { useLongerTimeLimits } from '../support/longer-time-limits.ts';
import { addProject } from '../support/rows.ts';

/** Rows of one table, by key. */
interface RowSelection {
  table: 'upload' | 'photo' | 'photo_folder';
  keys: string[];
}

const BULK = '/photo-gallery/bulk-upsert';

const service = useService();
const client = useBuilderClient(service, 'A');
let projects: [string, string];
/** Holds row locks in a transaction and watches which statements wait for them. */
let holder: pg.Client;
let observer: pg.Client;

useLongerTimeLimits();
beforeAll(async () => {
  const connectionString = service.databases.au1.url;
  [holder, observer] = [new pg.Client({ connectionString }), new pg.Client({ connectionString })];
  await Promise.all([holder.connect(), observer.connect()]);
  projects = [await addProject(service, client.builderId), await addProject(service, client.builderId)];
});

afterAll(() => Promise.all([holder.end(), observer.end()]));

const send = (method: 'POST' | 'PATCH' | 'DELETE', path: string, payload: object) =>
  service.app.inject({
    method,
    url: `/builders/${client.builderId}${path}`,
    headers: { authorization: `Bearer ${client.token}` },
    payload,
  });

const toPhotos = (uploads: readonly UploadReference[]) =>
  uploads.map((imageAttachment) => ({ externalSourceId: imageAttachment.key, imageAttachment }));

async function createUploads(count: number): Promise<UploadReference[]> {
  const uploads: UploadReference[] = [];
  for (let made = 0; made < count; made++) uploads.push(await client.upload());
  return uploads;
}

const lockRows = async ({ table, keys }: RowSelection, skipping = ''): Promise<string[]> => {
  const key = table === 'upload' ? 'key' : 'id';
  const sql = `select ${key} as key from ${table} where ${key} = any($1) for update ${skipping}`;
  return (await holder.query<{ key: string }>(sql, [keys])).rows.map((row) => row.key);
};

/** Resolves once a statement of the service waits for a lock. */
const waitForBlockedStatement = () =>
  expect
    .poll(async () => {
      const { rows } = await observer.query(
        `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      return rows.length;
    })
    .toBe(1);

/** Returns the rows that a request has not locked while it waits for a held row. */
async function findUnlockedWhileWaiting(
  held: RowSelection,
  others: RowSelection,
  request: () => Promise<LightMyRequestResponse>,
) {
  await holder.query('begin');
  await lockRows(held);
  const answering = request();
  try {
    await waitForBlockedStatement();
    return await lockRows(others, 'skip locked');
  } finally {
    await holder.query('rollback');
    expect((await answering).statusCode).toBeLessThan(300);
  }
}

describe('a transaction of the gallery locks', () => {
  it('the uploads of a bulk upsert in the order of their keys', async () => {
    const uploads = (await createUploads(6)).toSorted((one, next) => (one.key < next.key ? -1 : 1));
    const [first, ...rest] = uploads.map(({ key }) => key);
    const body = { externalSourceId: 'order', sourceApp: 'locks', folderName: 'Order', projectId: projects[0] };
    const free = await findUnlockedWhileWaiting(
      { table: 'upload', keys: [first!] },
      { table: 'upload', keys: rest },
      () => send('POST', BULK, { ...body, photos: toPhotos(uploads.toReversed()) }),
    );
    expect(free.toSorted()).toEqual(rest);
  });

  it('the photos of a page that moves in the order of their ids', async () => {
    const uploads = await createUploads(4);
    const body = { externalSourceId: 'moving', sourceApp: 'locks', folderName: 'Moving', photos: toPhotos(uploads) };
    const made = await client.sendOk('POST', BULK, { ...body, projectId: projects[0] });
    const [first, ...rest] = (made.createdAttachmentIds as string[]).toSorted();
    const free = await findUnlockedWhileWaiting(
      { table: 'photo', keys: [first!] },
      { table: 'photo', keys: rest },
      () => send('POST', BULK, { ...body, projectId: projects[1] }),
    );
    expect(free.toSorted()).toEqual(rest);
  });

  it('an upload before the folder of its photo', async () => {
    const { id: folderId } = await client.sendOk('POST', '/photo-folders', { name: 'F', projectId: projects[0] }, 201);
    const imageAttachment = await client.upload();
    const free = await findUnlockedWhileWaiting(
      { table: 'upload', keys: [imageAttachment.key] },
      { table: 'photo_folder', keys: [folderId] },
      () => send('POST', '/photos', { fileName: 'a.jpg', imageAttachment, projectId: projects[0], folderId }),
    );
    expect(free).toEqual([folderId]);
  });

  it('a folder before the photo that is put into it', async () => {
    const { id: folderId } = await client.sendOk('POST', '/photo-folders', { name: 'F', projectId: projects[0] }, 201);
    const photo = await client.createPhoto({ projectId: projects[0] });
    const free = await findUnlockedWhileWaiting(
      { table: 'photo_folder', keys: [folderId] },
      { table: 'photo', keys: [photo.id] },
      () => send('PATCH', `/photos/${photo.id}`, { folderId }),
    );
    expect(free).toEqual([photo.id]);
  });

  it('a folder and its new parent in the order of their ids', async () => {
    const made = [];
    for (const name of ['one', 'two', 'three', 'four']) {
      made.push((await client.sendOk('POST', '/photo-folders', { name }, 201)).id as string);
    }
    const [one, two, three, four] = made.toSorted() as [string, string, string, string];
    for (const [id, parentId] of [
      [one, two],
      [four, three],
    ]) {
      const [first, last] = [id!, parentId!].toSorted() as [string, string];
      const free = await findUnlockedWhileWaiting(
        { table: 'photo_folder', keys: [first] },
        { table: 'photo_folder', keys: [last] },
        () => send('PATCH', `/photo-folders/${id}`, { parentId }),
      );
      expect(free).toEqual([last]);
    }
  });
});
