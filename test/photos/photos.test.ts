import { beforeAll, describe, expect, it } from 'vitest';
import { createBuilderClient, useBuilderClient } from '../support/builder-client.ts';
import { useService } from '../support/harness.ts';
import {
  createAnimation,
  createDatedPicture,
  createDecompressionBomb,
  createHeic,
  createPicture,
} from '../support/images.ts';
import { addDefect, addProject } from '../support/rows.ts';

const service = useService();
const client = useBuilderClient(service, 'A');
let projectId: string;

beforeAll(async () => {
  projectId = await addProject(service, client.builderId);
});

const errorsOf = (answer: { json(): { errors: { fieldName: string; message: string }[] } }) =>
  answer.json().errors.map(({ fieldName }) => fieldName);

describe('POST /builders/{builderId}/attachments/presign', () => {
  const body = { contentType: 'image/jpeg', fileName: 'site.jpg', size: 1000, type: 'attachment' };

  it('answers 200 with an upload intent (UPL-2, UPL-3)', async () => {
    const intent = await client.sendOk('POST', '/attachments/presign', body);
    expect(Object.keys(intent)).toEqual([
      ...['key', 'type', 'contentType', 'fileName', 'maxSize', 'uploadHeaders', 'uploadUrl', 'regionId'],
    ]);
    expect(intent).toMatchObject({
      type: 'attachment',
      contentType: 'image/jpeg',
      fileName: 'site.jpg',
      maxSize: 41943040,
      uploadHeaders: { 'Content-Length': '1000', 'Content-Type': 'image/jpeg' },
      regionId: 'au1',
    });
    expect(intent.uploadUrl).toMatch(/^http:\/\/localhost:4000\/storage\/au1\//);
  });

  it('needs no scope (UPL-1)', async () => {
    const token = await service.tokenOf('A', []);
    const answer = await service.request({
      method: 'POST',
      url: `/builders/${client.builderId}/attachments/presign`,
      headers: { authorization: `Bearer ${token}` },
      payload: body,
    });
    expect(answer.statusCode).toBe(200);
  });

  it.each([
    [{ size: 0 }, 'size'],
    [{ size: 41943041 }, 'size'],
    [{ size: '1000' }, 'size'],
    [{ size: 1.5 }, 'size'],
    [{ contentType: 'application/pdf' }, 'contentType'],
    [{ contentType: 'image/svg+xml' }, 'contentType'],
    [{ contentType: 5 }, 'contentType'],
    [{ fileName: '' }, 'fileName'],
    [{ fileName: 'a'.repeat(256) }, 'fileName'],
    [{ fileName: 'a\0b' }, 'fileName'],
    [{ type: 'photo' }, 'type'],
    [{ type: null }, 'type'],
  ])('is 400 with %j (UPL-2)', async (change, field) => {
    const answer = await client.send('POST', '/attachments/presign', { ...body, ...change });
    expect([answer.statusCode, errorsOf(answer)]).toEqual([400, [field]]);
  });

  it('accepts the maximum size (UPL-2)', async () => {
    const answer = await client.send('POST', '/attachments/presign', { ...body, size: 41943040 });
    expect(answer.statusCode).toBe(200);
  });

  it('is the same through GraphQL', async () => {
    const answer = await service.graphql(
      client.token,
      `mutation($b: BuilderId!) { presignAttachment(builderId: $b, contentType: "image/png", fileName: "a.png", size: 7,
        type: attachment) { key uploadHeaders regionId } }`,
      { b: client.builderId },
    );
    expect(answer.data.presignAttachment).toMatchObject({
      uploadHeaders: { 'Content-Length': '7', 'Content-Type': 'image/png' },
      regionId: 'au1',
    });
  });
});

/** Names that no file may have, wherever one is given. */
const WRONG_FILE_NAMES = ['../a.jpg', 'a/b.jpg', 'C:\\a.jpg', '.', '..', 'a\nb.jpg', 'caf\ufffd.jpg', 'a'.repeat(256)];

describe('a file name that is a path (PHO-5, UPL-13)', () => {
  it.each(WRONG_FILE_NAMES)('is 400 in every operation: %j', async (fileName) => {
    const presigned = { contentType: 'image/jpeg', fileName, size: 1_000, type: 'attachment' };
    const imageAttachment = { key: 'uploads/a', regionId: 'au1', type: 'attachment' };
    const page = { externalSourceId: 'page', sourceApp: 'notes', projectId };
    const answers = await Promise.all([
      client.send('POST', '/attachments/presign', presigned),
      client.send('POST', '/photos', { fileName, imageAttachment }),
      client.send('PATCH', '/photos/att_a1', { fileName }),
      client.send('POST', '/photo-gallery/bulk-upsert', {
        ...page,
        photos: [{ externalSourceId: '1', fileName, imageAttachment }],
      }),
    ]);
    expect(answers.map((answer) => [answer.statusCode, errorsOf(answer)])).toEqual([
      [400, ['fileName']],
      [400, ['fileName']],
      [400, ['fileName']],
      [400, ['photos[0].fileName']],
    ]);
  });
});

describe('POST /builders/{builderId}/photos', () => {
  it('answers 201 with a photo of the uploaded image, whose URL opens (PHO-1, PHO-2, PHO-7)', async () => {
    const bytes = await createPicture();
    const photo = await client.createPhoto({
      imageAttachment: await client.upload(bytes),
      projectId,
      description: 'Slab edge',
      capturedAt: '2026-03-02T07:30:00+10:00',
      externalSourceId: 'one',
    });
    expect(Object.keys(photo)[0]).toBe('id');
    expect(photo).toMatchObject({
      // IDN-5
      id: expect.stringMatching(/^att_[a-z][a-z0-9]+$/),
      builderId: client.builderId,
      projectId,
      source: 'GALLERY',
      folderId: null,
      fileName: 'site.jpg',
      contentType: 'image/jpeg',
      key: expect.stringMatching(/^photos\//),
      fileSize: String(bytes.length),
      description: 'Slab edge',
      photoTakenDate: '2026-03-01T21:30:00.000Z',
      sortDate: '2026-03-01T21:30:00.000Z',
      metadata: { externalSourceId: 'one' },
      archivedAt: null,
    });
    expect(Object.keys(photo).toSorted()).toEqual(
      [
        ...['id', 'builderId', 'projectId', 'source', 'folderId', 'fileName', 'contentType', 'key', 'fileSize'],
        ...[
          'description',
          'photoTakenDate',
          'sortDate',
          'metadata',
          'createdAt',
          'updatedAt',
          'archivedAt',
          'imageUrl',
        ],
      ].toSorted(),
    );
    const image = await client.download(photo.imageUrl);
    expect(image.statusCode).toBe(200);
    expect(image.headers['content-type']).toBe('image/jpeg');
    expect(image.rawPayload.equals(bytes)).toBe(true);
  });

  it('serves an image that is also valid HTML as an image only (UPL-20, UPL-31)', async () => {
    const bytes = Buffer.concat([await createPicture(), Buffer.from('<!doctype html><script>alert(1)</script>')]);
    const photo = await client.createPhoto({ imageAttachment: await client.upload(bytes), fileName: 'a.html' });
    const { headers, rawPayload } = await client.download(photo.imageUrl);
    expect(headers).toMatchObject({
      'content-type': 'image/jpeg',
      'x-content-type-options': 'nosniff',
      'content-security-policy': 'sandbox',
    });
    expect(rawPayload.equals(bytes)).toBe(true);
  });

  it.each(['jpeg', 'png', 'webp', 'gif'] as const)('accepts %s (UPL-18)', async (format) => {
    const reference = await client.upload(await createPicture(format), `image/${format}`);
    expect(await client.createPhoto({ imageAttachment: reference })).toMatchObject({ contentType: `image/${format}` });
  });

  it('accepts HEIC under both types, image/jpg for JPEG and image/apng for PNG (UPL-18)', async () => {
    for (const type of ['image/heic', 'image/heif']) {
      const photo = await client.createPhoto({
        imageAttachment: await client.upload(createHeic(), type),
        contentType: type,
      });
      expect(photo.contentType).toBe('image/heic');
    }
    const reference = await client.upload(await createPicture(), 'image/jpg');
    expect(await client.createPhoto({ imageAttachment: reference })).toMatchObject({ contentType: 'image/jpeg' });
    const png = await client.upload(await createPicture('png'), 'image/apng');
    expect(await client.createPhoto({ imageAttachment: png })).toMatchObject({ contentType: 'image/png' });
  });

  // PHO-7
  it('has the date of its EXIF data by default, and else sorts by creation', async () => {
    const dated = await client.upload(await createDatedPicture('2025:03:04 05:06:07', '+01:00'));
    expect(await client.createPhoto({ imageAttachment: dated })).toMatchObject({
      photoTakenDate: '2025-03-04T04:06:07.000Z',
      sortDate: '2025-03-04T04:06:07.000Z',
    });
    const photo = await client.createPhoto();
    expect(photo.photoTakenDate).toBeNull();
    expect(photo.sortDate).toBe(photo.createdAt);
  });

  it('has the last date that EXIF data can hold, alone and in a bulk upsert (PHO-7)', async () => {
    const last = await createDatedPicture('9999:12:31 23:59:59');
    const photoTakenDate = '9999-12-31T12:59:59.000Z';
    const photo = await client.createPhoto({ imageAttachment: await client.upload(last) });
    expect(photo).toMatchObject({ photoTakenDate, sortDate: photoTakenDate });
    await client.sendOk('DELETE', `/photos/${photo.id}`);
    const pictures = { last, other: await createPicture() };
    const photos = [];
    for (const [externalSourceId, bytes] of Object.entries(pictures)) {
      photos.push({ externalSourceId, imageAttachment: await client.upload(bytes) });
    }
    const page = { externalSourceId: 'last-date', sourceApp: 'app', projectId };
    const body = { ...page, folderName: 'Last date', photos };
    const { createdPhotos } = await client.sendOk('POST', '/photo-gallery/bulk-upsert', body);
    expect(createdPhotos).toMatchObject([{ externalSourceId: 'last' }, { externalSourceId: 'other' }]);
    await client.sendOk('DELETE', '/photo-gallery/bulk-upsert', page);
  });

  // PHO-8
  it('answers 200 with the existing photo of the same externalSourceId, before any other check', async () => {
    const reference = await client.upload();
    const body = { fileName: 'a.jpg', imageAttachment: reference, externalSourceId: 'again' };
    const first = await client.sendOk('POST', '/photos', body, 201);
    const second = await client.sendOk('POST', '/photos', body, 200);
    expect(second.id).toBe(first.id);
    const other = { ...reference, key: 'uploads/none' };
    expect((await client.sendOk('POST', '/photos', { ...body, imageAttachment: other })).id).toBe(first.id);
    await client.sendOk('DELETE', `/photos/${first.id}`);
    const third = await client.createPhoto({ externalSourceId: 'again' });
    expect(third.id).not.toBe(first.id);
  });

  it('creates one photo from concurrent identical requests (PHO-8)', async () => {
    const body = { fileName: 'a.jpg', imageAttachment: await client.upload(), externalSourceId: 'at-once' };
    const answers = await Promise.all(Array.from({ length: 30 }, () => client.send('POST', '/photos', body)));
    expect(new Set(answers.map((answer) => answer.json().id)).size).toBe(1);
    expect(answers.map(({ statusCode }) => statusCode).filter((status) => status === 201)).toHaveLength(1);
    expect(answers.every(({ statusCode }) => [200, 201].includes(statusCode))).toBe(true);
  });

  it('creates one photo from an upload over concurrent requests (UPL-16)', async () => {
    const imageAttachment = await client.upload();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => client.send('POST', '/photos', { fileName: 'a.jpg', imageAttachment })),
    );
    expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([201, ...Array(9).fill(400)]);
    for (const refused of answers.filter(({ statusCode }) => statusCode === 400)) {
      expect(errorsOf(refused)).toEqual(['imageAttachment.key']);
    }
  });

  it('serves the checked bytes, even if others are uploaded afterwards (UPL-17)', async () => {
    const bytes = await createPicture();
    const { uploadUrl, key, regionId, type } = await client.presign(bytes);
    await client.put(uploadUrl, bytes);
    const photo = await client.createPhoto({ imageAttachment: { key, regionId, type } });
    await client.put(uploadUrl, Buffer.alloc(bytes.length, 1));
    expect((await client.download(photo.imageUrl)).rawPayload.equals(bytes)).toBe(true);
  });

  describe('is 400', () => {
    const expectRejected = async (
      bytes: Buffer,
      contentType: string,
      message: RegExp,
      field = 'imageAttachment.key',
      more = {},
    ) => {
      const imageAttachment = await client.upload(bytes, contentType);
      const answer = await client.send('POST', '/photos', { fileName: 'a', imageAttachment, ...more });
      expect(answer.statusCode).toBe(400);
      expect(answer.json().errors).toEqual([{ fieldName: field, message: expect.stringMatching(message) }]);
    };

    it('when the bytes are not an image, or not of the declared type (PHO-6, UPL-19)', async () => {
      await expectRejected(Buffer.from('no image at all, just text'), 'image/jpeg', /accepted type/);
      await expectRejected(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'image/png', /accepted type/);
      await expectRejected(await createPicture('png'), 'image/jpeg', /image\/png by its bytes/);
      await expectRejected(createHeic(), 'image/jpeg', /image\/heic by its bytes/);
      await expectRejected(await createPicture(), 'image/jpeg', /by its bytes/, 'contentType', {
        contentType: 'image/png',
      });
      await expectRejected(await createPicture(), 'image/jpeg', /by its bytes/, 'contentType', {
        contentType: 'text/html',
      });
    });

    it('when the image is truncated, or has too many pixels (UPL-20, UPL-21)', async () => {
      const whole = await createPicture();
      await expectRejected(whole.subarray(0, whole.length - 100), 'image/jpeg', /truncated/);
      const frames = await createAnimation('gif');
      await expectRejected(frames.subarray(0, frames.length - 20), 'image/gif', /truncated/);
      await expectRejected(createDecompressionBomb(50_000, 50_000), 'image/png', /pixels/);
      const film = createHeic();
      await expectRejected(film.subarray(0, film.length - 1), 'image/heic', /truncated/);
    });

    it('when nothing was uploaded (UPL-15)', async () => {
      const { key, regionId, type } = await client.presign(await createPicture());
      const answer = await client.send('POST', '/photos', { fileName: 'a', imageAttachment: { key, regionId, type } });
      expect([answer.statusCode, errorsOf(answer)]).toEqual([400, ['imageAttachment.key']]);
    });

    it('when the upload was used before (UPL-16)', async () => {
      const imageAttachment = await client.upload();
      await client.createPhoto({ imageAttachment });
      const answer = await client.send('POST', '/photos', { fileName: 'a', imageAttachment });
      expect([answer.statusCode, errorsOf(answer)]).toEqual([400, ['imageAttachment.key']]);
    });

    it('when the upload is unknown or belongs to another builder or integrator (UPL-15)', async () => {
      const elsewhere = await createBuilderClient(service, 'A', 1);
      const [neighbour, foreign] = [await createBuilderClient(service, 'C'), await createBuilderClient(service, 'B')];
      expect(neighbour.builderId).toBe(client.builderId);
      for (const imageAttachment of [
        await elsewhere.upload(),
        await neighbour.upload(),
        await foreign.upload(),
        { key: 'uploads/buil_x/none', regionId: 'au1', type: 'attachment' },
      ]) {
        const answer = await client.send('POST', '/photos', { fileName: 'a', imageAttachment });
        expect([answer.statusCode, errorsOf(answer)]).toEqual([400, ['imageAttachment.key']]);
      }
    });

    it.each([
      [{}, 'imageAttachment'],
      [{ imageAttachment: null, imageUrl: null }, 'imageAttachment'],
      [{ imageAttachment: { key: 'k', regionId: 'us1', type: 'attachment' } }, 'imageAttachment.regionId'],
      [{ imageAttachment: { key: 'k', regionId: 'eu1', type: 'attachment' } }, 'imageAttachment.regionId'],
      [{ imageAttachment: { key: 'k', regionId: 'au1', type: 'photo' } }, 'imageAttachment.type'],
      [{ imageAttachment: { key: 5, regionId: 'au1', type: 'attachment' } }, 'imageAttachment.key'],
      [{ imageAttachment: { regionId: 'au1', type: 'attachment' } }, 'imageAttachment.key'],
      [{ imageAttachment: 'k' }, 'imageAttachment'],
      [{ imageUrl: 'https://a.example/b', projectId: 'buil_a1' }, 'projectId'],
      [{ imageUrl: 'https://a.example/b', folderId: 'f' }, 'folderId'],
      [{ imageUrl: 'https://a.example/b', capturedAt: '2026-02-31T00:00:00Z' }, 'capturedAt'],
      [{ imageUrl: 'https://a.example/b', externalSourceId: '' }, 'externalSourceId'],
      [{ imageUrl: 'https://a.example/b', description: 5 }, 'description'],
      [{ imageUrl: 'https://a.example/b', fileName: null }, 'fileName'],
      [{ imageUrl: 'http://a.example/b' }, 'imageUrl'],
      [{ imageUrl: 'https://user:secret@a.example/b' }, 'imageUrl'],
      [{ imageUrl: 'https://a.example/b' }, 'imageUrl'],
    ])('with %j (PHO-5, UPL-15, UPL-25)', async (change, field) => {
      const answer = await client.send('POST', '/photos', { fileName: 'a.jpg', ...change });
      expect([answer.statusCode, errorsOf(answer)], answer.body).toEqual([400, [field]]);
    });

    it.each([
      ['fileName', 255],
      ['externalSourceId', 220],
      ['imageUrl', 2_000],
      ['description', 20_000],
    ])('when %s has more than %i characters (PHO-38)', async (field, longest) => {
      const ofLength = (length: number) => (field === 'imageUrl' ? 'https://a.example/' : '').padEnd(length, 'x');
      const send = (length: number) =>
        client.send('POST', '/photos', { fileName: 'a', imageUrl: 'https://a.example/b', [field]: ofLength(length) });
      expect((await send(longest + 1)).json().errors).toEqual([{ fieldName: field, message: expect.any(String) }]);
      // A text of valid length leads to the error of the host, which is not approved.
      expect(errorsOf(await send(longest))).toEqual(['imageUrl']);
      expect((await send(longest)).json().errors[0].message).toMatch('not approved');
    });

    it('when both an attachment and a URL are given (PHO-5)', async () => {
      const imageAttachment = await client.upload();
      const body = { fileName: 'a', imageAttachment, imageUrl: 'https://a.example/b' };
      expect(errorsOf(await client.send('POST', '/photos', body))).toEqual(['imageAttachment']);
    });
  });

  it("is 404 for a project or folder that is not the builder's (PHO-9)", async () => {
    const elsewhere = await createBuilderClient(service, 'A', 1);
    const imageAttachment = await client.upload();
    for (const place of [
      { projectId: await addProject(service, elsewhere.builderId) },
      { projectId: 'proj_anone' },
      { folderId: 'fold_anone' },
    ]) {
      const answer = await client.send('POST', '/photos', { fileName: 'a', imageAttachment, ...place });
      expect([answer.statusCode, answer.json().code]).toEqual([404, 'NOT_FOUND']);
    }
    await client.createPhoto({ imageAttachment });
  });

  it('is 403 without the scope, also through GraphQL', async () => {
    const answer = await service.request({
      method: 'POST',
      url: `/builders/${client.builderId}/photos`,
      headers: { authorization: `Bearer ${await service.tokenOf('A', ['read:photos'])}` },
      payload: {},
    });
    expect(answer.statusCode).toBe(403);
    const graph = await service.graphql(
      client.token,
      'mutation($b: BuilderId!) { createPhoto(builderId: $b, fileName: "a", imageUrl: "ftp://a/b") { id } }',
      { b: client.builderId },
    );
    expect(graph.errors?.[0]?.extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      http: { status: 400 },
      errors: [{ fieldName: 'imageUrl' }],
    });
  });
});

