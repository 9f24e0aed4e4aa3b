import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, createClient, ForbiddenError, NotFoundError, ValidationError } from '../../sdk/src/index.ts';
import { type Service, startService } from '../support/harness.ts';
import { freePort } from '../support/ports.ts';
import { createSitePhoto } from '../support/site-photo.ts';

let service: Service;
let baseUrl: string;
let client: Client;
let builderId: string;

const credentials = (name: string) => {
  const { clientId, clientSecret, scopes } = service.findDemoClient(name);
  return { baseUrl, clientId, clientSecret: clientSecret!, scopes, retryDelayMs: 1 };
};

beforeAll(async () => {
  const port = await freePort();
  baseUrl = `http://localhost:${port}`;
  service = await startService({ BASE_URL: baseUrl });
  await service.app.listen({ port });
  client = createClient(credentials('A'));
  builderId = service.findDemoClient('A').builderIds[0]!;
});

afterAll(() => service?.stop());

describe('lists', () => {
  it('yield the records of all pages', async () => {
    const ids: string[] = [];
    for await (const { id } of client.timesheets.list({ builderId })) ids.push(id);
    const { meta } = await client.timesheets.list({ builderId, limit: 1 }).page();
    expect(new Set(ids).size).toBe(meta.totalCount);
    expect(ids.length).toBe(meta.totalCount);
    expect(ids.length).toBeGreaterThan(25);
  });

  it('return one page with its meta', async () => {
    const { data, meta } = await client.projects.list({ builderId, limit: 2 }).page();
    expect(data).toHaveLength(2);
    expect(meta.limit).toBe(2);
  });

  it('take ids and filters as one object', async () => {
    const [subcontractor] = (await client.subcontractors.list({ builderId, limit: 1 }).page()).data;
    const contacts = await client.subcontractors.listContacts({ subcontractorId: subcontractor!.id, limit: 1 }).page();
    expect(contacts.meta.totalCount).toBeGreaterThanOrEqual(0);
  });
});

describe('errors', () => {
  it('have the fields of a failed validation', async () => {
    const error = await client.timesheets
      .list({ builderId, limit: 99 })
      .page()
      .catch((error) => error);
    expect(error).toBeInstanceOf(ValidationError);
    expect(error).toMatchObject({
      status: 400,
      code: 'BAD_USER_INPUT',
      errors: [{ fieldName: 'limit' }],
      requestId: expect.any(String),
    });
  });

  it('have the code of the contract', async () => {
    const error = await client.projects.get({ builderId, projectId: 'proj_a0' }).catch((error) => error);
    expect(error).toBeInstanceOf(NotFoundError);
    expect(error).toMatchObject({ code: 'NOT_FOUND', errors: [] });
    const forbidden = await createClient({ ...credentials('A'), scopes: ['read:builders'] })
      .projects.list({ builderId })
      .page()
      .catch((error) => error);
    expect(forbidden).toBeInstanceOf(ForbiddenError);
    expect(forbidden.code).toBe('INSUFFICIENT_SCOPE');
  });
});

describe('writes', () => {
  it('send path and body from one object', async () => {
    const meeting = await client.meetings.create({
      builderId,
      title: 'Weekly',
      sourceApp: 'sdk',
      externalSourceId: 'm-1',
    });
    expect(meeting.title).toBe('Weekly');
    const renamed = await client.meetings.update({ builderId, meetingId: meeting.id, title: 'Monthly' });
    expect(renamed).toMatchObject({ id: meeting.id, title: 'Monthly' });
  });

  it('return what was deleted', async () => {
    const folder = await client.photoFolders.create({ builderId, name: 'Level 9' });
    expect(await client.photoFolders.delete({ builderId, folderId: folder.id })).toMatchObject({ id: folder.id });
  });
});

describe('photos.upload', () => {
  it('presigns, puts the bytes and creates the photo', async () => {
    const bytes = await createSitePhoto(64, 48);
    const file = new File([new Uint8Array(bytes)], 'north.png');
    const photo = await client.photos.upload(file, { builderId, externalSourceId: 'sdk-photo-1' });
    expect(photo).toMatchObject({ fileName: 'north.png', contentType: 'image/png' });
    const again = await client.photos.upload(file, { builderId, externalSourceId: 'sdk-photo-1' });
    expect(again.id).toBe(photo.id);
  });

  it('uploads many and reports which failed', async () => {
    const bytes = new Uint8Array(await createSitePhoto(32, 24));
    const files = [new File([bytes], 'a.png'), new File(['no image'], 'b.png'), new File([bytes], 'c.png')];
    const steps: number[] = [];
    const results = await client.photos.uploadAll(files, {
      builderId,
      concurrency: 2,
      onProgress: ({ done, failed }) => steps.push(done + failed),
    });
    expect(results.map((result) => ('photo' in result ? result.photo.fileName : result.error.name))).toEqual([
      'a.png',
      'ValidationError',
      'c.png',
    ]);
    expect(steps).toEqual([1, 2, 3]);
  });

  it('gives each of many its own externalSourceId, so that a second run creates none', async () => {
    const bytes = new Uint8Array(await createSitePhoto(32, 24));
    const files = [new File([bytes], 'd.png'), new File([bytes], 'e.png')];
    const run = () =>
      client.photos.uploadAll(files, { builderId, externalSourceId: (file) => `many/${(file as File).name}` });
    const idsOf = (results: Awaited<ReturnType<typeof run>>) =>
      results.map((result) => 'photo' in result && result.photo.id);
    const first = idsOf(await run());
    expect(new Set(first).size).toBe(2);
    expect(idsOf(await run())).toEqual(first);
  });
});
