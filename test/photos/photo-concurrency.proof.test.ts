import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type UploadReference, useBuilderClient } from '../support/builder-client.ts';
import { useService } from '../support/harness.ts';
import { createPicture } from '../support/images.ts';
import { useLongerTimeLimits } from '../support/longer-time-limits.ts';
import { createRandom, shuffle } from '../support/random.ts';
import { addProject } from '../support/rows.ts';

const SENDS = 20;

useLongerTimeLimits();
const service = useService();
let otherInstance: FastifyInstance;
const client = useBuilderClient(service, 'A');
let projects: [string, string];

beforeAll(async () => {
  otherInstance = await service.startInstance();
  projects = [await addProject(service, client.builderId), await addProject(service, client.builderId)];
});

/** Sends a request to one of two instances. */
const send = (at: number, method: 'POST' | 'PATCH' | 'DELETE', path: string, payload: object) =>
  (at % 2 === 0 ? service.app : otherInstance).inject({
    method,
    url: `/builders/${client.builderId}${path}`,
    headers: { authorization: `Bearer ${client.token}` },
    payload,
  });

/** Sends concurrent copies of a request, half of them to each of two instances. */
async function sendAtOnce(method: 'POST' | 'DELETE', body: object) {
  const answers = await Promise.all(
    Array.from({ length: SENDS }, (_, index) => send(index, method, '/photo-gallery/bulk-upsert', body)),
  );
  for (const answer of answers) expect(answer.statusCode, answer.body).toBe(200);
  return answers.map((answer) => answer.json());
}

const toPhotos = (uploads: readonly UploadReference[]) =>
  uploads.map((imageAttachment) => ({ externalSourceId: imageAttachment.key, imageAttachment }));

const countActive = async (table: string) =>
  (await service.databases.au1
    .fork()
    .execute(`select * from ${table} where page_external_source_id = 'page' and archived_at is null`)) as Record<
    string,
    unknown
  >[];

describe('20 concurrent upserts of one page on two instances', () => {
  it('create each photo once and one folder, and each response has all ids (PHO-30)', async () => {
    const photos = await Promise.all(
      Array.from({ length: 4 }, async (_, index) => ({
        externalSourceId: `${index}`,
        imageAttachment: await client.upload(),
      })),
    );
    const page = { externalSourceId: 'page', sourceApp: 'app', folderName: 'Page', photos };
    const results = await sendAtOnce('POST', { ...page, projectId: projects[0] });
    const rows = await countActive('photo');
    expect(rows).toHaveLength(4);
    expect(await countActive('photo_folder')).toHaveLength(1);
    expect(results.flatMap(({ createdPhotos }) => createdPhotos)).toHaveLength(4);
    const ids = rows.map(({ id }) => id).toSorted();
    for (const { createdPhotos, skippedPhotos, failedPhotos, folderId } of results) {
      const told = [...createdPhotos, ...skippedPhotos].map(({ attachmentId }) => attachmentId);
      expect(told.toSorted()).toEqual(ids);
      expect(failedPhotos).toEqual([]);
      expect(folderId).toBe(rows[0]!.folder_id);
    }

    const moves = await sendAtOnce('POST', { ...page, projectId: projects[1], folderId: results[0].folderId });
    const moved = await countActive('photo');
    expect(moved).toHaveLength(4);
    expect(moved.every(({ project_id }) => project_id === projects[1])).toBe(true);
    expect(await countActive('photo_folder')).toMatchObject([{ project_id: projects[1] }]);
    expect(moves.flatMap(({ createdPhotos }) => createdPhotos)).toHaveLength(4);
    expect(moves.flatMap(({ failedPhotos }) => failedPhotos)).toEqual([]);

    const removals = await sendAtOnce('DELETE', { externalSourceId: 'page', sourceApp: 'app' });
    expect(removals.flatMap(({ deletedAttachmentIds }) => deletedAttachmentIds)).toHaveLength(4);
    expect(await countActive('photo')).toEqual([]);
    expect(await countActive('photo_folder')).toEqual([]);
  });

  it('leave only the bytes of the photos', async () => {
    const [row] = (await service.databases.au1
      .fork()
      .execute(`select count(distinct key)::int as keys from photo where page_external_source_id = 'page'`)) as {
      keys: number;
    }[];
    const files = await readdir(join(service.dataDir, 'storage', 'objects', 'au1', 'photos', client.builderId));
    expect(files).toHaveLength(row!.keys);
    expect(await readdir(join(service.dataDir, 'storage', 'spool')).catch(() => [])).toEqual([]);
  });
});

