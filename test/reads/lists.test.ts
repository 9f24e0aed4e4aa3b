import { type GraphQLObjectType, type GraphQLOutputType, getNamedType, isObjectType } from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Operation } from '../../schema/route-table.ts';
import { locateArguments } from '../../src/rest/input.ts';
import { operations, schema } from '../support/definition.ts';
import { useService } from '../support/harness.ts';
import { addProject } from '../support/rows.ts';
import { createSamples, requireSample, type Samples } from '../support/samples.ts';

/** Operations of REST that return a page of a list, with the names of their query parameters. */
const lists = operations
  .filter(({ method, field }) => method === 'GET' && isPage(field))
  .map((operation) => ({ operation, locations: locateArguments(operation, schema), path: operation.path }));
const byProject = lists.filter(({ locations }) =>
  locations.some(({ location, name }) => location === 'query' && name === 'projectId'),
);

function isPage(field: string): boolean {
  const type = getNamedType(schema.getQueryType()!.getFields()[field]!.type);
  const meta = isObjectType(type) && type.getFields().meta;
  return (
    Boolean(meta) &&
    'totalCount' in (getNamedType((meta as { type: GraphQLOutputType }).type) as GraphQLObjectType).getFields()
  );
}

type Row = Record<string, unknown> & { id: string; createdAt: string };

const service = useService();
let samples: Samples;

beforeAll(async () => {
  samples = await createSamples(service.databases.au1, service.findDemoClient('A').builderIds[0]!);
});

async function send(operation: Operation, query = '') {
  const idOf = (name: string) =>
    requireSample(
      samples,
      getNamedType(locateArguments(operation, schema).find((one) => one.name === name)!.argument.type).name,
    );
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => idOf(name));
  return service.get(`${path}${query}`, await service.tokenOf('A'), { 'x-service-builder-id': samples.BuilderId! });
}

async function readPage(operation: Operation, query = ''): Promise<{ data: Row[]; meta: Record<string, number> }> {
  const response = await send(operation, query);
  expect(response.statusCode, response.body).toBe(200);
  return response.json();
}

it('the lists of REST are all found', () => expect(lists.length).toBeGreaterThan(15));

describe.each(lists)('GET $path', ({ operation }) => {
  it('returns 25 records from the first, and says how many there are (LST-1, LST-2, LST-3)', async () => {
    const { data, meta, ...rest } = await readPage(operation);
    expect(rest).toEqual({});
    const { totalCount } = meta;
    expect(meta).toEqual({ totalCount, totalPages: Math.ceil(totalCount! / 25), offset: 0, limit: 25 });
    expect(data).toHaveLength(Math.min(25, totalCount!));
  });

  it('returns pages that together are the list, by creation time, then id (LST-4)', async () => {
    const { data, meta } = await readPage(operation);
    if (data.every(({ createdAt }) => createdAt !== undefined)) {
      const sorted = data.toSorted((a, b) => (`${a.createdAt} ${a.id}` < `${b.createdAt} ${b.id}` ? -1 : 1));
      expect(data.map(({ id }) => id)).toEqual(sorted.map(({ id }) => id));
    }
    const parts = [];
    for (let offset = 0; offset < data.length; offset += 7)
      parts.push(await readPage(operation, `?offset=${offset}&limit=7`));
    for (const part of parts) expect(part.meta).toMatchObject({ totalCount: meta.totalCount, limit: 7 });
    const ids = parts.flatMap((part) => part.data.map(({ id }) => id));
    expect(ids.slice(0, 25)).toEqual(data.map(({ id }) => id));
  });

  it('returns no records past the end (LST-5)', async () => {
    const { totalCount } = (await readPage(operation)).meta;
    expect(await readPage(operation, '?offset=100000&limit=2')).toEqual({
      data: [],
      meta: { totalCount, totalPages: Math.ceil(totalCount! / 2), offset: 100_000, limit: 2 },
    });
  });

  it.each(['limit=26', 'limit=0', 'limit=x', 'offset=-1', 'offset=-0', 'offset=2147483648', 'cursor=zz'])(
    'is 400 for ?%s (LST-2)',
    async (query) => {
      const response = await send(operation, `?${query}`);
      expect(response.statusCode).toBe(400);
      expect(response.json().errors).toMatchObject([{ fieldName: query.split('=')[0] }]);
    },
  );

  it('has timestamps in UTC with milliseconds (IDN-7)', async () => {
    for (const row of (await readPage(operation)).data) {
      for (const [name, value] of Object.entries(row)) {
        if (!/(At|[dD]ate|expiry)$/.test(name) || value === null) continue;
        expect(value, name).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      }
    }
  });
});

