import { randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createBuilderClient, type UploadReference, useBuilderClient } from '../support/builder-client.ts';
import { useService } from '../support/harness.ts';
import { addProject } from '../support/rows.ts';

interface Page {
  externalSourceId: string;
  sourceApp: string;
}

interface Photo {
  externalSourceId: string;
  imageAttachment: UploadReference;
  contentType?: string;
}

const PATH = '/photo-gallery/bulk-upsert';
const UPSERT = `mutation($b: BuilderId!, $p: ProjectId!, $photos: [GalleryPhoto!]!, $e: ExternalSourceId!, $a: SourceApp!) {
  bulkUpsertPhotos(builderId: $b, projectId: $p, externalSourceId: $e, sourceApp: $a, folderName: "Walk", photos: $photos) {
    folderId createdAttachmentIds createdPhotos { externalSourceId attachmentId } skippedExternalSourceIds
    failedPhotos { externalSourceId code } } }`;

const service = useService();
let otherInstance: FastifyInstance;
const client = useBuilderClient(service, 'A');
/** The project of the page, the project that it moves to, and a third one. */
let sourceProjectId: string;
let targetProjectId: string;
let thirdProjectId: string;
let page: Page;

beforeAll(async () => {
  otherInstance = await service.startInstance();
  [sourceProjectId, targetProjectId, thirdProjectId] = (await Promise.all(
    [0, 1, 2].map(() => addProject(service, client.builderId)),
  )) as [string, string, string];
});

beforeEach(() => {
  page = { externalSourceId: randomBytes(6).toString('hex'), sourceApp: 'site-notes' };
});

const photosNamed = (...names: string[]): Promise<Photo[]> =>
  Promise.all(names.map(async (name) => ({ externalSourceId: name, imageAttachment: await client.upload() })));

/** A photo whose bytes are not an image. */
async function createPhotoWithoutUpload(name: string): Promise<Photo> {
  return { externalSourceId: name, imageAttachment: await client.upload(Buffer.from('no image at all, just text')) };
}

const upsertByRest = (projectId: string, photos: Photo[]) =>
  client.sendOk('POST', PATH, { ...page, projectId, folderName: 'Walk', photos });

async function upsertByGraphql(projectId: string, photos: Photo[]) {
  const { externalSourceId: e, sourceApp: a } = page;
  const answer = await service.graphql(client.token, UPSERT, { b: client.builderId, p: projectId, photos, e, a });
  expect(answer.errors).toBeUndefined();
  return answer.data.bulkUpsertPhotos;
}

/** Returns the names of the page's active photos by project. */
async function activePhotos(): Promise<Record<string, string[]>> {
  const rows = (await service.databases.au1.fork().execute(
    `select project_id as project, array_agg(external_source_id order by external_source_id) as names from photo
     where page_external_source_id = ? and archived_at is null group by 1`,
    [page.externalSourceId],
  )) as { project: string; names: string[] }[];
  return Object.fromEntries(rows.map(({ project, names }) => [project, names]));
}

/** Returns the projects of the page's active folders. */
async function activeFolders(): Promise<string[]> {
  const rows = (await service.databases.au1.fork().execute(
    `select project_id as project from photo_folder
     where page_external_source_id = ? and archived_at is null order by 1`,
    [page.externalSourceId],
  )) as { project: string }[];
  return rows.map(({ project }) => project);
}

describe.each([
  ['REST', upsertByRest],
  ['GraphQL', upsertByGraphql],
])('a bulk upsert to another project through %s', (_face, upsert) => {
  it('archives all copies of the page in other projects, even those that it does not name (PHO-31)', async () => {
    const photos = await photosNamed('1', '2', '3');
    const before = await upsert(sourceProjectId, photos);
    const after = await upsert(targetProjectId, [photos[1]!]);
    expect(after).toMatchObject({ createdPhotos: [{ externalSourceId: '2' }], failedPhotos: [] });
    expect(await activePhotos()).toEqual({ [targetProjectId]: ['2'] });
    expect(await activeFolders()).toEqual([targetProjectId]);
    for (const id of before.createdAttachmentIds) {
      expect((await client.send('GET', `/photos/${id}`)).statusCode).toBe(404);
    }
  });

  // PHO-31
  it('archives copies whose replacement failed; a later call creates them from their own uploads', async () => {
    const photos = await photosNamed('1', '2');
    await upsert(sourceProjectId, photos);
    const after = await upsert(targetProjectId, [await createPhotoWithoutUpload('1'), photos[1]!]);
    expect(after.failedPhotos).toMatchObject([{ externalSourceId: '1', code: 'INVALID_IMAGE' }]);
    expect(await activePhotos()).toEqual({ [targetProjectId]: ['2'] });
    const retried = await upsert(targetProjectId, photos);
    expect(retried).toMatchObject({
      createdPhotos: [{ externalSourceId: '1' }],
      skippedExternalSourceIds: ['2'],
      failedPhotos: [],
    });
    expect(await activePhotos()).toEqual({ [targetProjectId]: ['1', '2'] });
  });

  it('moves nothing if all photos fail (PHO-27)', async () => {
    await upsert(sourceProjectId, await photosNamed('1', '2'));
    const after = await upsert(targetProjectId, [
      await createPhotoWithoutUpload('1'),
      await createPhotoWithoutUpload('3'),
    ]);
    expect(after).toMatchObject({ folderId: null, createdAttachmentIds: [] });
    expect(await activePhotos()).toEqual({ [sourceProjectId]: ['1', '2'] });
    expect(await activeFolders()).toEqual([sourceProjectId]);
  });

  it('keeps the copies in its own project that it does not name (PHO-32)', async () => {
    await upsert(targetProjectId, await photosNamed('1', '2'));
    await upsert(targetProjectId, await photosNamed('3'));
    expect(await activePhotos()).toEqual({ [targetProjectId]: ['1', '2', '3'] });
  });
});

