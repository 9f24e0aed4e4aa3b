import { beforeAll, describe, expect, it } from 'vitest';
import { type BuilderClient, createBuilderClient, useBuilderClient } from '../support/builder-client.ts';
import { useService } from '../support/harness.ts';
import { addProject } from '../support/rows.ts';

const service = useService();
const client = useBuilderClient(service, 'A');
let projectId: string;
let otherProjectId: string;

beforeAll(async () => {
  projectId = await addProject(service, client.builderId);
  otherProjectId = await addProject(service, client.builderId);
});

const create = (body: object) => client.sendOk('POST', '/photo-folders', body, 201);
const statusOf = async (...call: Parameters<BuilderClient['send']>) => {
  const answer = await client.send(...call);
  return [
    answer.statusCode,
    answer.json().code ?? answer.json().errors?.map((e: { fieldName: string }) => e.fieldName),
  ];
};

describe('POST /builders/{builderId}/photo-folders', () => {
  it('answers 201 with the folder (PHO-15)', async () => {
    const folder = await create({ name: 'Level 3', projectId });
    expect(folder).toEqual({
      id: expect.stringMatching(/^fold_[a-z][a-z0-9]+$/),
      builderId: client.builderId,
      projectId,
      parentId: null,
      name: 'Level 3',
      createdAt: new Date(service.clock.now()).toISOString(),
      updatedAt: new Date(service.clock.now()).toISOString(),
    });
    expect(await client.sendOk('GET', `/photo-folders/${folder.id}`)).toEqual(folder);
  });

  it("has its parent's project by default (PHO-16)", async () => {
    const parent = await create({ name: 'Top', projectId });
    expect(await create({ name: 'Below', parentId: parent.id })).toMatchObject({ parentId: parent.id, projectId });
  });

  it('accepts a name of 1 to 255 characters (PHO-15)', async () => {
    await create({ name: '🏗'.repeat(255) });
    for (const name of ['', 'a'.repeat(256), 5, null, undefined]) {
      expect(await statusOf('POST', '/photo-folders', { name })).toEqual([400, ['name']]);
    }
  });

  // PHO-16
  it("is 404 for a project or parent that is not the builder's, 400 for a parent of another project", async () => {
    const elsewhere = await createBuilderClient(service, 'A', 1);
    const foreign = await elsewhere.sendOk('POST', '/photo-folders', { name: 'Foreign' }, 201);
    const own = await create({ name: 'Own', projectId });
    const foreignProject = await addProject(service, elsewhere.builderId);
    expect(await statusOf('POST', '/photo-folders', { name: 'a', projectId: foreignProject })).toEqual([
      404,
      'NOT_FOUND',
    ]);
    expect(await statusOf('POST', '/photo-folders', { name: 'a', parentId: foreign.id })).toEqual([404, 'NOT_FOUND']);
    expect(await statusOf('POST', '/photo-folders', { name: 'a', parentId: 'fold_none' })).toEqual([404, 'NOT_FOUND']);
    expect(
      await statusOf('POST', '/photo-folders', { name: 'a', projectId: otherProjectId, parentId: own.id }),
    ).toEqual([400, ['parentId']]);
    const ofBuilder = await create({ name: 'Of the builder' });
    expect(await statusOf('POST', '/photo-folders', { name: 'a', projectId, parentId: ofBuilder.id })).toEqual([
      400,
      ['parentId'],
    ]);
    expect(await statusOf('GET', `/photo-folders/${foreign.id}`)).toEqual([404, 'NOT_FOUND']);
  });
});

describe('GET /builders/{builderId}/photo-folders', () => {
  it('filters by project and parent, in pages (PHO-17)', async () => {
    const top = await create({ name: 'List', projectId: otherProjectId });
    const below = [];
    for (let index = 0; index < 3; index++) {
      service.clock.advance(1_000);
      below.push(await create({ name: `List ${index}`, parentId: top.id }));
    }
    const page = await client.sendOk('GET', `/photo-folders?parentId=${top.id}&limit=2&offset=1`);
    expect(page).toEqual({ data: below.slice(1), meta: { totalCount: 3, totalPages: 2, offset: 1, limit: 2 } });
    expect((await client.sendOk('GET', `/photo-folders?projectId=${otherProjectId}`)).meta.totalCount).toBe(4);
    expect((await client.sendOk('GET', '/photo-folders?projectId=proj_anone')).data).toEqual([]);
  });
});