describe('concurrent requests on two instances', () => {
  it('an upload is used once, whether by a photo or by the photos of pages (UPL-16)', async () => {
    for (let round = 0; round < 3; round++) {
      const uploads = await Promise.all(Array.from({ length: 12 }, () => client.upload()));
      const page = (name: string, order: typeof uploads) => ({
        ...{ externalSourceId: `${name}-${round}`, sourceApp: 'race', folderName: name, projectId: projects[0] },
        photos: toPhotos(order),
      });
      const [one, two, ...alone] = await Promise.all([
        send(0, 'POST', '/photo-gallery/bulk-upsert', page('one', uploads)),
        send(1, 'POST', '/photo-gallery/bulk-upsert', page('two', uploads.toReversed())),
        ...uploads
          .slice(0, 4)
          .map((imageAttachment, at) => send(at, 'POST', '/photos', { fileName: 'a', imageAttachment })),
      ]);
      expect([one!.statusCode, two!.statusCode]).toEqual([200, 200]);
      expect(alone.every(({ statusCode }) => [201, 400].includes(statusCode))).toBe(true);
      const made = [one!, two!].flatMap((answer) => answer.json().createdPhotos.length as number);
      const created = alone.filter(({ statusCode }) => statusCode === 201).length;
      expect(made[0]! + made[1]! + created).toBe(uploads.length);
    }
  });

  it('moves of three folders never create a cycle (PHO-19)', async () => {
    const names = ['x', 'y', 'z'];
    for (let round = 0; round < 5; round++) {
      const folders: { id: string }[] = [];
      for (const name of names) folders.push(await client.sendOk('POST', '/photo-folders', { name }, 201));
      const answers = await Promise.all(
        folders.map(({ id }, at) =>
          send(at, 'PATCH', `/photo-folders/${id}`, { parentId: folders[(at + 1) % names.length]!.id }),
        ),
      );
      expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 200, 409]);
    }
  });

  it('a page stays consistent while it is moved and deleted and its photos are changed', async () => {
    for (let round = 0; round < 3; round++) {
      const page = { externalSourceId: `whole-${round}`, sourceApp: 'race' };
      const photos = await Promise.all(
        Array.from({ length: 3 }, async (_, at) => ({
          externalSourceId: `${at}`,
          imageAttachment: await client.upload(),
        })),
      );
      const upsert = (at: number) =>
        send(at, 'POST', '/photo-gallery/bulk-upsert', {
          ...page,
          ...{ photos, folderName: 'Whole', projectId: projects[at] },
        });
      const { folderId, createdAttachmentIds } = (await upsert(0)).json();
      const [first, second] = createdAttachmentIds as string[];
      const answers = await Promise.all([
        upsert(1),
        send(1, 'DELETE', '/photo-gallery/bulk-upsert', page),
        send(0, 'PATCH', `/photos/${first}`, { folderId: null }),
        send(1, 'DELETE', `/photos/${second}`, {}),
        send(0, 'DELETE', `/photo-folders/${folderId}`, {}),
        send(1, 'POST', '/photo-folders', { name: 'Below', parentId: folderId }),
        upsert(0),
      ]);
      for (const answer of answers) expect(answer.statusCode, answer.body).toBeLessThan(500);
      const em = service.databases.au1.fork();
      const lost = await em.execute(
        `select p.id from photo p join photo_folder f on f.id = p.folder_id
         where p.archived_at is null and (f.archived_at is not null or f.project_id <> p.project_id)
         union all select f.id from photo_folder f join photo_folder up on up.id = f.parent_id
         where f.archived_at is null and up.archived_at is not null`,
      );
      expect(lost).toEqual([]);
      const copies = await em.execute(
        `select external_source_id from photo where page_external_source_id = ? and archived_at is null
         group by 1 having count(*) > 1`,
        [page.externalSourceId],
      );
      expect(copies).toEqual([]);
    }
  });

  it('a photo has the checked bytes even if the upload is overwritten meanwhile (UPL-17)', async () => {
    const [small, large] = [
      await createPicture('jpeg', { width: 20 }),
      await createPicture('jpeg', { width: 90, height: 70 }),
    ];
    const size = Math.max(small.length, large.length);
    const [one, two] = [small, large].map((bytes) => Buffer.concat([bytes, Buffer.alloc(size - bytes.length)]));
    for (let round = 0; round < 4; round++) {
      const { uploadUrl, key, regionId, type } = await client.presign(one!);
      await client.put(uploadUrl, one!);
      const imageAttachment = { key, regionId, type };
      const [answer] = await Promise.all([
        send(0, 'POST', '/photo-gallery/bulk-upsert', {
          ...{ externalSourceId: `swap-${round}`, sourceApp: 'race', folderName: 'Swap', projectId: projects[0] },
          photos: [{ externalSourceId: '1', imageAttachment }],
        }),
        client.put(uploadUrl, two!),
        client.put(uploadUrl, one!),
        client.put(uploadUrl, two!),
      ]);
      expect(answer.json()).toMatchObject({ failedPhotos: [] });
      const photo = await client.sendOk('GET', `/photos/${answer.json().createdAttachmentIds[0]}`);
      const served = (await client.download(photo.imageUrl)).rawPayload;
      expect(served.equals(photo.metadata.width === 20 ? one! : two!)).toBe(true);
      expect([20, 90]).toContain(photo.metadata.width);
    }
  });
});