describe('a page that moves in several calls', () => {
  it('reuses the uploads of its earlier copies in each call, also when it moves back (PHO-34)', async () => {
    const photos = await photosNamed('1', '2', '3');
    await upsertByRest(sourceProjectId, photos);
    for (const project of [targetProjectId, sourceProjectId]) {
      for (const photo of photos) {
        expect(await upsertByRest(project, [photo])).toMatchObject({
          createdPhotos: [{ externalSourceId: photo.externalSourceId }],
          failedPhotos: [],
        });
      }
      expect(await activePhotos()).toEqual({ [project]: ['1', '2', '3'] });
      expect(await activeFolders()).toEqual([project]);
    }
    // Photos that the first move did not name can still reuse their uploads after the second.
    await upsertByRest(targetProjectId, [photos[0]!]);
    await upsertByRest(sourceProjectId, [photos[0]!]);
    expect(await upsertByRest(sourceProjectId, photos)).toMatchObject({ failedPhotos: [] });
    expect(await activePhotos()).toEqual({ [sourceProjectId]: ['1', '2', '3'] });
  });

  it('fails a photo that declares another type than that of its earlier bytes (PHO-34)', async () => {
    const [photo] = await photosNamed('1');
    await upsertByRest(sourceProjectId, [photo!]);
    const { failedPhotos } = await upsertByRest(targetProjectId, [{ ...photo!, contentType: 'image/png' }]);
    expect(failedPhotos).toMatchObject([{ externalSourceId: '1', code: 'INVALID_IMAGE' }]);
    expect(await activePhotos()).toEqual({ [sourceProjectId]: ['1'] });
  });

  // PHO-34
  it('cannot reuse the upload of a photo that a user deleted, or those of a deleted page', async () => {
    const photos = await photosNamed('1', '2');
    const { createdAttachmentIds } = await upsertByRest(sourceProjectId, photos);
    await client.sendOk('DELETE', `/photos/${createdAttachmentIds[0]}`);
    const refused = { externalSourceId: '1', code: 'INVALID_REFERENCE' };
    expect((await upsertByRest(sourceProjectId, [photos[0]!])).failedPhotos).toMatchObject([refused]);
    await upsertByRest(targetProjectId, [photos[1]!]);
    await client.sendOk('DELETE', PATH, page);
    expect((await upsertByRest(sourceProjectId, photos)).failedPhotos).toMatchObject([
      refused,
      { externalSourceId: '2', code: 'INVALID_REFERENCE' },
    ]);
  });

  it('does not allow other photos, pages or integrators to use its uploads (PHO-34)', async () => {
    const photos = await photosNamed('1', '2');
    await upsertByRest(sourceProjectId, photos);
    await upsertByRest(targetProjectId, [photos[1]!]);
    const renamed = { ...photos[0]!, externalSourceId: 'other' };
    expect((await upsertByRest(targetProjectId, [renamed])).failedPhotos).toMatchObject([
      { code: 'INVALID_REFERENCE' },
    ]);
    const body = { ...page, projectId: targetProjectId, folderName: 'Walk', photos: [photos[0]] };
    const elsewhere = { ...body, externalSourceId: `${page.externalSourceId}-other` };
    expect((await client.sendOk('POST', PATH, elsewhere)).failedPhotos).toMatchObject([{ code: 'INVALID_REFERENCE' }]);
    const neighbour = await createBuilderClient(service, 'C');
    expect((await neighbour.sendOk('POST', PATH, body)).failedPhotos).toMatchObject([{ code: 'INVALID_REFERENCE' }]);
  });

  it('does not archive a folder of a user in its previous project (PHO-33)', async () => {
    const folder = await client.sendOk('POST', '/photo-folders', { name: 'By hand', projectId: sourceProjectId }, 201);
    const photos = await photosNamed('1', '2');
    await client.sendOk('POST', PATH, { ...page, projectId: sourceProjectId, folderId: folder.id, photos });
    await upsertByRest(targetProjectId, [photos[0]!]);
    expect(await activePhotos()).toEqual({ [targetProjectId]: ['1'] });
    expect(await client.sendOk('GET', `/photo-folders/${folder.id}`)).toMatchObject({
      id: folder.id,
      projectId: sourceProjectId,
    });
  });
});

describe('concurrent upserts of one page to several projects on two instances', () => {
  it('leave the whole page in one project and one folder (PHO-30)', async () => {
    const photos = await photosNamed('1', '2', '3', '4');
    await upsertByRest(sourceProjectId, photos);
    for (let round = 0; round < 2; round++) {
      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, at) => {
          const projectId = [targetProjectId, thirdProjectId, sourceProjectId][at % 3];
          return (at % 2 === 0 ? service.app : otherInstance).inject({
            method: 'POST',
            url: `/builders/${client.builderId}${PATH}`,
            headers: { authorization: `Bearer ${client.token}` },
            payload: { ...page, projectId, folderName: 'Walk', photos },
          });
        }),
      );
      expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array(12).fill(200));
      const active = await activePhotos();
      expect(Object.keys(active)).toHaveLength(1);
      const [last] = Object.keys(active) as [string];
      expect(await activeFolders()).toEqual([last]);
      // A retry of the last call completes photos that a concurrent call prevented.
      expect(await upsertByRest(last, photos)).toMatchObject({ failedPhotos: [] });
      expect(await activePhotos()).toEqual({ [last]: ['1', '2', '3', '4'] });
    }
  });
});
