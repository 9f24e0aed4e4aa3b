import { randomBytes } from 'node:crypto';
import type { LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { useBuilderClient } from '../support/builder-client.ts';
import { ConcurrentTransaction } from '../support/concurrent-transaction.ts';
import { useService } from '../support/harness.ts';
import { useLongerTimeLimits } from '../support/longer-time-limits.ts';
import { addProject } from '../support/rows.ts';

const BULK = '/photo-gallery/bulk-upsert';
/** Block requests before they write photos or folders, while they hold all earlier locks. */
const HOLD_PHOTOS = 'lock table photo in share mode';
const HOLD_FOLDERS = 'lock table photo_folder in share mode';
const ARCHIVED_AT = '2026-05-01T00:00:00.000Z';
const ARCHIVE_PHOTO = `update photo set archived_at = '${ARCHIVED_AT}' where id = $1`;
const ARCHIVE_FOLDER = `update photo_folder set archived_at = '${ARCHIVED_AT}' where id = $1`;

const service = useService();
const client = useBuilderClient(service, 'A');
let otherTransaction: ConcurrentTransaction;
let projects: [string, string];
let page: { externalSourceId: string; sourceApp: string };

useLongerTimeLimits();
beforeAll(async () => {
  otherTransaction = await ConcurrentTransaction.open(service.databases.au1.url);
  projects = [await addProject(service, client.builderId), await addProject(service, client.builderId)];
});

beforeEach(() => {
  page = { externalSourceId: randomBytes(6).toString('hex'), sourceApp: 'interleavings' };
});

afterAll(() => otherTransaction.close());

type Send = () => Promise<LightMyRequestResponse>;

const statusOf = ({ statusCode, body }: LightMyRequestResponse) => [statusCode, JSON.parse(body).code];

const folderIn = async (projectId: string | null, parentId?: string): Promise<string> =>
  (await client.sendOk('POST', '/photo-folders', { name: 'F', projectId, parentId }, 201)).id;

const createPhoto = async (folderId: string): Promise<Send> => {
  const payload = { fileName: 'a.jpg', imageAttachment: await client.upload(), folderId };
  return () => client.send('POST', '/photos', payload);
};

const photosNamed = (...names: string[]) =>
  Promise.all(names.map(async (name) => ({ externalSourceId: name, imageAttachment: await client.upload() })));

const upsert = (photos: object[], more: object = {}): Send => {
  const body = { ...page, projectId: projects[0], folderName: 'Walk', photos, ...more };
  return () => client.send('POST', BULK, body);
};

const deletePage: Send = () => client.send('DELETE', BULK, page);
const deleteFolder =
  (id: string): Send =>
  () =>
    client.send('DELETE', `/photo-folders/${id}`, {});

const rowOf = async (table: string, id: string) => {
  const rows = await service.databases.au1.fork().execute(`select * from ${table} where id = ?`, [id]);
  return rows[0] as Record<string, unknown>;
};

describe('a folder that is deleted while something is put into it is 409', () => {
  it('when that is a photo', async () => {
    const folderId = await folderIn(projects[0]);
    const [created, deleted] = await otherTransaction.respondWhileOpen(
      HOLD_PHOTOS,
      [],
      [await createPhoto(folderId), deleteFolder(folderId)],
    );
    expect(created!.statusCode).toBe(201);
    expect(statusOf(deleted!)).toEqual([409, 'FOLDER_NOT_EMPTY']);
  });

  it('when that is a photo of a bulk upsert', async () => {
    const folderId = await folderIn(projects[0]);
    const photos = await photosNamed('1');
    const [upserted, deleted] = await otherTransaction.respondWhileOpen(
      HOLD_PHOTOS,
      [],
      [upsert(photos, { folderId }), deleteFolder(folderId)],
    );
    expect(upserted!.json()).toMatchObject({ folderId, createdPhotos: [{ externalSourceId: '1' }] });
    expect(statusOf(deleted!)).toEqual([409, 'FOLDER_NOT_EMPTY']);
  });

  it('when that is a photo that is moved', async () => {
    const folderId = await folderIn(projects[0]);
    const photo = await client.createPhoto({ projectId: projects[0] });
    const move = () => client.send('PATCH', `/photos/${photo.id}`, { folderId });
    const [moved, deleted] = await otherTransaction.respondWhileOpen(HOLD_PHOTOS, [], [move, deleteFolder(folderId)]);
    expect(moved!.statusCode).toBe(200);
    expect(statusOf(deleted!)).toEqual([409, 'FOLDER_NOT_EMPTY']);
  });

  it('when that is a folder', async () => {
    const folderId = await folderIn(projects[0]);
    const create = () => client.send('POST', '/photo-folders', { name: 'Below', parentId: folderId });
    const [created, deleted] = await otherTransaction.respondWhileOpen(
      HOLD_FOLDERS,
      [],
      [create, deleteFolder(folderId)],
    );
    expect(created!.statusCode).toBe(201);
    expect(statusOf(deleted!)).toEqual([409, 'FOLDER_NOT_EMPTY']);
  });

  it('when that began before and is committed while the deletion waits', async () => {
    const folderId = await folderIn(projects[0]);
    const photo = await client.createPhoto({ projectId: projects[0] });
    const move = 'update photo set folder_id = $2 where id = $1';
    const [deleted] = await otherTransaction.respondWhileOpen(move, [photo.id, folderId], [deleteFolder(folderId)]);
    expect(statusOf(deleted!)).toEqual([409, 'FOLDER_NOT_EMPTY']);
  });
});

describe('a bulk upsert', () => {
  it('shares the folder that it uses with others who put photos into it', async () => {
    const folderId = await folderIn(projects[0]);
    const photos = await photosNamed('1');
    await otherTransaction.respondWhileOpen(HOLD_PHOTOS, [], [upsert(photos, { folderId })], async () => {
      expect(await otherTransaction.findUnlocked('photo_folder', [folderId], 'share')).toEqual([folderId]);
      expect(await otherTransaction.findUnlocked('photo_folder', [folderId], 'update')).toEqual([]);
    });
  });

  it('that moves its page locks both folders for itself', async () => {
    const photos = await photosNamed('1');
    const left = (await upsert(photos)()).json().folderId;
    const folderId = await folderIn(projects[1]);
    await otherTransaction.respondWhileOpen(
      HOLD_PHOTOS,
      [],
      [upsert(photos, { projectId: projects[1], folderId })],
      async () => {
        expect(await otherTransaction.findUnlocked('photo_folder', [left, folderId], 'share')).toEqual([]);
      },
    );
  });

  it('makes another folder when its own is deleted before it has locked it', async () => {
    const { folderId } = (await upsert(await photosNamed('1'))()).json();
    const [answer] = await otherTransaction.respondWhileOpen(
      ARCHIVE_FOLDER,
      [folderId],
      [upsert(await photosNamed('2'))],
    );
    const result = answer!.json();
    expect(result).toMatchObject({ createdPhotos: [{ externalSourceId: '2' }], failedPhotos: [] });
    // The folder of the remaining photo was deleted concurrently; the new photo must have another one.
    expect(result.folderId).not.toBe(folderId);
    expect(await rowOf('photo_folder', result.folderId)).toMatchObject({ archived_at: null });
  });

  it('uses an upload once, when the upsert of another page is about to use it (UPL-16)', async () => {
    const photos = await photosNamed('1');
    const first = upsert(photos);
    page = { ...page, externalSourceId: `${page.externalSourceId}-2` };
    const [one, two] = await otherTransaction.respondWhileOpen(HOLD_PHOTOS, [], [first, upsert(photos)]);
    expect(one!.json()).toMatchObject({ createdPhotos: [{ externalSourceId: '1' }], failedPhotos: [] });
    expect(two!.json()).toMatchObject({ createdPhotos: [], failedPhotos: [{ code: 'INVALID_REFERENCE' }] });
  });
});

describe('the deletion of a page', () => {
  it('waits for an upsert of the same page, and deletes its photos too (PHO-35)', async () => {
    const [upserted, deleted] = await otherTransaction.respondWhileOpen(
      HOLD_PHOTOS,
      [],
      [upsert(await photosNamed('1', '2')), deletePage],
    );
    const { createdAttachmentIds, folderId } = upserted!.json();
    expect(createdAttachmentIds).toHaveLength(2);
    const result = deleted!.json();
    expect(result.folderId).toBe(folderId);
    expect(result.deletedAttachmentIds.toSorted()).toEqual(createdAttachmentIds.toSorted());
    expect((await rowOf('photo_folder', folderId)).archived_at).not.toBeNull();
  });

  it('leaves a photo unchanged that is archived meanwhile', async () => {
    const { createdPhotos } = (await upsert(await photosNamed('1', '2'))()).json();
    const [first, second] = createdPhotos.map(({ attachmentId }: { attachmentId: string }) => attachmentId);
    const [deleted] = await otherTransaction.respondWhileOpen(ARCHIVE_PHOTO, [first], [deletePage]);
    expect(deleted!.json().deletedAttachmentIds).toEqual([second]);
    expect(new Date((await rowOf('photo', first)).archived_at as string).toISOString()).toBe(ARCHIVED_AT);
  });

  it('keeps its folder when a photo is put into it meanwhile (PHO-37)', async () => {
    const { folderId } = (await upsert(await photosNamed('1'))()).json();
    const photo = await client.createPhoto({ projectId: projects[0] });
    const move = 'update photo set folder_id = $2 where id = $1';
    const [deleted] = await otherTransaction.respondWhileOpen(move, [photo.id, folderId], [deletePage]);
    expect(deleted!.json().deletedAttachmentIds).toHaveLength(1);
    expect(await rowOf('photo_folder', folderId)).toMatchObject({ archived_at: null });
  });
});

describe('a photo that is archived meanwhile', () => {
  it.each([
    ['changed', 'PATCH', { description: 'x' }],
    ['deleted', 'DELETE', {}],
  ] as const)('is 404 when it is %s', async (_name, method, payload) => {
    const { id } = await client.createPhoto({ projectId: projects[0] });
    const [answer] = await otherTransaction.respondWhileOpen(
      ARCHIVE_PHOTO,
      [id],
      [() => client.send(method, `/photos/${id}`, payload)],
    );
    expect(answer!.statusCode).toBe(404);
    const row = await rowOf('photo', id);
    expect(new Date(row.archived_at as string).toISOString()).toBe(ARCHIVED_AT);
    expect(row.description).toBeNull();
  });
});

it('a photo that is put into a project meanwhile is not put into a folder of another project: 400 (PHO-11)', async () => {
  const [folderId, photo] = [await folderIn(projects[0]), await client.createPhoto()];
  const [answer] = await otherTransaction.respondWhileOpen(
    'update photo set project_id = $2 where id = $1',
    [photo.id, projects[1]],
    [() => client.send('PATCH', `/photos/${photo.id}`, { folderId })],
  );
  expect(answer!.statusCode).toBe(400);
  expect(answer!.json().errors).toMatchObject([{ fieldName: 'folderId' }]);
  expect(await rowOf('photo', photo.id)).toMatchObject({ project_id: projects[1], folder_id: null });
});

it('of two moves of folders that would make a cycle together the second is 409 (PHO-19)', async () => {
  const [a, c] = [await folderIn(null), await folderIn(null)];
  const [b, d] = [await folderIn(null, a), await folderIn(null, c)];
  const move = (id: string, parentId: string) => () => client.send('PATCH', `/photo-folders/${id}`, { parentId });
  // The moves have no folder in common.
  const [first, second] = await otherTransaction.respondWhileOpen(HOLD_FOLDERS, [], [move(a, d), move(c, b)]);
  expect(first!.statusCode).toBe(200);
  expect(statusOf(second!)).toEqual([409, 'FOLDER_CYCLE']);
});
