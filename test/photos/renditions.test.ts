import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { ensureRenditions } from '../../src/domain/photos/render-photo.ts';
import { renderCounts } from '../../src/images/render.ts';
import { createBuilderClient, useBuilderClient } from '../support/builder-client.ts';
import { useService } from '../support/harness.ts';
import { createHeic, createPicture } from '../support/images.ts';
import { useLongerTimeLimits } from '../support/longer-time-limits.ts';
import { openTestStorages } from '../support/stores.ts';

const service = useService();
const client = useBuilderClient(service, 'A');

useLongerTimeLimits();
const QUERY = `query ($builder: BuilderId!, $photo: AttachmentId!, $size: RenditionSize!) {
  photo(builderId: $builder, photoId: $photo) { rendition(size: $size) { url width height contentType isPlaceholder } } }`;

const queryRendition = (photo: string, size: string, token = client.token, builder = client.builderId) =>
  service.graphql(token, QUERY, { builder, photo, size });

const renditionOf = async (photo: string, size = 'SMALL') => (await queryRendition(photo, size)).data.photo.rendition;

const createPhoto = async (bytes: Buffer, type = 'image/jpeg') =>
  client.createPhoto({ imageAttachment: await client.upload(bytes, type) });

const rendersOf = (counts: typeof renderCounts) =>
  [...counts.entries()].flatMap(([, { outcomes }]) => [...outcomes.values()]).reduce((sum, each) => sum + each, 0);

describe('Photo.rendition', () => {
  let photo: { id: string };

  beforeAll(async () => {
    photo = await createPhoto(await createPicture('jpeg', { width: 1640, height: 1230 }));
  });

  it.each([
    ['SMALL', 160, 120],
    ['MEDIUM', 640, 480],
    ['LARGE', 1600, 1200],
  ])('%s is a WebP of at most %i x %i pixels (PHO-39)', async (size, width, height) => {
    const rendition = await renditionOf(photo.id, size);
    expect(rendition).toMatchObject({ width, height, contentType: 'image/webp', isPlaceholder: false });
    const file = await client.download(rendition.url);
    expect(file.statusCode).toBe(200);
    expect(file.headers).toMatchObject({
      'content-type': 'image/webp',
      'x-content-type-options': 'nosniff',
      'content-security-policy': 'sandbox',
    });
    expect(await sharp(file.rawPayload).metadata()).toMatchObject({ format: 'webp', width, height });
  });

  it('of a page is read in one statement for every photo and size', async () => {
    for (const width of [300, 301, 302]) await createPhoto(await createPicture('jpeg', { width, height: 200 }));
    const read = (selection: string) => {
      const query = `query ($builder: BuilderId!) { photos(builderId: $builder) { data { ${selection} } } }`;
      return service.countStatements('au1', async () => {
        const { errors } = await service.graphql(client.token, query, { builder: client.builderId });
        expect(errors).toBeUndefined();
      });
    };
    const renditions = 's: rendition(size: SMALL) { url } l: rendition(size: LARGE) { url }';
    await read(renditions);
    expect((await read(`id ${renditions}`)) - (await read('id'))).toBe(1);
  });

  it('a small photo is not enlarged (PHO-39)', async () => {
    const photo = await createPhoto(await createPicture('png', { width: 200, height: 50 }), 'image/png');
    expect(await renditionOf(photo.id, 'LARGE')).toMatchObject({ width: 200, height: 50 });
    expect(await renditionOf(photo.id, 'SMALL')).toMatchObject({ width: 160, height: 40 });
  });

  it('a HEIC photo of a camera is rendered (PHO-39)', async () => {
    const photo = await createPhoto(await readFile('test/fixtures/heic/camera.heic'), 'image/heic');
    const rendition = await renditionOf(photo.id, 'LARGE');
    expect(rendition.isPlaceholder).toBe(false);
    const { width, height } = await sharp((await client.download(rendition.url)).rawPayload).metadata();
    expect({ width, height }).toEqual({ width: rendition.width, height: rendition.height });
  });

  it('a photo that cannot be rendered has a placeholder, and remains downloadable (PHO-40)', async () => {
    const bytes = createHeic({ width: 640, height: 480 });
    const photo = await createPhoto(bytes, 'image/heic');
    const rendition = await renditionOf(photo.id, 'MEDIUM');
    expect(rendition).toMatchObject({ width: 640, height: 480, isPlaceholder: true });
    expect((await client.download(photo.imageUrl)).rawPayload).toEqual(bytes);
  });

  it('concurrent requests on two instances render once (PHO-41)', async () => {
    const { id, key } = await createPhoto(await createPicture('jpeg', { width: 1000, height: 800 }));
    const photo = { id, key, builderId: client.builderId };
    vi.resetModules();
    const other = await import('../../src/domain/photos/render-photo.ts');
    const { renderCounts: otherCounts } = await import('../../src/images/render.ts');
    const before = rendersOf(renderCounts);
    const context = { database: service.databases.au1, storage: openTestStorages(service).au1 };
    const instances = [ensureRenditions, other.ensureRenditions, ensureRenditions, other.ensureRenditions];
    const states = await Promise.all(instances.map((ensure) => ensure(context, photo)));
    for (const state of states) expect(state).toEqual({ status: 'READY', width: 1000, height: 800 });
    expect(rendersOf(renderCounts) - before + rendersOf(otherCounts)).toBe(1);
  });

  it("another builder's photo has none (PHO-42)", async () => {
    const photo = await createPhoto(await createPicture());
    const stranger = await createBuilderClient(service, 'B');
    const { errors } = await queryRendition(photo.id, 'SMALL', stranger.token, stranger.builderId);
    expect(errors![0]!.extensions.code).toBe('NOT_FOUND');
    const { database, storage } = { database: service.databases.au1, storage: null as never };
    const foreign = { id: photo.id, builderId: stranger.builderId, key: photo.key };
    await expect(ensureRenditions({ database, storage }, foreign)).rejects.toMatchObject({ status: 404 });
  });

  it('has a URL that is signed for one photo, size and type (PHO-42)', async () => {
    const { url } = await renditionOf(photo.id, 'SMALL');
    const other = await createPhoto(await createPicture());
    for (const [from, to] of [
      ['-small', '-large'],
      [photo.id, other.id],
      ['type=image%2Fwebp', 'type=text%2Fhtml'],
      ['/renditions/', '/photos/'],
    ]) {
      expect(url).toContain(from);
      expect((await client.download(url.replace(from, to))).statusCode, to).toBe(403);
    }
  });

  it('is answered to HEAD without its bytes, and to a known entity tag with 304', async () => {
    const { url } = await renditionOf((await createPhoto(await createPicture())).id);
    const { pathname, search } = new URL(url);
    const head = await service.request({ method: 'HEAD', url: `${pathname}${search}` });
    const { headers, rawPayload } = await client.download(url);
    expect([head.statusCode, head.rawPayload.length]).toEqual([200, 0]);
    expect(head.headers['content-length']).toBe(String(rawPayload.length));
    expect(headers['cache-control']).toBe('private, max-age=900');
    const known = { 'if-none-match': headers.etag as string };
    expect((await service.request({ url: `${pathname}${search}`, headers: known })).statusCode).toBe(304);
  });

  it('REST has no rendition', async () => {
    const photo = await createPhoto(await createPicture());
    expect(photo).not.toHaveProperty('rendition');
    expect(await client.sendOk('GET', `/photos/${photo.id}`)).toEqual(photo);
  });
});
