import { getNamedType } from 'graphql';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Operation } from '../../schema/route-table.ts';
import { locateArguments } from '../../src/rest/input.ts';
import { operations, schema } from '../support/definition.ts';
import { useService } from '../support/harness.ts';
import { createSamples, requireSample, type Samples } from '../support/samples.ts';

interface Page {
  data: { id: string }[];
  meta: Record<string, unknown> & { totalCount: number; nextCursor?: string | null };
}

/** Operations of v1 with pages that are counted by `offset`. */
const lists = operations.filter(
  ({ field, extension }) =>
    !extension &&
    schema
      .getQueryType()!
      .getFields()
      [field]?.args.some(({ name }) => name === 'offset'),
);

const service = useService();
let samples: Samples;
let client: pg.Client;
let token: string;

beforeAll(async () => {
  samples = await createSamples(service.databases.au1, service.findDemoClient('A').builderIds[0]!);
  client = new pg.Client({ connectionString: service.databases.au1.url });
  await client.connect();
  token = await service.tokenOf('A');
});

afterAll(() => client?.end());

const pathOf = (operation: Operation) =>
  operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const { argument } = locateArguments(operation, schema).find((one) => one.name === name)!;
    return requireSample(samples, getNamedType(argument.type).name);
  });

const send = (path: string, query: Record<string, string>) =>
  service.get(`${path}?${new URLSearchParams(query)}`, token, { 'x-service-builder-id': samples.BuilderId! });

async function read(path: string, query: Record<string, string>): Promise<Page> {
  const response = await send(path, query);
  expect(response.statusCode, response.body).toBe(200);
  return response.json();
}

/** Ids of all pages of a list, by cursor. */
async function readAll(path: string, query: Record<string, string> = {}, between = async () => {}): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { data, meta }: Page = await read(path, { ...query, cursor });
    ids.push(...data.map(({ id }) => id));
    cursor = meta.nextCursor!;
    await between();
  }
  return ids;
}

describe.each(lists)('GET $path by cursor', (operation) => {
  it('returns the records of the pages by offset, and a cursor only when one was sent (LST-13)', async () => {
    const path = pathOf(operation);
    const byOffset: string[] = [];
    for (let offset = 0; ; offset += 7) {
      const { data, meta } = await read(path, { offset: String(offset), limit: '7' });
      expect(Object.keys(meta)).toEqual(['totalCount', 'totalPages', 'offset', 'limit']);
      byOffset.push(...data.map(({ id }) => id));
      if (byOffset.length >= meta.totalCount) break;
    }
    expect(await readAll(path, { limit: '7' })).toEqual(byOffset);
    const { meta } = await read(path, { cursor: '', limit: '7' });
    expect(Object.keys(meta)).toEqual(['totalCount', 'totalPages', 'offset', 'limit', 'nextCursor']);
    expect(meta).toMatchObject({ totalCount: byOffset.length, offset: 0, limit: 7 });
  });

  it('returns the newest records first on demand, by offset and by cursor (LST-15)', async () => {
    const path = pathOf(operation);
    const newestFirst = (await readAll(path)).reverse();
    for (const limit of ['2', '25']) expect(await readAll(path, { order: 'desc', limit })).toEqual(newestFirst);
    for (const offset of [0, 1, newestFirst.length]) {
      const { data, meta } = await read(path, { order: 'desc', offset: String(offset), limit: '3' });
      expect(data.map(({ id }) => id)).toEqual(newestFirst.slice(offset, offset + 3));
      expect(meta).toMatchObject({ totalCount: newestFirst.length, offset, limit: 3 });
    }
    expect(await readAll(path, { order: 'asc' })).toEqual(newestFirst.toReversed());
  });

  it.each(['order=', 'order=DESC', 'order=newest', 'order=asc&order=desc', 'order=desc&order=desc'])(
    'is 400 for ?%s (LST-15)',
    async (query) => {
      const response = await service.get(`${pathOf(operation)}?${query}`, token, {
        'x-service-builder-id': samples.BuilderId!,
      });
      expect([response.statusCode, response.json().errors[0].fieldName]).toEqual([400, 'order']);
    },
  );

  it('rejects a cursor with an offset, and one that was changed (LST-13)', async () => {
    const path = pathOf(operation);
    const queries: Record<string, string>[] = [{ cursor: '', offset: '0' }, { cursor: 'AAAA' }, { cursor: '%' }];
    for (const query of queries) {
      const response = await send(path, query);
      expect([response.statusCode, response.json().errors[0].fieldName]).toEqual([400, 'cursor']);
    }
  });

  it('returns the records that changed, by offset and by cursor (LST-14)', async () => {
    const path = pathOf(operation);
    const all = await readAll(path);
    expect(await readAll(path, { updatedSince: '2000-01-01' })).toEqual(all);
    expect(await readAll(path, { updatedSince: '2000-01-01', order: 'desc' })).toEqual(all.toReversed());
    const future = '2999-01-01T00:00:00.000Z';
    expect(await read(path, { updatedSince: future })).toMatchObject({ data: [], meta: { totalCount: 0 } });
    expect(await readAll(path, { updatedSince: future })).toEqual([]);
    const invalid = await send(path, { updatedSince: 'yesterday' });
    expect([invalid.statusCode, invalid.json().errors[0].fieldName]).toEqual([400, 'updatedSince']);
  });

  it('sorts the records that changed apart from other reads', async () => {
    const others: string[] = [];
    const end = service.databases.au1.runner.onStatement(({ name }) => others.push(name));
    const query = { updatedSince: '2000-01-01', limit: '1' };
    await read(pathOf(operation), query);
    await read(pathOf(operation), { ...query, cursor: '' });
    end();
    expect(others.filter((name) => name.includes('updatedSince'))).toEqual([]);
  });
});