describe('photos', () => {
  it('are listed while they are active, by default those of the gallery (PHO-3)', async () => {
    const own = await createBuilderClient(service, 'A', 1);
    const made = [await own.createPhoto(), await own.createPhoto(), await own.createPhoto()];
    await own.sendOk('DELETE', `/photos/${made[1].id}`);
    const page = await own.sendOk('GET', '/photos?limit=25');
    const ids = page.data.map(({ id }: { id: string }) => id);
    expect(ids).toEqual(expect.arrayContaining([made[0].id, made[2].id]));
    expect(ids).not.toContain(made[1].id);
    expect(page.meta).toMatchObject({ offset: 0, limit: 25 });
    expect(page.data.every(({ source }: { source: string }) => source === 'GALLERY')).toBe(true);
    expect(await own.sendOk('GET', '/photos?source=ITP&source=DEFECT')).toMatchObject({ meta: { limit: 25 } });
    const answer = await own.send('GET', '/photos?source=CAMERA');
    expect([answer.statusCode, errorsOf(answer)]).toEqual([400, ['source']]);
  });

  it('can be filtered by project and folder (PHO-3)', async () => {
    service.clock.advance(1_000);
    const photo = await client.createPhoto({ projectId });
    const { meta } = await client.sendOk('GET', `/photos?projectId=${projectId}`);
    expect(meta.totalCount).toBeGreaterThan(0);
    const last = await client.sendOk('GET', `/photos?projectId=${projectId}&offset=${meta.totalCount - 1}`);
    expect(last.data.map(({ id }: { id: string }) => id)).toEqual([photo.id]);
    expect(await client.sendOk('GET', '/photos?projectId=proj_anone')).toMatchObject({
      data: [],
      meta: { totalCount: 0 },
    });
    expect(await client.sendOk('GET', '/photos?folderId=fold_anone')).toMatchObject({ data: [] });
  });

  it('are listed in one statement, without a request to the storage', async () => {
    await client.createPhoto();
    const count = await service.countStatements('au1', () => client.sendOk('GET', '/photos'));
    expect(count).toBeLessThanOrEqual(2);
  });

  it('are read singly, by source (PHO-4)', async () => {
    const { id } = await client.createPhoto();
    expect(await client.sendOk('GET', `/photos/${id}`)).toMatchObject({ id });
    expect(await client.sendOk('GET', `/photos/${id}?source=GALLERY`)).toMatchObject({ id });
    expect((await client.send('GET', `/photos/${id}?source=DEFECT`)).statusCode).toBe(404);
    expect((await client.send('GET', '/photos/att_anone')).statusCode).toBe(404);
    expect((await client.send('GET', '/photos/nothing')).statusCode).toBe(404);
    const elsewhere = await createBuilderClient(service, 'A', 1);
    expect((await elsewhere.send('GET', `/photos/${id}`)).statusCode).toBe(404);
  });

  it('are patched: absent fields stay unchanged, null removes a value (PHO-11)', async () => {
    const { id, createdAt, ...photo } = await client.createPhoto({ description: 'before', projectId });
    service.clock.advance(1_000);
    const renamed = await client.sendOk('PATCH', `/photos/${id}`, { fileName: 'new.jpg' });
    expect(renamed).toMatchObject({ fileName: 'new.jpg', description: 'before', createdAt, projectId });
    expect(renamed.updatedAt > photo.updatedAt).toBe(true);
    expect(await client.sendOk('PATCH', `/photos/${id}`, { description: null })).toMatchObject({ description: null });
    const dated = await client.sendOk('PATCH', `/photos/${id}`, { capturedAt: '2020-01-01T00:00:00Z' });
    expect(dated).toMatchObject({ photoTakenDate: '2020-01-01T00:00:00.000Z', sortDate: '2020-01-01T00:00:00.000Z' });
    expect(await client.sendOk('GET', `/photos/${id}`)).toEqual({ ...dated, imageUrl: expect.any(String) });
    expect(await client.sendOk('PATCH', `/photos/${id}`, {})).toMatchObject({ fileName: 'new.jpg' });
    for (const field of ['fileName', 'capturedAt']) {
      const answer = await client.send('PATCH', `/photos/${id}`, { [field]: null });
      expect([answer.statusCode, errorsOf(answer)]).toEqual([400, [field]]);
    }
    expect((await client.send('PATCH', '/photos/att_anone', { fileName: 'a' })).statusCode).toBe(404);
  });

  it('are archived once (PHO-4, PHO-12)', async () => {
    const { id } = await client.createPhoto();
    const archived = await client.sendOk('DELETE', `/photos/${id}`);
    expect(archived).toMatchObject({ id, archivedAt: new Date(service.clock.now()).toISOString() });
    expect((await client.send('DELETE', `/photos/${id}`)).statusCode).toBe(404);
    expect((await client.send('GET', `/photos/${id}`)).statusCode).toBe(404);
    expect((await client.send('PATCH', `/photos/${id}`, { fileName: 'a' })).statusCode).toBe(404);
  });

  it('of other sources are read-only (PHO-13)', async () => {
    const { id } = await client.createPhoto();
    await service.databases.au1.fork().execute(`update photo set source = 'DEFECT' where id = ?`, [id]);
    expect(await client.sendOk('GET', `/photos/${id}?source=DEFECT`)).toMatchObject({ source: 'DEFECT' });
    expect((await client.send('GET', `/photos/${id}`)).statusCode).toBe(404);
    expect((await client.send('PATCH', `/photos/${id}`, { fileName: 'a' })).statusCode).toBe(404);
    expect((await client.send('DELETE', `/photos/${id}`)).statusCode).toBe(404);
  });

  it('can be changed by any connected client (PHO-13)', async () => {
    const { id } = await client.createPhoto();
    const other = await createBuilderClient(service, 'C');
    expect(other.builderId).toBe(client.builderId);
    expect((await other.send('PATCH', `/photos/${id}`, { fileName: 'theirs.jpg' })).statusCode).toBe(200);
  });

  it('are fields of project and defect in GraphQL', async () => {
    const { id } = await client.createPhoto({ projectId });
    const defect = await addDefect(
      service,
      { builderId: client.builderId, projectId },
      { photoIds: [id, 'att_anone'] },
    );
    const answer = await service.graphql(
      client.token,
      `query($b: BuilderId!, $p: ProjectId!, $d: DefectId!) {
        project(builderId: $b, projectId: $p) { photos { meta { totalCount } data { id imageUrl project { id } } } }
        defect(builderId: $b, defectId: $d) { photos { id builder { id } folder { id } } } }`,
      { b: client.builderId, p: projectId, d: defect },
    );
    expect(answer.errors).toBeUndefined();
    expect(answer.data.project.photos.data[0]).toMatchObject({ project: { id: projectId } });
    expect(answer.data.defect.photos).toEqual([{ id, builder: { id: client.builderId }, folder: null }]);
  });
});