describe('eight concurrent bulk upserts of the same twelve uploads on two instances', () => {
  let observer: pg.Client;

  beforeAll(async () => {
    observer = new pg.Client({ connectionString: service.databases.au1.url });
    await observer.connect();
  });
  afterAll(() => observer.end());

  /** Returns the number of deadlocks of the database. Backends report theirs at the latest when they end. */
  async function deadlocks(): Promise<number> {
    const others = `pg_stat_activity where datname = current_database() and backend_type = 'client backend'
      and pid <> pg_backend_pid()`;
    await observer.query(`select pg_terminate_backend(pid) from ${others}`);
    await expect.poll(async () => (await observer.query(`select 1 from ${others}`)).rows.length).toBe(0);
    const sql = 'select deadlocks::int from pg_stat_database where datname = current_database()';
    return (await observer.query<{ deadlocks: number }>(sql)).rows[0]!.deadlocks;
  }

  it('cause no deadlock and no 503, and each upload becomes one photo', async () => {
    const random = createRandom(8);
    const before = await deadlocks();
    for (let round = 0; round < 4; round++) {
      const uploads = await Promise.all(Array.from({ length: 12 }, () => client.upload()));
      const folder = await client.sendOk('POST', '/photo-folders', { name: 'Shared', projectId: projects[0] }, 201);
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, at) =>
          send(at, 'POST', '/photo-gallery/bulk-upsert', {
            // One page in even rounds, eight pages that compete for the uploads in odd ones.
            ...{ externalSourceId: round % 2 === 0 ? `page-${round}` : `page-${round}-${at}`, sourceApp: 'locks' },
            ...{ folderId: folder.id, projectId: projects[0], photos: toPhotos(shuffle(uploads, random)) },
          }),
        ),
      );
      expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array(8).fill(200));
      const created = answers.flatMap((answer) => answer.json().createdAttachmentIds as string[]);
      expect(created).toHaveLength(12);
    }
    expect(await deadlocks()).toBe(before);
  });
});
