import { beforeAll, describe, expect, it } from 'vitest';
import { createOpenApiDocument } from '../../src/rest/openapi.ts';
import { useBuilderClient } from '../support/builder-client.ts';
import { operations, schema } from '../support/definition.ts';
import { numberPendingEvents } from '../support/events.ts';
import { BASE_URL, useService } from '../support/harness.ts';

const service = useService();
const client = useBuilderClient(service, 'A');
/** Id of one photo per area, by area. */
let photos: Record<string, string>;

beforeAll(async () => {
  const em = service.databases.au1.fork();
  await em.execute('delete from photo where builder_id = ?', [client.builderId]);
  photos = {};
  for (const source of ['GALLERY', 'ITP', 'DEFECT']) {
    const { id } = await client.createPhoto();
    await em.execute('update photo set source = ? where id = ?', [source, id]);
    photos[source] = id;
  }
});

interface ListResponse {
  statusCode: number;
  json(): { data: Record<string, string>[]; errors?: { fieldName: string }[] };
}

const valuesOf = (response: ListResponse, field: string) =>
  [...new Set(response.json().data.map((row) => row[field]))].sort();
const fieldsOf = (response: ListResponse) => [
  response.statusCode,
  response.json().errors?.map(({ fieldName }) => fieldName),
];

/** Query strings that repeat a parameter with both names. */
const repeatParameter = (name: string, a: string, b: string) => [
  `${name}=${a}&${name}=${b}`,
  `${name}[]=${a}&${name}[]=${b}`,
  `${name}%5B%5D=${a}&${name}%5B%5D=${b}`,
  `${name}=${a}&${name}[]=${b}`,
  `${name}[]=${b}&${name}=${a}&${name}[]=${a}&${name}=${a}`,
  `${name}[0]=${a}&${name}[1]=${b}`,
  `${name}%5B7%5D=${a}&${name}[]=${b}`,
];

