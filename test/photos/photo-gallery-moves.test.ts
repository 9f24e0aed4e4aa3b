import { randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Service, startService } from '../support/harness.ts';
import { addProject } from '../support/rows.ts';
import { type Client, clientOf, type Reference } from '../support/uploads.ts';

interface Page {
  externalSourceId: string;
  sourceApp: string;
}

interface Photo {
  externalSourceId: string;
  imageAttachment: Reference;
}

const PATH = '/photo-gallery/bulk-upsert';
const UPSERT = `mutation($b: BuilderId!, $p: ProjectId!, $photos: [GalleryPhoto!]!, $e: ExternalSourceId!, $a: SourceApp!) {
  bulkUpsertPhotos(builderId: $b, projectId: $p, externalSourceId: $e, sourceApp: $a, folderName: "Walk", photos: $photos) {
    folderId createdAttachmentIds createdPhotos { externalSourceId attachmentId } skippedExternalSourceIds
    failedPhotos { externalSourceId code } } }`;

let service: Service;
let other: FastifyInstance;
let client: Client;
/** The project of the page, the project that it moves to, and a third one. */
let from: string;
let to: string;
let third: string;
let page: Page;

beforeAll(async () => {
  service = await startService();
  other = await service.another();
  client = await clientOf(service, 'A');
  [from, to, third] = (await Promise.all([0, 1, 2].map(() => addProject(service, client.builderId)))) as [
    string,
    string,
    string,
  ];
});

beforeEach(() => {
  page = { externalSourceId: randomBytes(6).toString('hex'), sourceApp: 'site-notes' };
});

afterAll(() => service.stop());

const photosNamed = (...names: string[]): Promise<Photo[]> =>
  Promise.all(names.map(async (name) => ({ externalSourceId: name, imageAttachment: await client.upload() })));

/** A photo whose bytes are not an image. */
async function badPhoto(name: string): Promise<Photo> {
  return { externalSourceId: name, imageAttachment: await client.upload(Buffer.from('no image at all, just text')) };
}

const throughRest = (projectId: string, photos: Photo[]) =>
  client.ok('POST', PATH, { ...page, projectId, folderName: 'Walk', photos });

async function throughGraphql(projectId: string, photos: Photo[]) {
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
  ['REST', throughRest],
  ['GraphQL', throughGraphql],
])('a bulk upsert to another project through %s', (_face, upsert) => {
  it('archives all copies of the page in other projects, even those that it does not name (PHO-31)', async () => {
    const photos = await photosNamed('1', '2', '3');
    const before = await upsert(from, photos);
    const after = await upsert(to, [photos[1]!]);
    expect(after).toMatchObject({ createdPhotos: [{ externalSourceId: '2' }], failedPhotos: [] });
    expect(await activePhotos()).toEqual({ [to]: ['2'] });
    expect(await activeFolders()).toEqual([to]);
    for (const id of before.createdAttachmentIds) {
      expect((await client.send('GET', `/photos/${id}`)).statusCode).toBe(404);
    }
  });

  // PHO-31
  it('archives copies whose replacement failed; a later call creates them from their own uploads', async () => {
    const photos = await photosNamed('1', '2');
    await upsert(from, photos);
    const after = await upsert(to, [await badPhoto('1'), photos[1]!]);
    expect(after.failedPhotos).toMatchObject([{ externalSourceId: '1', code: 'INVALID_IMAGE' }]);
    expect(await activePhotos()).toEqual({ [to]: ['2'] });
    const retried = await upsert(to, photos);
    expect(retried).toMatchObject({
      createdPhotos: [{ externalSourceId: '1' }],
      skippedExternalSourceIds: ['2'],
      failedPhotos: [],
    });
    expect(await activePhotos()).toEqual({ [to]: ['1', '2'] });
  });

  it('moves nothing if all photos fail (PHO-27)', async () => {
    await upsert(from, await photosNamed('1', '2'));
    const after = await upsert(to, [await badPhoto('1'), await badPhoto('3')]);
    expect(after).toMatchObject({ folderId: null, createdAttachmentIds: [] });
    expect(await activePhotos()).toEqual({ [from]: ['1', '2'] });
    expect(await activeFolders()).toEqual([from]);
  });

  it('keeps the copies in its own project that it does not name (PHO-32)', async () => {
    await upsert(to, await photosNamed('1', '2'));
    await upsert(to, await photosNamed('3'));
    expect(await activePhotos()).toEqual({ [to]: ['1', '2', '3'] });
  });
});