describe('a list of GraphQL by its changes', () => {
  it('is a slow read of its share, also without its total', async () => {
    const others: string[] = [];
    const slow: string[] = [];
    const { runner, slowRunner } = service.databases.au1;
    const ends = [
      runner.onStatement(({ name }) => others.push(name)),
      slowRunner.onStatement(({ name }) => slow.push(name)),
    ];
    const field = `timesheets(builderId: "${samples.BuilderId}", updatedSince: "2000-01-01", limit: 1)`;
    const { data } = await service.graphql(token, `{ ${field} { data { id } } again: ${field} { data { id } } }`);
    for (const end of ends) end();
    expect(data).toMatchObject({ timesheets: { data: [{}] } });
    expect(others.filter((name) => name.startsWith('Timesheet'))).toEqual([]);
    expect(slow.filter((name) => name.startsWith('Timesheet'))).toHaveLength(2);
  });
});

it('every list of v1 has the parameters that are additions to it', () => {
  expect(lists.length).toBeGreaterThan(15);
  for (const { field } of lists) {
    const names = schema
      .getQueryType()!
      .getFields()
      [field]!.args.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['cursor', 'updatedSince', 'order']));
  }
});

describe('a list by cursor', () => {
  it('skips no record when earlier ones are archived meanwhile (LST-13)', async () => {
    const builderId = samples.BuilderId!;
    await client.query(
      `insert into photo (id, created_at, updated_at, builder_id, source, file_name, content_type, key, file_size, sort_date)
       select 'att_cursor' || n, timestamptz '2020-01-01' + n / 3 * interval '1 second', now(), $1, 'GALLERY', 'a.jpg', 'image/jpeg',
         'photos/' || $1 || '/cursor' || n, 1, now() from generate_series(100, 130) n`,
      [builderId],
    );
    const path = `/builders/${builderId}/photos`;
    const before = await readAll(path);
    let archived = 0;
    const seen = await readAll(path, { limit: '5' }, async () => {
      await client.query(`update photo set archived_at = now() where id = $1`, [before[archived++]]);
    });
    expect(seen).toEqual(before);
  });

  it('is bound to its list and filters', async () => {
    const { meta } = await read('/timesheets', { cursor: '', limit: '1', status: 'APPROVED_1' });
    const others = [
      ['/timesheets', { status: 'REJECTED' }],
      ['/timesheets', {}],
      ['/subcontractors', {}],
    ] as const;
    for (const [path, query] of others) {
      const response = await send(path, { ...query, cursor: meta.nextCursor! });
      expect([response.statusCode, response.json().errors[0].fieldName]).toEqual([400, 'cursor']);
    }
    expect((await read('/timesheets', { cursor: meta.nextCursor!, status: 'APPROVED_1' })).data).not.toEqual([]);
  });

  it('is bound to its order, of which the default is the ascending one (LST-15)', async () => {
    const cursors = new Map<string, string>();
    for (const order of ['asc', 'desc'])
      cursors.set(order, (await read('/timesheets', { cursor: '', limit: '1', order })).meta.nextCursor!);
    for (const [order, other] of [
      ['asc', { order: 'desc' }],
      ['desc', { order: 'asc' }],
      ['desc', {}],
    ] as const) {
      const response = await send('/timesheets', { ...other, cursor: cursors.get(order)! });
      expect([response.statusCode, response.json().errors[0].fieldName]).toEqual([400, 'cursor']);
    }
    expect((await send('/timesheets', { cursor: cursors.get('asc')! })).statusCode).toBe(200);
    expect((await send('/timesheets', { cursor: cursors.get('desc')!, order: 'desc' })).statusCode).toBe(200);
  });

  it('in descending order returns each record once, without those that are added meanwhile (LST-15)', async () => {
    const path = `/builders/${samples.BuilderId}/photo-folders`;
    const add = (name: string) =>
      client.query(
        `insert into photo_folder (id, created_at, updated_at, builder_id, name) values ('fold_' || $2, now(), now(), $1, $2)`,
        [samples.BuilderId, name],
      );
    for (const name of ['desc1', 'desc2', 'desc3']) await add(name);
    const before = await readAll(path, { order: 'desc' });
    let added = 3;
    const seen = await readAll(path, { order: 'desc', limit: '1' }, async () => {
      if (added < 6) await add(`desc${++added}`);
    });
    expect(before.slice(0, 3)).toEqual(['fold_desc3', 'fold_desc2', 'fold_desc1']);
    expect(seen).toEqual(before);
    expect((await readAll(path, { order: 'desc' })).slice(0, 4)).toEqual([
      ...['fold_desc6', 'fold_desc5', 'fold_desc4'],
      'fold_desc3',
    ]);
  });

  it('is not bound to the fields that are read, nor to REST or GraphQL', async () => {
    const { meta, data } = await read('/timesheets', { cursor: '', limit: '2' });
    const query = `query ($builder: BuilderId!, $cursor: ListCursor) {
      timesheets(builderId: $builder, cursor: $cursor, limit: 2) { data { id } } }`;
    const variables = { builder: samples.BuilderId, cursor: meta.nextCursor };
    const page = (await service.graphql(token, query, variables)).data.timesheets;
    const next = (await read('/timesheets', { cursor: meta.nextCursor!, limit: '2' })).data;
    expect(page.data).toEqual(next.map(({ id }) => ({ id })));
    expect(next).not.toEqual(data);
  });

  it('works for each parent of a GraphQL field', async () => {
    const ask = async (cursor: string, limit: number) => {
      const query = `query ($builderId: BuilderId!, $cursor: ListCursor) { projects(builderId: $builderId, limit: ${limit}) {
        data { id timesheets(limit: 3, cursor: $cursor) { data { id } meta { nextCursor } } } } }`;
      const payload = { query, variables: { builderId: samples.BuilderId, cursor } };
      const headers = { authorization: `Bearer ${token}` };
      return (await service.request({ method: 'POST', url: '/graphql', payload, headers })).json();
    };
    const { data } = await ask('', 25);
    const [first] = data.projects.data;
    expect(first.timesheets.data).toHaveLength(3);
    const { data: next } = await ask(first.timesheets.meta.nextCursor, 1);
    const ids = [...first.timesheets.data, ...next.projects.data[0].timesheets.data].map(
      ({ id }: { id: string }) => id,
    );
    const { rows } = await client.query(
      'select id from timesheet where project_id = $1 order by created_at, id limit 6',
      [first.id],
    );
    expect(ids).toEqual(rows.map(({ id }) => id));
    expect((await ask(first.timesheets.meta.nextCursor, 25)).errors[0].extensions.errors[0].fieldName).toBe('cursor');
  });
});

describe('updatedSince', () => {
  it('goes by the time of the write, which the caller cannot set and no response contains (LST-14)', async () => {
    const { rows } = await client.query('select clock_timestamp()::text as now');
    const since = new Date(rows[0].now).toISOString();
    const changed = await client.query(
      `update timesheet set updated_at = '2001-01-01', changed_at = '2001-01-01'
       where id in (select id from timesheet where builder_id = $1 limit 2) returning id`,
      [samples.BuilderId],
    );
    const page = await read('/timesheets', { updatedSince: since });
    expect(page.data.map(({ id }) => id).sort()).toEqual(changed.rows.map(({ id }) => id).sort());
    expect(page.meta.totalCount).toBe(2);
    // The order is that of creation, whichever record changed last.
    const newestFirst = await read('/timesheets', { updatedSince: since, order: 'desc' });
    expect(newestFirst.data).toEqual(page.data.toReversed());
    expect(JSON.stringify(page)).not.toMatch(/changed/i);
  });
});