describe('GET /builders/{builderId}/photos', () => {
  it.each(repeatParameter('source', 'ITP', 'DEFECT'))(
    'lists the photos of both areas for ?%s (LST-10, PHO-3)',
    async (query) => {
      expect(valuesOf(await client.send('GET', `/photos?${query}`), 'source')).toEqual(['DEFECT', 'ITP']);
    },
  );

  it('continues with a cursor whatever the order and spelling of the values (LST-13)', async () => {
    const first = await client.sendOk('GET', '/photos?source=ITP&source=DEFECT&limit=1&cursor=');
    for (const query of ['source=DEFECT&source=ITP', 'source[0]=DEFECT&source[1]=ITP&source[]=DEFECT']) {
      const { data, meta } = await client.sendOk('GET', `/photos?${query}&cursor=${first.meta.nextCursor}`);
      expect([data.length, meta.nextCursor]).toEqual([1, null]);
      expect(data[0].id).not.toBe(first.data[0].id);
    }
    const other = await client.send('GET', `/photos?source=ITP&cursor=${first.meta.nextCursor}`);
    expect(fieldsOf(other)).toEqual([400, ['cursor']]);
  });

  it('lists the photos of one area for ?source[]=ITP', async () => {
    expect(valuesOf(await client.send('GET', '/photos?source[]=ITP'), 'source')).toEqual(['ITP']);
  });

  it.each([
    ['source[]=CAMERA', ['source[]']],
    ['source=ITP&source[]=CAMERA', ['source[]']],
    ['source=CAMERA&source[]=ITP', ['source']],
    ['source[]=', ['source[]']],
    ['source[]=CAMERA&limit=26', ['source[]', 'limit']],
    ['source[0]=ITP&source[1]=CAMERA', ['source[1]']],
    ['source[0]=', ['source[0]']],
    ['source[][]=ITP', ['source[][]']],
    ['source=ITP&source[first]=DEFECT', ['source[first]']],
  ])('is 400 for ?%s, and names the parameter as it was written (LST-10)', async (query, fields) => {
    const [status, names] = fieldsOf(await client.send('GET', `/photos?${query}`));
    expect([status, (names as string[]).sort()]).toEqual([400, fields.sort()]);
  });

  it.each([
    'projectId[]=proj_anone',
    'folderId[]=nonsense',
    'limit[]=1',
    'limit[0]=1',
    'limit=1&limit[]=2',
    'cursor[a]=',
  ])('is 400 for ?%s, whose parameter is not repeatable (ERR-7)', async (query) => {
    expect(fieldsOf(await client.send('GET', `/photos?${query}`))).toEqual([400, [query.split(/[[=]/)[0]]]);
  });

  it.each(['colour[]=red', 'sourceApp[]=ITP', 'sources=ITP'])(
    'ignores the unknown parameter ?%s (ERR-8)',
    async (query) => {
      const response = await client.send('GET', `/photos?${query}`);
      expect([response.statusCode, valuesOf(response, 'source')]).toEqual([200, ['GALLERY']]);
    },
  );
});

describe('GET /builders/{builderId}/photos/{photoId}', () => {
  it.each(repeatParameter('source', 'ITP', 'DEFECT'))('finds a photo of either area for ?%s (PHO-4)', async (query) => {
    expect(await client.sendOk('GET', `/photos/${photos.ITP}?${query}`)).toMatchObject({ source: 'ITP' });
    expect((await client.send('GET', `/photos/${photos.GALLERY}?${query}`)).statusCode).toBe(404);
  });
});

describe('GET /builders/{builderId}/meetings', () => {
  it.each(repeatParameter('status', 'RUNNING', 'COMPLETED'))(
    'lists the meetings of both states for ?%s (LST-10, MTG-2)',
    async (query) => {
      const response = await client.send('GET', `/meetings?${query}`);
      const { totalCount } = (await client.sendOk('GET', '/meetings?status=RUNNING&status=COMPLETED')).meta;
      expect(response.json().meta.totalCount).toBe(totalCount);
      expect(totalCount).toBeGreaterThan(0);
      expect(['RUNNING', 'COMPLETED']).toEqual(expect.arrayContaining(valuesOf(response, 'status')));
    },
  );

  it('is 400 for ?status[]=OVER', async () => {
    expect(fieldsOf(await client.send('GET', '/meetings?status[]=OVER'))).toEqual([400, ['status[]']]);
  });
});

describe('DELETE /builders/{builderId}/photo-gallery/bulk-upsert', () => {
  it('has one error for a required parameter that is given twice (ERR-7)', async () => {
    const query = 'externalSourceId=a&sourceApp=b&sourceApp=c';
    const response = await client.send('DELETE', `/photo-gallery/bulk-upsert?${query}`);
    const errors = [{ fieldName: 'sourceApp', message: 'must be given once' }];
    expect([response.statusCode, response.json()]).toEqual([400, { errors }]);
  });
});

describe('a DELETE whose query and body have the same field', () => {
  const remove = (path: string, body: object) => client.send('DELETE', path, body);
  const page = { externalSourceId: 'a', sourceApp: 'b' };
  const report = { sourceApp: 'a', sourceExternalId: 'b' };

  it.each([
    ['photo-gallery/bulk-upsert?externalSourceId=other', page, 'externalSourceId'],
    ['photo-gallery/bulk-upsert?projectId=proj_a1', { ...page, projectId: 'proj_a2' }, 'projectId'],
    ['photo-gallery/bulk-upsert?projectId=proj_a1', { ...page, projectId: null }, 'projectId'],
    ['photo-reports/sync?sourceExternalId=c', report, 'sourceExternalId'],
    ['photo-reports/sync?sourceRevision=2', { ...report, sourceRevision: 1 }, 'sourceRevision'],
  ])('is 400 for two values: /%s %j (ERR-8)', async (path, body, fieldName) => {
    const response = await remove(`/${path}`, body);
    const errors = [{ fieldName, message: 'has different values in the query and the body' }];
    expect([response.statusCode, response.json()]).toEqual([400, { errors }]);
  });

  it('accepts the same value twice', async () => {
    expect((await remove('/photo-gallery/bulk-upsert?externalSourceId=a&sourceApp=b', page)).statusCode).toBe(200);
    const response = await remove('/photo-reports/sync?sourceRevision=1', { ...report, sourceRevision: 1 });
    expect(response.statusCode).toBe(404);
  });
});

const CHANGE_TIMESHEET = `update timesheet set hours = hours + 1
  where id = (select min(id) from timesheet where builder_id = ?)`;

describe('GET /events', () => {
  const read = (query: string) => service.get(`/events?${query}`, client.token);

  it.each(repeatParameter('types', 'timesheet.updated', 'photo.updated'))(
    'lists the events of both types for ?%s (LST-10, EVT-8)',
    async (query) => {
      await numberPendingEvents(service.databases.au1);
      const { nextCursor } = (await read('')).json().meta;
      const em = service.databases.au1.fork();
      await em.execute(CHANGE_TIMESHEET, [client.builderId]);
      await em.execute(`update photo set file_name = file_name || '.' where id = ?`, [photos.ITP]);
      await em.execute(`update project set name = name || '.' where builder_id = ?`, [client.builderId]);
      await numberPendingEvents(service.databases.au1);
      const typesOf = async (filter: string) => valuesOf(await read(`after=${nextCursor}&${filter}`), 'type');
      expect(await typesOf(query)).toEqual(['photo.updated', 'timesheet.updated']);
      expect(await typesOf('')).toEqual(['photo.updated', 'project.updated', 'timesheet.updated']);
    },
  );

  it.each(['cursor=', 'cursor=x&limit=1', 'offset=0', 'updatedSince=2026-01-01', 'order=desc'])(
    'is 400 for ?%s, and names `after` (EVT-8)',
    async (query) => {
      const { statusCode, json } = await read(query);
      const message = 'is not accepted here: the next page begins at `after`';
      expect([statusCode, json()]).toEqual([400, { errors: [{ fieldName: query.split('=')[0], message }] }]);
    },
  );

  it('is 400 for ?types[]=timesheet.read', async () => {
    expect(fieldsOf(await read('types[]=timesheet.read'))).toEqual([400, ['types[]']]);
  });
});

describe('the OpenAPI document', () => {
  it('describes both names of every repeatable query parameter', async () => {
    const { paths } = (await createOpenApiDocument(schema, operations, BASE_URL)) as {
      paths: Record<
        string,
        Record<string, { parameters?: { name?: string; schema?: { type?: string }; description?: string }[] }>
      >;
    };
    const parameters = Object.values(paths).flatMap((path) =>
      Object.values(path).flatMap(({ parameters: own }) => own ?? []),
    );
    const repeatable = parameters.filter(({ schema: type }) => type?.type === 'array');
    expect([...new Set(repeatable.map(({ name }) => name))].sort()).toEqual(['source', 'status', 'types']);
    for (const { name, description } of repeatable)
      expect(description).toContain(`\`${name}[]=A&${name}[]=B\` or \`${name}[0]=A&${name}[1]=B\``);
  });
});