describe('a page that moves in several calls', () => {
  it('reuses the uploads of its earlier copies in each call, also when it moves back (PHO-34)', async () => {
    const photos = await photosNamed('1', '2', '3');
    await throughRest(from, photos);
    for (const project of [to, from]) {
      for (const photo of photos) {
        expect(await throughRest(project, [photo])).toMatchObject({
          createdPhotos: [{ externalSourceId: photo.externalSourceId }],
          failedPhotos: [],
        });
      }
      expect(await activePhotos()).toEqual({ [project]: ['1', '2', '3'] });
      expect(await activeFolders()).toEqual([project]);
    }
    // Photos that the first move did not name can still reuse their uploads after the second.
    await throughRest(to, [photos[0]!]);
    await throughRest(from, [photos[0]!]);
    expect(await throughRest(from, photos)).toMatchObject({ failedPhotos: [] });
    expect(await activePhotos()).toEqual({ [from]: ['1', '2', '3'] });
  });

  // PHO-34
  it('cannot reuse the upload of a photo that a person deleted, or those of a deleted page', async () => {
    const photos = await photosNamed('1', '2');
    const { createdAttachmentIds } = await throughRest(from, photos);
    await client.ok('DELETE', `/photos/${createdAttachmentIds[0]}`);
    const refused = { externalSourceId: '1', code: 'INVALID_REFERENCE' };
    expect((await throughRest(from, [photos[0]!])).failedPhotos).toMatchObject([refused]);
    await throughRest(to, [photos[1]!]);
    await client.ok('DELETE', PATH, page);
    expect((await throughRest(from, photos)).failedPhotos).toMatchObject([
      refused,
      { externalSourceId: '2', code: 'INVALID_REFERENCE' },
    ]);
  });

  it('does not allow other photos, pages or integrators to use its uploads (PHO-34)', async () => {
    const photos = await photosNamed('1', '2');
    await throughRest(from, photos);
    await throughRest(to, [photos[1]!]);
    const renamed = { ...photos[0]!, externalSourceId: 'other' };
    expect((await throughRest(to, [renamed])).failedPhotos).toMatchObject([{ code: 'INVALID_REFERENCE' }]);
    const body = { ...page, projectId: to, folderName: 'Walk', photos: [photos[0]] };
    const elsewhere = { ...body, externalSourceId: `${page.externalSourceId}-other` };
    expect((await client.ok('POST', PATH, elsewhere)).failedPhotos).toMatchObject([{ code: 'INVALID_REFERENCE' }]);
    const neighbour = await clientOf(service, 'C');
    expect((await neighbour.ok('POST', PATH, body)).failedPhotos).toMatchObject([{ code: 'INVALID_REFERENCE' }]);
  });

  it('does not archive a folder of a person in its previous project (PHO-33)', async () => {
    const folder = await client.ok('POST', '/photo-folders', { name: 'By hand', projectId: from }, 201);
    const photos = await photosNamed('1', '2');
    await client.ok('POST', PATH, { ...page, projectId: from, folderId: folder.id, photos });
    await throughRest(to, [photos[0]!]);
    expect(await activePhotos()).toEqual({ [to]: ['1'] });
    expect(await client.ok('GET', `/photo-folders/${folder.id}`)).toMatchObject({ id: folder.id, projectId: from });
  });
});

describe('concurrent upserts of one page to several projects on two instances', () => {
  it('leave the whole page in one project and one folder (PHO-30)', async () => {
    const photos = await photosNamed('1', '2', '3', '4');
    await throughRest(from, photos);
    for (let round = 0; round < 4; round++) {
      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, at) => {
          const projectId = [to, third, from][at % 3];
          return (at % 2 === 0 ? service.app : other).inject({
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
      expect(await throughRest(last, photos)).toMatchObject({ failedPhotos: [] });
      expect(await activePhotos()).toEqual({ [last]: ['1', '2', '3', '4'] });
    }
  }, 60_000);
});