describe('PATCH /builders/{builderId}/photo-folders/{folderId}', () => {
  it('changes only the given name or parent (PHO-18)', async () => {
    const [top, folder] = [await create({ name: 'Top', projectId }), await create({ name: 'Moves', projectId })];
    service.clock.advance(1_000);
    expect(await client.sendOk('PATCH', `/photo-folders/${folder.id}`, { name: 'Renamed' })).toEqual({
      ...folder,
      name: 'Renamed',
      updatedAt: new Date(service.clock.now()).toISOString(),
    });
    const moved = await client.sendOk('PATCH', `/photo-folders/${folder.id}`, { parentId: top.id });
    expect(moved).toMatchObject({ name: 'Renamed', parentId: top.id });
    expect(await client.sendOk('PATCH', `/photo-folders/${folder.id}`, { parentId: null })).toMatchObject({
      parentId: null,
    });
  });

  it('is 400 with null for a name or a parent of another project, 404 for an unknown parent (PHO-18)', async () => {
    const folder = await create({ name: 'a', projectId });
    const other = await create({ name: 'b', projectId: otherProjectId });
    expect(await statusOf('PATCH', `/photo-folders/${folder.id}`, { name: null })).toEqual([400, ['name']]);
    for (const parent of [other, await create({ name: 'of the builder' })])
      expect(await statusOf('PATCH', `/photo-folders/${folder.id}`, { parentId: parent.id })).toEqual([
        400,
        ['parentId'],
      ]);
    expect(await statusOf('PATCH', `/photo-folders/${folder.id}`, { parentId: 'fold_none' })).toEqual([
      404,
      'NOT_FOUND',
    ]);
  });

  it('is 409 FOLDER_CYCLE under itself or a folder below it (PHO-19)', async () => {
    const top = await create({ name: '1', projectId });
    const middle = await create({ name: '2', parentId: top.id });
    const bottom = await create({ name: '3', parentId: middle.id });
    for (const parentId of [top.id, middle.id, bottom.id]) {
      expect(await statusOf('PATCH', `/photo-folders/${top.id}`, { parentId })).toEqual([409, 'FOLDER_CYCLE']);
    }
    expect(await client.sendOk('PATCH', `/photo-folders/${bottom.id}`, { parentId: top.id })).toMatchObject({
      parentId: top.id,
    });
  });

  it('two concurrent moves do not create a cycle (PHO-19)', async () => {
    for (let round = 0; round < 5; round++) {
      const [one, other] = [await create({ name: 'x', projectId }), await create({ name: 'y', projectId })];
      const answers = await Promise.all([
        client.send('PATCH', `/photo-folders/${one.id}`, { parentId: other.id }),
        client.send('PATCH', `/photo-folders/${other.id}`, { parentId: one.id }),
      ]);
      expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([200, 409]);
    }
  });
});

describe('DELETE /builders/{builderId}/photo-folders/{folderId}', () => {
  it('answers 200 with the folder, then 404 (PHO-20)', async () => {
    const folder = await create({ name: 'Goes', projectId });
    expect(await client.sendOk('DELETE', `/photo-folders/${folder.id}`)).toMatchObject({ id: folder.id, name: 'Goes' });
    expect(await statusOf('DELETE', `/photo-folders/${folder.id}`)).toEqual([404, 'NOT_FOUND']);
    expect(await statusOf('GET', `/photo-folders/${folder.id}`)).toEqual([404, 'NOT_FOUND']);
    expect(await statusOf('POST', '/photo-folders', { name: 'a', parentId: folder.id })).toEqual([404, 'NOT_FOUND']);
  });

  it('is 409 FOLDER_NOT_EMPTY while it holds photos or folders (PHO-20, PHO-9)', async () => {
    const folder = await create({ name: 'Full', projectId });
    const photo = await client.createPhoto({ folderId: folder.id });
    expect(photo).toMatchObject({ folderId: folder.id, projectId });
    expect(await statusOf('DELETE', `/photo-folders/${folder.id}`)).toEqual([409, 'FOLDER_NOT_EMPTY']);
    const below = await create({ name: 'Below', parentId: folder.id });
    await client.sendOk('DELETE', `/photos/${photo.id}`);
    expect(await statusOf('DELETE', `/photo-folders/${folder.id}`)).toEqual([409, 'FOLDER_NOT_EMPTY']);
    await client.sendOk('DELETE', `/photo-folders/${below.id}`);
    await client.sendOk('DELETE', `/photo-folders/${folder.id}`);
  });

  it('does not delete the folder of a concurrently added photo (PHO-20)', async () => {
    for (let round = 0; round < 5; round++) {
      const folder = await create({ name: 'Race', projectId });
      const { id } = await client.createPhoto({ projectId });
      const [moved, deleted] = await Promise.all([
        client.send('PATCH', `/photos/${id}`, { folderId: folder.id }),
        client.send('DELETE', `/photo-folders/${folder.id}`),
      ]);
      expect([
        [200, 409],
        [404, 200],
      ]).toContainEqual([moved.statusCode, deleted.statusCode]);
    }
  });
});

