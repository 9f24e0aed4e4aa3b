import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { GalleryPhoto } from '../../resolvers/photo/gallery.input.ts';
import type { RequestContext } from '../../src/auth/request-context.ts';
import { loadConfig } from '../../src/config.ts';
import { prepareImages } from '../../src/domain/photos/gallery-images.ts';
import { createFairShares } from '../../src/limits/fair-shares.ts';
import { openStorages } from '../../src/storage/storage.ts';
import { createBuilderClient, type UploadReference, useBuilderClient } from '../support/builder-client.ts';
import { BASE_URL, TOKEN_KEY, useService } from '../support/harness.ts';
import { createPicture } from '../support/images.ts';
import { addProject } from '../support/rows.ts';

const service = useService();
const client = useBuilderClient(service, 'A');
let projectId: string;
let otherProjectId: string;

beforeAll(async () => {
  projectId = await addProject(service, client.builderId);
  otherProjectId = await addProject(service, client.builderId);
});

/** Returns the context of a resolver without a request. */
async function createContext() {
  const sql = 'select integrator_id from oauth_client where id = ?';
  const [row] = await selectRows(sql, [service.findDemoClient('A').clientId]);
  const config = loadConfig({ DATA_DIR: service.dataDir, BASE_URL });
  const storage = openStorages(config, {
    secrets: [TOKEN_KEY],
    clock: service.clock,
  }).au1;
  const caller = { integratorId: row!.integrator_id as string };
  const shares = { shares: createFairShares(), shareKey: caller.integratorId };
  return { ...shares, database: service.databases.au1, clock: service.clock, region: 'au1', storage, caller };
}

/** Prepares the images of photos of one page. */
function prepare(context: object, photos: object[]) {
  const { caller } = context as RequestContext;
  const page = { builderId: client.builderId, integratorId: caller.integratorId };
  const source = { sourceApp: 'a', pageExternalSourceId: 'b' };
  return prepareImages(context as RequestContext, { ...page, ...source }, photos as GalleryPhoto[]);
}

const PATH = '/photo-gallery/bulk-upsert';
const newPage = () => ({ externalSourceId: randomBytes(6).toString('hex'), sourceApp: 'site-notes' });

async function createPhotos(count: number, first = 1) {
  return Promise.all(
    Array.from({ length: count }, async (_, index) => ({
      externalSourceId: `photo-${first + index}`,
      imageAttachment: await client.upload(),
    })),
  );
}

const upsert = (body: object) => client.sendOk('POST', PATH, { projectId, folderName: 'Site walk', ...body });
const readError = async (body: object) => {
  const answer = await client.send('POST', PATH, { ...newPage(), projectId, folderName: 'Site walk', ...body });
  return [
    answer.statusCode,
    answer.json().errors?.map((e: { fieldName: string }) => e.fieldName) ?? answer.json().code,
  ];
};

const selectRows = async (sql: string, values: unknown[]) =>
  (await service.databases.au1.fork().execute(sql, values)) as Record<string, unknown>[];
const foldersOf = (page: { externalSourceId: string }) =>
  selectRows(
    'select id, project_id, archived_at from photo_folder where page_external_source_id = ? order by created_at, id',
    [page.externalSourceId],
  );