describe.each(byProject)('GET $path?projectId', ({ operation }) => {
  it('is an empty list for a project of another builder and for one that does not exist (LST-9)', async () => {
    const foreign = await addProject(service, service.findDemoClient('B').builderIds[0]!);
    for (const id of [foreign, 'proj_a0nobody']) {
      expect(await readPage(operation, `?projectId=${id}`)).toMatchObject({ data: [], meta: { totalCount: 0 } });
    }
  });

  it('is 400 for what is no project identifier (LST-8)', async () => {
    const response = await send(operation, '?projectId=buil_a1');
    expect(response.json().errors).toMatchObject([{ fieldName: 'projectId' }]);
  });
});

describe('GET /timesheets', () => {
  const timesheets = lists.find(({ path }) => path === '/timesheets')!.operation;

  it('is 400 for a status that there is not (LST-8)', async () => {
    expect((await send(timesheets, '?status=LATE')).json().errors).toMatchObject([{ fieldName: 'status' }]);
  });

  it('contains both ends of a range of dates, the last with its whole day (LST-11)', async () => {
    const [first] = (await readPage(timesheets)).data;
    const day = (first!.date as string).slice(0, 10);
    const total = async (query: string) => (await readPage(timesheets, query)).meta.totalCount!;
    const onDay = await total(`?startDate=${day}&endDate=${day}`);
    expect(onDay).toBeGreaterThan(0);
    expect(await total(`?startDate=${day}T00:00:00Z&endDate=${day}T23:59:59.999Z`)).toBe(onDay);
    const all = await total('');
    const instant = first!.date as string;
    // A fraction of a millisecond later than the record.
    expect(await total(`?startDate=${instant.replace('Z', '1Z')}`)).toBe(
      await total(`?startDate=${oneMillisecondAfter(instant)}`),
    );
    expect(await total(`?startDate=${instant.replace('Z', '000Z')}`)).toBe(await total(`?startDate=${instant}`));
    expect(await total(`?startDate=${instant}`)).toBe(all - (await total(`?endDate=${oneMillisecondBefore(instant)}`)));
  });
});

const oneMillisecondAfter = (instant: string) => new Date(Date.parse(instant) + 1).toISOString();
const oneMillisecondBefore = (instant: string) => new Date(Date.parse(instant) - 1).toISOString();

describe('lists that are not paged', () => {
  const all = async (path: string, query = '') => {
    const headers = { 'x-service-builder-id': samples.BuilderId! };
    const response = await service.get(`${path}${query}`, await service.tokenOf('A'), headers);
    return response.json() as { data: Record<string, string>[] };
  };

  it.each([
    ['/timesheets/cost-codes', 'code'],
    ['/timesheets/time-types', 'name'],
  ])('GET %s returns all rows, ordered by %s (LST-6)', async (path, key) => {
    const body = await all(path);
    expect(Object.keys(body)).toEqual(['data']);
    const keys = body.data.map((row) => row[key]!);
    expect(keys.length).toBeGreaterThan(1);
    expect(keys).toEqual(keys.toSorted());
    expect(await all(path, '?limit=1&offset=1')).toEqual(body);
  });
});

describe('a list inside a GraphQL response', () => {
  it('is a page of its own for each parent, in the order of the list of REST (LST-7)', async () => {
    const query = `query ($builderId: BuilderId!) { projects(builderId: $builderId) { data { id
      timesheets(limit: 2, offset: 1) { meta { totalCount totalPages offset limit } data { id } }
      oldest: timesheets(limit: 2) { data { id } } newest: timesheets(limit: 2, order: desc) { data { id } } } } }`;
    const { data, errors } = await service.graphql(await service.tokenOf('A'), query, { builderId: samples.BuilderId });
    expect(errors).toBeUndefined();
    type Lists = { id: string; timesheets: unknown; oldest: unknown; newest: unknown };
    const projects = (data as { projects: { data: Lists[] } }).projects.data;
    expect(projects.length).toBeGreaterThan(1);
    for (const { id, timesheets, oldest, newest } of projects) {
      const { operation } = lists.find(({ path }) => path === '/timesheets')!;
      const rest = await readPage(operation, `?projectId=${id}&limit=2&offset=1`);
      expect(timesheets).toEqual({ meta: rest.meta, data: rest.data.map((row) => ({ id: row.id })) });
      for (const [list, order] of [
        [oldest, 'asc'],
        [newest, 'desc'],
      ]) {
        const ofRest = await readPage(operation, `?projectId=${id}&limit=2&order=${order}`);
        expect(list).toEqual({ data: ofRest.data.map((row) => ({ id: row.id })) });
      }
    }
  });
});