describe('a photo', () => {
  it('moves between the folders of its project, and out of them (PHO-11)', async () => {
    const [one, other] = [await create({ name: 'one', projectId }), await create({ name: 'other', projectId })];
    const elsewhere = await create({ name: 'elsewhere', projectId: otherProjectId });
    const { id } = await client.createPhoto({ projectId, folderId: one.id });
    expect(await client.sendOk('PATCH', `/photos/${id}`, { folderId: other.id })).toMatchObject({ folderId: other.id });
    expect((await client.sendOk('GET', `/photos?folderId=${other.id}`)).data).toMatchObject([{ id }]);
    expect(await statusOf('PATCH', `/photos/${id}`, { folderId: elsewhere.id })).toEqual([400, ['folderId']]);
    expect(await statusOf('PATCH', `/photos/${id}`, { folderId: 'fold_none' })).toEqual([404, 'NOT_FOUND']);
    expect(await client.sendOk('PATCH', `/photos/${id}`, { folderId: null })).toMatchObject({
      folderId: null,
      projectId,
    });
  });

  it('without a project is put into that of the folder which it is moved to, and remains there (PHO-9)', async () => {
    const folder = await create({ name: 'of the project', projectId });
    const { id } = await client.createPhoto();
    const moved = { folderId: folder.id, projectId };
    expect(await client.sendOk('PATCH', `/photos/${id}`, { folderId: folder.id })).toMatchObject(moved);
    expect(await client.sendOk('PATCH', `/photos/${id}`, { folderId: null })).toMatchObject({
      folderId: null,
      projectId,
    });
  });

  it('is 400 in a folder of another project (PHO-9)', async () => {
    const elsewhere = await create({ name: 'elsewhere', projectId: otherProjectId });
    const body = { fileName: 'a', imageAttachment: await client.upload(), projectId, folderId: elsewhere.id };
    expect(await statusOf('POST', '/photos', body)).toEqual([400, ['folderId']]);
  });
});

describe('folders through GraphQL', () => {
  it('have their photos and folders', async () => {
    const top = await create({ name: 'Graph', projectId });
    const below = await create({ name: 'Below', parentId: top.id });
    const photo = await client.createPhoto({ folderId: below.id });
    const answer = await service.graphql(
      client.token,
      `query($b: BuilderId!, $f: FolderId!, $p: ProjectId!) { photoFolder(builderId: $b, folderId: $f) {
        project { id } parent { id } folders { data { name parent { id } photos { data { id folder { name } } } } } }
        project(builderId: $b, projectId: $p) { photoFolders { meta { totalCount } } } }`,
      { b: client.builderId, f: top.id, p: projectId },
    );
    expect(answer.errors).toBeUndefined();
    expect(answer.data.photoFolder).toEqual({
      project: { id: projectId },
      parent: null,
      folders: {
        data: [
          { name: 'Below', parent: { id: top.id }, photos: { data: [{ id: photo.id, folder: { name: 'Below' } }] } },
        ],
      },
    });
  });

  it('return the same error for a cycle', async () => {
    const top = await create({ name: 'Graph', projectId });
    const answer = await service.graphql(
      client.token,
      'mutation($b: BuilderId!, $f: FolderId!) { updatePhotoFolder(builderId: $b, folderId: $f, parentId: $f) { id } }',
      { b: client.builderId, f: top.id },
    );
    expect(answer.errors?.[0]?.extensions).toMatchObject({ code: 'FOLDER_CYCLE', http: { status: 409 } });
  });
});