describe('POST /builders/{builderId}/photo-gallery/bulk-upsert', () => {
  it('creates the photos and their folder, and returns all ids (PHO-10, PHO-21, PHO-24)', async () => {
    const page = newPage();
    const photos = await createPhotos(3);
    const result = await upsert({
      ...page,
      photos: photos.map((photo, index) => ({
        ...photo,
        sequenceId: index,
        capturedAt: '2026-03-02T07:30:00Z',
        width: 7,
      })),
    });
    expect(result).toEqual({
      folderId: expect.stringMatching(/^fold_/),
      createdAttachmentIds: [expect.stringMatching(/^att_/), expect.any(String), expect.any(String)],
      createdPhotos: photos.map(({ externalSourceId }, index) => ({
        externalSourceId,
        attachmentId: result.createdAttachmentIds[index],
      })),
      skippedExternalSourceIds: [],
      skippedPhotos: [],
      failedPhotos: [],
    });
    const photo = await client.sendOk('GET', `/photos/${result.createdAttachmentIds[1]}`);
    expect(photo).toMatchObject({
      source: 'GALLERY',
      projectId,
      folderId: result.folderId,
      fileName: 'site.jpg',
      photoTakenDate: '2026-03-02T07:30:00.000Z',
      metadata: {
        externalSourceId: 'photo-2',
        sourceApp: 'site-notes',
        pageExternalSourceId: page.externalSourceId,
        sequenceId: 1,
        width: 7,
        height: 30,
      },
    });
    expect((await client.download(photo.imageUrl)).statusCode).toBe(200);
    expect(await client.sendOk('GET', `/photo-folders/${result.folderId}`)).toMatchObject({
      name: 'Site walk',
      projectId,
    });
  });

  // PHO-23, PHO-24, PHO-28
  it('skips existing photos, and accepts the returned folder in repeated calls', async () => {
    const page = newPage();
    const photos = await createPhotos(2);
    const first = await upsert({ ...page, photos });
    const more = [...photos, ...(await createPhotos(1, 3))];
    for (const folder of [{ folderId: first.folderId, folderName: undefined }, { folderName: undefined }]) {
      const again = await upsert({ ...page, photos, ...folder });
      expect(again).toMatchObject({
        folderId: first.folderId,
        createdPhotos: [],
        skippedExternalSourceIds: ['photo-1', 'photo-2'],
        skippedPhotos: first.createdPhotos,
        failedPhotos: [],
      });
    }
    const next = await upsert({ ...page, photos: more, folderId: first.folderId, folderName: undefined });
    expect(next).toMatchObject({
      skippedPhotos: first.createdPhotos,
      createdPhotos: [{ externalSourceId: 'photo-3' }],
    });
    expect(await foldersOf(page)).toHaveLength(1);
  });

  it('puts new photos into the folder of their page, also when a photo of it was moved to that of another page (PHO-28)', async () => {
    const page = newPage();
    const { folderId, createdAttachmentIds } = await upsert({ ...page, photos: await createPhotos(1) });
    const other = await upsert({ ...newPage(), photos: await createPhotos(1) });
    await client.sendOk('PATCH', `/photos/${createdAttachmentIds[0]}`, { folderId: other.folderId });
    const next = await upsert({ ...page, photos: await createPhotos(1, 2) });
    expect(next).toMatchObject({ folderId, createdPhotos: [{ externalSourceId: 'photo-2' }] });
  });

  it('creates the other photos if one fails (PHO-25)', async () => {
    const page = newPage();
    const [good] = await createPhotos(1);
    const bad = await client.upload(Buffer.from('no image at all, just text'));
    const used = await client.upload();
    await client.createPhoto({ imageAttachment: used });
    const { key, regionId, type } = await client.presign(await createPicture());
    const result = await upsert({
      ...page,
      photos: [
        { externalSourceId: 'bad', imageAttachment: bad },
        { externalSourceId: 'unknown', imageAttachment: { ...bad, key: 'uploads/none' } },
        good,
        { externalSourceId: 'used', imageAttachment: used },
        { externalSourceId: 'empty', imageAttachment: { key, regionId, type } },
        { externalSourceId: 'repeated', imageAttachment: good!.imageAttachment },
        { externalSourceId: 'type', imageAttachment: await client.upload(), contentType: 'image/png' },
        { externalSourceId: 'region', imageAttachment: { ...(await client.upload()), regionId: 'us1' } },
        { externalSourceId: 'host', imageUrl: 'https://unknown.example/a.jpg' },
        { externalSourceId: 'http', imageUrl: 'http://unknown.example/a.jpg' },
      ],
    });
    expect(result.createdPhotos).toMatchObject([{ externalSourceId: 'photo-1' }]);
    expect(
      result.failedPhotos.map(({ externalSourceId, code }: Record<string, string>) => [externalSourceId, code]),
    ).toEqual([
      ['bad', 'INVALID_IMAGE'],
      ['unknown', 'INVALID_REFERENCE'],
      ['used', 'INVALID_REFERENCE'],
      ['empty', 'INVALID_REFERENCE'],
      ['repeated', 'INVALID_REFERENCE'],
      ['type', 'INVALID_IMAGE'],
      ['region', 'INVALID_REFERENCE'],
      ['host', 'HOST_NOT_APPROVED'],
      ['http', 'INVALID_IMAGE_URL'],
    ]);
  });

  it('creates no folder if all photos fail (PHO-27)', async () => {
    const page = newPage();
    const photos = [
      { externalSourceId: 'a', imageAttachment: { key: 'uploads/none', regionId: 'au1', type: 'attachment' } },
    ];
    const result = await upsert({ ...page, photos });
    expect(result).toMatchObject({ folderId: null, createdPhotos: [], failedPhotos: [{ code: 'INVALID_REFERENCE' }] });
    expect(await foldersOf(page)).toEqual([]);
  });

  it('is 404 or 400 for an unusable folder, unless a sync created it for the page (PHO-29)', async () => {
    const elsewhere = { name: 'Elsewhere', projectId: otherProjectId };
    const { id: otherFolderId } = await client.sendOk('POST', '/photo-folders', elsewhere, 201);
    const page = newPage();
    const photos = await createPhotos(1);
    const send = (folderId: string) => client.send('POST', PATH, { ...page, projectId, photos, folderId });
    expect((await send('fold_anone')).statusCode).toBe(404);
    const answer = await send(otherFolderId);
    expect([answer.statusCode, answer.json().errors]).toMatchObject([400, [{ fieldName: 'folderId' }]]);
    const { folderId: leftBehind } = await upsert({ ...page, photos });
    await client.sendOk('DELETE', PATH, page);
    const again = await upsert({ ...page, photos: await createPhotos(1), folderId: leftBehind });
    expect(again).toMatchObject({ folderId: expect.stringMatching(/^fold_/), failedPhotos: [] });
    expect(again.folderId).not.toBe(leftBehind);
  });

  it('adds photos to a folder that a user created (PHO-28)', async () => {
    const folder = await client.sendOk('POST', '/photo-folders', { name: 'By hand', projectId }, 201);
    const page = newPage();
    const body = { ...page, folderId: folder.id, folderName: undefined };
    expect(await upsert({ ...body, photos: await createPhotos(1) })).toMatchObject({
      folderId: folder.id,
      failedPhotos: [],
    });
    const later = await upsert({ ...page, folderName: undefined, photos: await createPhotos(1, 2) });
    expect(later).toMatchObject({ folderId: folder.id, createdPhotos: [{ externalSourceId: 'photo-2' }] });
    await client.sendOk('DELETE', PATH, page);
    expect(await client.sendOk('GET', `/photo-folders/${folder.id}`)).toMatchObject({ id: folder.id });
  });

  describe('of a page that moves to another project', () => {
    // PHO-31
    it('archives the old copies and creates the new ones with their folder, also from the same references', async () => {
      const page = newPage();
      const photos = await createPhotos(3);
      const before = await upsert({ ...page, photos });
      const body = { ...page, photos, projectId: otherProjectId, folderId: before.folderId, folderName: 'There' };
      const after = await upsert(body);
      expect(after.failedPhotos).toEqual([]);
      expect(after.createdPhotos).toHaveLength(3);
      expect(after.folderId).not.toBe(before.folderId);
      for (const id of before.createdAttachmentIds)
        expect((await client.send('GET', `/photos/${id}`)).statusCode).toBe(404);
      const photo = await client.sendOk('GET', `/photos/${after.createdAttachmentIds[0]}`);
      expect(photo).toMatchObject({ projectId: otherProjectId, folderId: after.folderId, metadata: { width: 40 } });
      expect((await client.download(photo.imageUrl)).statusCode).toBe(200);
      const active = await selectRows(
        'select project_id from photo where page_external_source_id = ? and archived_at is null',
        [page.externalSourceId],
      );
      expect(active).toEqual(Array(3).fill({ project_id: otherProjectId }));
      // The response was lost, and the client repeats the call with the old folder.
      expect(await upsert(body)).toMatchObject({ folderId: after.folderId, skippedPhotos: after.createdPhotos });
    });

    it('archives the empty folder, and can move back with the same references (PHO-33, PHO-34)', async () => {
      const page = newPage();
      const photos = await createPhotos(1);
      await upsert({ ...page, photos });
      await upsert({ ...page, photos, projectId: otherProjectId });
      const back = await upsert({ ...page, photos });
      expect(back).toMatchObject({ failedPhotos: [], createdPhotos: [{ externalSourceId: 'photo-1' }] });
      const active = (await foldersOf(page)).filter(({ archived_at }) => archived_at === null);
      expect(active).toMatchObject([{ id: back.folderId, project_id: projectId }]);
    });

    it("does not allow another photo or page to use the copy's reference (PHO-34)", async () => {
      const page = newPage();
      const [photo] = await createPhotos(1);
      await upsert({ ...page, photos: [photo] });
      const other = await upsert({ ...newPage(), projectId: otherProjectId, photos: [photo] });
      expect(other.failedPhotos).toMatchObject([{ code: 'INVALID_REFERENCE' }]);
      const renamed = { ...photo, externalSourceId: 'another' };
      const same = await upsert({ ...page, projectId: otherProjectId, photos: [renamed] });
      expect(same.failedPhotos).toMatchObject([{ code: 'INVALID_REFERENCE' }]);
      await client.sendOk('DELETE', PATH, page);
      const after = await upsert({ ...page, photos: [photo] });
      expect(after.failedPhotos).toMatchObject([{ code: 'INVALID_REFERENCE' }]);
    });
  });

  it('distinguishes pages by application and integrator (PHO-23)', async () => {
    const page = newPage();
    const first = await upsert({ ...page, photos: await createPhotos(1) });
    const app = await upsert({ ...page, sourceApp: 'another', photos: await createPhotos(1) });
    expect(app.folderId).not.toBe(first.folderId);
    expect(app.createdPhotos).toHaveLength(1);
    expect(app.createdPhotos[0].attachmentId).not.toBe(first.createdPhotos[0].attachmentId);
    const neighbour = await createBuilderClient(service, 'C');
    const stolen = await createPhotos(1);
    const body = { ...page, projectId, folderName: 'Theirs' };
    expect(await neighbour.sendOk('POST', PATH, { ...body, photos: stolen })).toMatchObject({
      createdPhotos: [],
      failedPhotos: [{ code: 'INVALID_REFERENCE' }],
    });
    const photos = [{ externalSourceId: 'photo-1', imageAttachment: await neighbour.upload() }];
    const theirs = await neighbour.sendOk('POST', PATH, { ...body, photos });
    expect(theirs.createdPhotos).toHaveLength(1);
    expect(theirs.folderId).not.toBe(first.folderId);
    expect(await client.sendOk('DELETE', PATH, page)).toMatchObject({
      deletedAttachmentIds: first.createdAttachmentIds,
    });
    for (const id of [...theirs.createdAttachmentIds, ...app.createdAttachmentIds]) {
      expect(await client.sendOk('GET', `/photos/${id}`)).toMatchObject({ id });
    }
  });

  it('is 400 for any invalid field, and changes nothing (PHO-21, PHO-22, PHO-38)', async () => {
    const [photo] = await createPhotos(1);
    const wrong: [object, unknown][] = [
      [{ photos: [] }, ['photos']],
      [{ photos: photo }, ['photos']],
      [{ photos: 'photo' }, ['photos']],
      [
        {
          photos: Array(101)
            .fill(0)
            .map((_, i) => ({ externalSourceId: `${i}`, imageUrl: 'https://a.example/b' })),
        },
        ['photos'],
      ],
      [{ photos: [photo, photo] }, ['photos[1].externalSourceId']],
      [{ photos: [photo, { externalSourceId: 'a' }] }, ['photos[1].imageAttachment']],
      [{ photos: [{ ...photo, imageUrl: 'https://a.example/b' }] }, ['photos[0].imageAttachment']],
      [
        { photos: [{ ...photo, imageAttachment: { ...photo!.imageAttachment, key: 7 } }] },
        ['photos[0].imageAttachment.key'],
      ],
      [{ photos: [{ imageUrl: 'https://a.example/b' }] }, ['photos[0].externalSourceId']],
      [{ photos: [{ ...photo, width: '7' }] }, ['photos[0].width']],
      [{ photos: [{ ...photo, height: 0 }] }, ['photos[0].height']],
      [{ photos: [{ ...photo, sequenceId: true }] }, ['photos[0].sequenceId']],
      [{ photos: [{ ...photo, sequenceId: 'a'.repeat(221) }] }, ['photos[0].sequenceId']],
      [{ photos: [photo], externalSourceId: '' }, ['externalSourceId']],
      [{ photos: [photo], externalSourceId: 'a'.repeat(221) }, ['externalSourceId']],
      [{ photos: [photo], sourceApp: 'a'.repeat(81) }, ['sourceApp']],
      [{ photos: [photo], sourceApp: undefined }, ['sourceApp']],
      [{ photos: [photo], projectId: undefined }, ['projectId']],
      [{ photos: [photo], folderName: undefined }, ['folderName']],
      [{ photos: [photo], folderName: '' }, ['folderName']],
      [{ photos: [photo], projectId: 'proj_anone' }, 'NOT_FOUND'],
      [{ photos: [photo], folderId: 'fold_anone' }, 'NOT_FOUND'],
    ];
    for (const [change, expected] of wrong) {
      expect(await readError(change), JSON.stringify(change).slice(0, 200)).toEqual([
        Array.isArray(expected) ? 400 : 404,
        expected,
      ]);
    }
    const elsewhere = await client.sendOk('POST', '/photo-folders', { name: 'a', projectId: otherProjectId }, 201);
    expect(await readError({ photos: [photo], folderId: elsewhere.id })).toEqual([400, ['folderId']]);
    const foreign = await createBuilderClient(service, 'A', 1);
    const folder = await foreign.sendOk('POST', '/photo-folders', { name: 'a' }, 201);
    expect(await readError({ photos: [photo], folderId: folder.id })).toEqual([404, 'NOT_FOUND']);
    const project = await addProject(service, foreign.builderId);
    expect(await readError({ photos: [photo], projectId: project })).toEqual([404, 'NOT_FOUND']);
    await upsert({ ...newPage(), photos: [photo] });
  });

  it('needs the same number of statements for any number of photos', async () => {
    const count = async (
      photos: { externalSourceId: string; imageAttachment: UploadReference }[],
      page: object,
      project: string,
    ) => {
      const logged = vi.spyOn(service.databases.au1.orm.config.getLogger(), 'logQuery');
      let total = await service.countStatements('au1', async () => {
        const result = await upsert({ ...page, photos, projectId: project });
        expect(result.createdPhotos).toHaveLength(photos.length);
      });
      // The service writes usage and failed requests every second, in a transaction of its own.
      total += logged.mock.calls.filter(
        ([{ query }]) => !/usage_day|request_log|pg_advisory|^begin|^commit/i.test(query!),
      ).length;
      logged.mockRestore();
      return total;
    };
    const [few, many] = [await createPhotos(2), await createPhotos(100)];
    const [small, large] = [newPage(), newPage()];
    const made = [await count(few, small, projectId), await count(many, large, projectId)];
    const moved = [await count(few, small, otherProjectId), await count(many, large, otherProjectId)];
    console.info(`bulk upsert: ${made[1]} statements for 100 new photos, ${moved[1]} for 100 that move`);
    expect(made[1]).toBe(made[0]);
    expect(moved[1]).toBe(moved[0]);
    expect(made[1]).toBeGreaterThan(5);
    expect(made[1]).toBeLessThan(25);
  });

  it('fails with TIMEOUT after the deadline, and keeps no bytes of failed photos (PHO-26)', async () => {
    const photos = await createPhotos(6);
    const context = await createContext();
    const deadline = new AbortController();
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(deadline.signal);
    onTestFinished(() => timeout.mockRestore());
    const { byteStore } = context.storage;
    const copy = byteStore.copy.bind(byteStore);
    let copies = 0;
    byteStore.copy = (...args) => {
      // Four are prepared at a time, so that the first is ready when the last begins.
      if (++copies === photos.length) deadline.abort();
      return copy(...args);
    };
    const outcomes = await prepare(context, photos);
    expect(timeout).toHaveBeenNthCalledWith(1, 60_000);
    const codes = [...outcomes.values()].map((outcome) => (outcome as { code?: string }).code ?? 'READY');
    expect(codes).toHaveLength(6);
    expect(codes).toContain('TIMEOUT');
    expect(codes).toContain('READY');
  });

  it('fails as a whole where an image cannot be stored, and keeps the bytes of none', async () => {
    const [photo, broken] = await createPhotos(2);
    const context = await createContext();
    const { byteStore } = context.storage;
    const copy = byteStore.copy.bind(byteStore);
    const copies: string[] = [];
    byteStore.copy = async (from, to, type) => {
      if (from === broken!.imageAttachment.key) throw new Error('The disk is broken.');
      copies.push(to);
      return copy(from, to, type);
    };
    await expect(prepare(context, [photo!, broken!])).rejects.toThrow('The disk is broken.');
    expect(await Promise.all(copies.map((key) => byteStore.stat(key)))).toEqual([null]);
  });

  it('is the same through GraphQL', async () => {
    const page = newPage();
    const answer = await service.graphql(
      client.token,
      `mutation($b: BuilderId!, $p: ProjectId!, $photos: [GalleryPhoto!]!, $e: ExternalSourceId!) {
        bulkUpsertPhotos(builderId: $b, projectId: $p, externalSourceId: $e, sourceApp: "site-notes", folderName: "G",
          photos: $photos) { folderId createdPhotos { externalSourceId attachmentId } } }`,
      { b: client.builderId, p: projectId, photos: await createPhotos(1), e: page.externalSourceId },
    );
    expect(answer.errors).toBeUndefined();
    expect(answer.data.bulkUpsertPhotos.createdPhotos).toHaveLength(1);
  });
});

describe('DELETE /builders/{builderId}/photo-gallery/bulk-upsert', () => {
  it('archives the photos, and the folder that the sync created (PHO-36, PHO-37)', async () => {
    const page = newPage();
    const { folderId, createdAttachmentIds } = await upsert({ ...page, photos: await createPhotos(2) });
    expect(await client.sendOk('DELETE', PATH, page)).toEqual({
      status: 'deleted',
      folderId,
      deletedAttachmentIds: createdAttachmentIds.toSorted(),
    });
    expect((await client.send('GET', `/photo-folders/${folderId}`)).statusCode).toBe(404);
  });

  it('finds the page after it moved, regardless of the given project and folder (PHO-35)', async () => {
    const page = newPage();
    const photos = await createPhotos(1);
    const before = await upsert({ ...page, photos });
    const after = await upsert({ ...page, photos, projectId: otherProjectId });
    expect(await client.sendOk('DELETE', PATH, { ...page, projectId, folderId: before.folderId })).toEqual({
      status: 'deleted',
      folderId: after.folderId,
      deletedAttachmentIds: after.createdAttachmentIds,
    });
  });

  it('succeeds for an unknown page with no deleted ids (PHO-36)', async () => {
    const page = newPage();
    const { folderId } = await upsert({ ...page, photos: await createPhotos(1) });
    await client.sendOk('DELETE', PATH, page);
    for (const more of [{}, { folderId }, { folderId: 'fold_anone', projectId: 'proj_anone' }]) {
      expect(await client.sendOk('DELETE', PATH, { ...page, ...more })).toEqual({
        status: 'deleted',
        folderId: (more as { folderId?: string }).folderId ?? null,
        deletedAttachmentIds: [],
      });
    }
    expect(await client.sendOk('DELETE', PATH, newPage())).toMatchObject({
      status: 'deleted',
      deletedAttachmentIds: [],
    });
  });

  it('accepts its input as query parameters (PHO-35)', async () => {
    const page = newPage();
    const { createdAttachmentIds } = await upsert({ ...page, photos: await createPhotos(1) });
    const answer = await client.sendOk('DELETE', `${PATH}?${new URLSearchParams(page)}`);
    expect(answer.deletedAttachmentIds).toEqual(createdAttachmentIds);
    const missing = await client.send('DELETE', PATH, {});
    expect(missing.json().errors.map((e: { fieldName: string }) => e.fieldName)).toEqual([
      'externalSourceId',
      'sourceApp',
    ]);
  });

  it('does not archive a folder with other photos (PHO-37)', async () => {
    const page = newPage();
    const { folderId } = await upsert({ ...page, photos: await createPhotos(1) });
    const own = await client.createPhoto({ folderId });
    await client.sendOk('DELETE', PATH, page);
    expect(await client.sendOk('GET', `/photo-folders/${folderId}`)).toMatchObject({ id: folderId });
    expect(await client.sendOk('GET', `/photos/${own.id}`)).toMatchObject({ folderId });
  });
});
