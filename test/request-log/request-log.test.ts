import type { FastifyInstance } from 'fastify';
import { beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../schema/ids.ts';
import { SCOPES } from '../../schema/scopes.ts';
import { encodeListCursor } from '../../src/database/read/list-cursor.ts';
import {
  type CountedRequest,
  type FailedRequest,
  MAX_LOGGED,
  RequestLog,
} from '../../src/domain/request-log/request-log.ts';
import { RETENTION_RULES } from '../../src/domain/retention/retention-rules.ts';
import { request } from '../photo-reports/documents.ts';
import { addAccounts } from '../support/accounts.ts';
import { useService } from '../support/harness.ts';

const service = useService();
const DAY_MS = 86_400_000;
let integratorId: string;
let clientId: string;
let builderId: string;
let token: string;

const sql = <Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> =>
  service.databases.au1.fork().execute(text, values);

/** The service writes what it counts of the requests of tests: each test has an integrator of its own. */
beforeEach(async () => {
  ({ integratorId, clientId, builderId } = await addAccounts(service));
  await renewToken();
});

const renewToken = async (scope: readonly string[] = SCOPES) => {
  token = await service.createToken({ clientId, scope });
};

/** Sends requests to an instance of its own, which writes its log when it ends. */
async function withLog(send: (app: FastifyInstance) => Promise<unknown>): Promise<void> {
  const app = await service.startInstance();
  await send(app);
  await app.close();
}

const authorization = (bearer = token) => ({ authorization: `Bearer ${bearer}` });

async function readLog(query = '', bearer = token) {
  const response = await service.get(`/request-log${query}`, bearer);
  expect(response.statusCode, response.body).toBe(200);
  return response.json() as {
    data: Record<string, unknown>[];
    meta: { nextCursor: string | null; dropped: number };
  };
}

async function readUsage(query = '', bearer = token) {
  const response = await service.get(`/usage${query}`, bearer);
  expect(response.statusCode, response.body).toBe(200);
  const rows = response.json().data as { operation: string; [name: string]: unknown }[];
  return rows.filter(({ operation }) => !/\/(usage|request-log)$/.test(operation));
}

const failed = (changes: Partial<FailedRequest> = {}): FailedRequest => ({
  requestId: 'r',
  method: 'GET',
  path: '/x',
  graphqlOperation: null,
  tool: null,
  status: 404,
  code: 'NOT_FOUND',
  message: 'Route not found.',
  errors: null,
  builderId: null,
  durationMs: 1,
  ...changes,
});

const requestOf = (operation = 'GET /x'): CountedRequest => ({ integratorId, clientId, operation });

const throwError = (error: unknown): void => {
  throw error;
};

const createLog = (report: (error: unknown) => unknown = throwError) =>
  new RequestLog(service.databases, service.clock, report);

describe('GET /request-log', () => {
  it('returns the requests that failed, the newest first, with what was wrong and without ids (REQ-1)', async () => {
    const narrow = await service.createToken({ clientId, scope: 'read:builders' });
    await withLog(async (app) => {
      const get = (url: string, id: string, bearer = token) =>
        app.inject({ url, headers: { ...authorization(bearer), 'x-request-id': id } });
      await get('/builders', 'ok');
      await get('/builders?limit=0', 'r-1');
      await get(`/builders/${builderId}/projects`, 'r-2', narrow);
      await get(`/builders/${builderId}/projects/proj_none`, 'r-3');
      await get('/no/such/path/Kim', 'r-4');
      await get('/builders', 'r-5', 'no token');
    });
    const { data, meta } = await readLog();
    const shared = { at: '2026-06-01T00:00:00.000Z', clientId, method: 'GET', graphqlOperation: null, tool: null };
    const durationMs = expect.any(Number);
    expect(data.sort((one, other) => String(one.requestId).localeCompare(String(other.requestId)))).toEqual([
      {
        ...shared,
        requestId: 'r-1',
        path: '/builders',
        status: 400,
        code: 'BAD_USER_INPUT',
        message: null,
        errors: [{ fieldName: 'limit', message: 'must be an integer from 1 to 25' }],
        builderId: null,
        durationMs,
      },
      {
        ...shared,
        requestId: 'r-2',
        path: '/builders/{id}/projects',
        status: 403,
        code: 'INSUFFICIENT_SCOPE',
        message: 'This operation needs the scope read:projects.',
        errors: null,
        builderId: null,
        durationMs,
      },
      {
        ...shared,
        requestId: 'r-3',
        path: '/builders/{id}/projects/{projectId}',
        status: 404,
        code: 'NOT_FOUND',
        message: 'Project not found.',
        errors: null,
        builderId,
        durationMs,
      },
      {
        ...shared,
        requestId: 'r-4',
        path: '*',
        status: 404,
        code: 'NOT_FOUND',
        message: 'Route not found.',
        errors: null,
        builderId: null,
        durationMs,
      },
    ]);
    expect(meta).toEqual({ nextCursor: null, dropped: 0 });
  });

  it('has the GraphQL operation, with the status of its first error (REQ-1)', async () => {
    const narrow = await service.createToken({ clientId, scope: 'read:builders' });
    const missing = `query Missing { project(builderId: "${builderId}", projectId: "proj_none") { id } }`;
    await withLog(async (app) => {
      const post = (query: string, bearer = token, operationName?: string) =>
        app.inject({
          method: 'POST',
          url: '/graphql',
          headers: authorization(bearer),
          payload: { query, operationName },
        });
      await post(`query Photos { photos(builderId: "${builderId}") { data { id } } }`, narrow);
      expect((await post(missing)).statusCode).toBe(200);
      await post('{ meetings(title: "Weekly" "Kim Tran broke a leg") { data { id } } }');
      await post('{ builders { data { "Kim Tran" } } }', token, 'Kim Tran');
      await post('query Unknown { builders { data { kimTran } } }');
      await app.inject({ method: 'POST', url: '/graphql', headers: authorization(), payload: { kim: 1 } });
      await post(`query Costly { ${'a'.repeat(3)}: builders(limit: 99999) { data { id } } }`);
    });
    const { data } = await readLog();
    const facts = data.map(({ method, path, graphqlOperation, status, code, message, errors, builderId }) => ({
      operation: `${method} ${path}`,
      graphqlOperation,
      status,
      code,
      message,
      errors,
      builderId,
    }));
    const operation = 'POST /graphql';
    const rest = { graphqlOperation: null, message: null, errors: null, builderId: null };
    expect(facts).toHaveLength(7);
    expect(facts).toEqual(
      expect.arrayContaining([
        {
          ...rest,
          operation,
          graphqlOperation: 'Photos',
          status: 403,
          code: 'INSUFFICIENT_SCOPE',
          message: 'This operation needs the scope read:photos.',
          builderId,
        },
        {
          ...rest,
          operation,
          graphqlOperation: 'Missing',
          status: 404,
          code: 'NOT_FOUND',
          message: 'Project not found.',
          builderId,
        },
        {
          ...rest,
          operation,
          status: 400,
          code: 'GRAPHQL_PARSE_FAILED',
          message: 'The document has a syntax error.',
        },
        {
          ...rest,
          operation,
          status: 400,
          code: 'GRAPHQL_VALIDATION_FAILED',
          message: 'Cannot query field *.',
        },
        {
          ...rest,
          operation,
          status: 400,
          code: 'BAD_REQUEST',
          message: 'GraphQL operations must contain a non-empty `query` or a `persistedQuery` extension.',
        },
        {
          ...rest,
          operation,
          graphqlOperation: 'Costly',
          status: 400,
          code: 'BAD_USER_INPUT',
          errors: [{ fieldName: 'limit', message: 'must be an integer from 1 to 25' }],
        },
      ]),
    );
    expect(JSON.stringify(data)).not.toMatch(/kim/i);
  });

  it('has failures of the service, in REST and in GraphQL', async () => {
    await sql('alter table photo_folder rename to folder_away');
    await withLog(async (app) => {
      await app.inject({ url: `/builders/${builderId}/photo-folders`, headers: authorization() });
      const query = `query Folders { photoFolders(builderId: "${builderId}") { data { id } } }`;
      await app.inject({ method: 'POST', url: '/graphql', headers: authorization(), payload: { query } });
    });
    await sql('alter table folder_away rename to photo_folder');
    const { data } = await readLog('?status=500');
    expect(data).toMatchObject([{ code: 'INTERNAL' }, { code: 'INTERNAL' }]);
    expect(data.map(({ message }) => message)).toEqual(Array(2).fill('Something went wrong on our side.'));
    expect(await readUsage()).toMatchObject([
      { operation: 'GET /builders/{builderId}/photo-folders', requests: 1, rejections: 0, failures: 1 },
      { operation: 'graphql Folders', requests: 1, rejections: 0, failures: 1 },
    ]);
  });

  it('finds a request by its id, a status, a code and a range', async () => {
    const log = createLog();
    log.add('au1', requestOf(), failed({ requestId: 'a', status: 403, code: 'FORBIDDEN' }));
    log.add('au1', requestOf(), failed({ requestId: 'b', status: 409, code: 'FOLDER_CYCLE' }));
    service.clock.advance(3_600_000);
    log.add('au1', requestOf(), failed({ requestId: 'c', status: 403, code: 'INSUFFICIENT_SCOPE' }));
    await log.close();
    await renewToken();
    const at = new Date(service.clock.now()).toISOString();
    const idsOf = async (query: string) => (await readLog(query)).data.map(({ requestId }) => requestId).sort();
    expect(await idsOf('?requestId=b')).toEqual(['b']);
    expect(await idsOf('?status=403')).toEqual(['a', 'c']);
    expect(await idsOf('?code=FORBIDDEN')).toEqual(['a']);
    expect(await idsOf('?status=403&code=FOLDER_CYCLE')).toEqual([]);
    expect(await idsOf(`?startDate=${at}`)).toEqual(['c']);
    expect(await idsOf(`?endDate=${new Date(service.clock.now() - 1).toISOString()}`)).toEqual(['a', 'b']);
    expect(await idsOf(`?startDate=${at.slice(0, 10)}&endDate=${at.slice(0, 10)}`)).toEqual(['a', 'b', 'c']);
  });

  it.each([
    ['2026-06-01T00:00:00.000Z', 'none'],
    ['2026-06-01T00:00:00.000Z', '1e99'],
    ['no time, but as long as one of them', '1'],
  ])('rejects a made-up cursor whose checksum is right: %s, %s', async (afterValue, afterId) => {
    const scope = { list: 'request-log', filters: { integratorId } };
    const cursor = encodeListCursor(scope, { afterValue, afterId, total: '' });
    const response = await service.get(`/request-log?cursor=${cursor}`, token);
    expect(response.statusCode, response.body).toBe(400);
    expect(response.json().errors).toMatchObject([{ fieldName: 'cursor' }]);
  });

  it.each([
    ['status=399', 'status'],
    ['limit=101', 'limit'],
    ['limit=0', 'limit'],
    ['requestId=', 'requestId'],
    ['startDate=2026-06-02&endDate=2026-06-01', 'endDate'],
    ['cursor=x', 'cursor'],
  ])('rejects ?%s with 400', async (query, fieldName) => {
    const response = await service.get(`/request-log?${query}`, token);
    expect(response.statusCode).toBe(400);
    expect(response.json().errors).toMatchObject([{ fieldName }]);
  });

  it('has each request once in pages by cursor, which is bound to the filters (LST-13)', async () => {
    const log = createLog();
    for (let number = 0; number < 60; number++) {
      log.add('au1', requestOf(), failed({ requestId: `r-${number}` }));
      if (number % 20 === 0) service.clock.advance(1);
      if (number % 7 === 0) await log.write();
    }
    await log.close();
    // Rows of one instant, in another order than that of their numbers.
    await sql(`update request_log set duration_ms = 2 where id % 2 = 0`);
    const seen: unknown[] = [];
    const times: unknown[] = [];
    let page = await readLog('?limit=7');
    for (;;) {
      seen.push(...page.data.map(({ requestId }) => requestId));
      times.push(...page.data.map(({ at }) => at));
      if (!page.meta.nextCursor) break;
      // Newer requests do not move those of later pages.
      const other = createLog();
      other.add('au1', requestOf(), failed({ requestId: 'newer' }));
      service.clock.advance(1);
      await other.close();
      page = await readLog(`?limit=7&cursor=${page.meta.nextCursor}`);
    }
    expect([...seen].sort()).toEqual(Array.from({ length: 60 }, (_, number) => `r-${number}`).sort());
    expect(times).toEqual([...times].sort().reverse());
    const { nextCursor } = (await readLog('?limit=7')).meta;
    expect((await service.get(`/request-log?limit=7&status=404&cursor=${nextCursor}`, token)).statusCode).toBe(400);
  });

  it('is the same through GraphQL', async () => {
    const log = createLog();
    const errors = [{ fieldName: 'limit', message: 'must be an integer from 1 to 25' }];
    for (let number = 0; number < 3; number++) log.add('au1', requestOf(), failed({ errors, message: null }));
    await log.close();
    const fields = `requestId at clientId method path graphqlOperation tool status code message
      errors { fieldName message } builderId durationMs`;
    const query = `{ requestLog(limit: 2, status: 404) { data { ${fields} } meta { nextCursor dropped } }
      usage { data { date clientId operation requests rejections failures } } }`;
    const { data } = await service.graphql(token, query);
    expect(data.requestLog).toEqual(await readLog('?limit=2&status=404'));
    expect(data.usage.data).toEqual(await readUsage());
  });
});

describe('the request log of others', () => {
  it('is not returned: each integrator reads its own', async () => {
    const other = await addAccounts(service);
    const otherToken = await service.createToken({ clientId: other.clientId, scope: 'read:builders' });
    await withLog(async (app) => {
      await app.inject({ url: '/builders?limit=0', headers: authorization() });
      await app.inject({ url: '/builders?offset=x', headers: authorization(otherToken) });
      await app.inject({ url: `/builders/${builderId}`, headers: { ...authorization(otherToken) } });
    });
    const own = await readLog();
    expect(own.data).toMatchObject([{ clientId, errors: [{ fieldName: 'limit' }] }]);
    const others = await readLog('', otherToken);
    expect(others.data).toHaveLength(2);
    // The builder is not connected: its id is a value that the client has sent.
    for (const request of others.data) expect(request).toMatchObject({ clientId: other.clientId, builderId: null });
    expect((await readUsage()).map((row) => row.clientId)).toEqual([clientId]);
    expect(new Set((await readUsage('', otherToken)).map((row) => row.clientId))).toEqual(new Set([other.clientId]));
    const { nextCursor } = (await readLog('?limit=1', otherToken)).meta;
    expect((await service.get(`/request-log?limit=1&cursor=${nextCursor}`, token)).statusCode).toBe(400);
  });

  it.each(['/request-log', '/usage'])('%s is 403 for a user and for an internal client (REQ-5)', async (url) => {
    const user = service.findDemoUser(({ regionId }) => regionId === 'au1');
    const ofUser = await service.createToken({
      clientId: service.findDemoClient('A').clientId,
      scope: 'read:builders',
      userId: user.id,
      builderId: user.builderIds[0],
    });
    expect((await service.get('/me', ofUser)).statusCode).toBe(200);
    expect((await service.get(url, ofUser)).json()).toMatchObject({ code: 'FORBIDDEN' });
    const internal = await service.tokenOf('internal');
    const field = url === '/usage' ? 'usage' : 'requestLog';
    const { errors } = await service.graphql(internal, `{ ${field} { data { clientId } } }`);
    expect(errors).toMatchObject([{ extensions: { code: 'FORBIDDEN' } }]);
  });
});

describe('a failed request with values of a person', () => {
  const SECRET = 'kimtran';
  const isQuoted = (text: string) => text.toLowerCase().includes(SECRET);

  it('is kept with the rules alone, and names of the client are * (REQ-4)', async () => {
    const page = {
      schemaVersion: 1,
      title: 'Walk',
      [SECRET]: 1,
      contentMetadata: { [SECRET]: 'a\0b' },
      blocks: [
        {
          sourceBlockId: SECRET,
          type: 'HEADING',
          properties: { level: 9, [SECRET]: { title: '\ud800' } },
          richText: [],
        },
        {
          sourceBlockId: 'b',
          type: 'IMAGE',
          properties: {},
          imageStatus: 'SYNCED',
          attachmentId: `att_${SECRET}`,
        },
      ],
    };
    const report = { externalSourceId: SECRET, sourceApp: SECRET, sourceRevision: 1, title: 'Walk', page };
    const answers: string[] = [];
    await withLog(async (app) => {
      const send = async (method: 'GET' | 'POST', url: string, payload?: object) => {
        const headers = { ...authorization(), 'content-type': 'application/json' };
        const response = await app.inject({ method, url, headers, payload: payload && JSON.stringify(payload) });
        expect(response.statusCode, response.body).toBeGreaterThanOrEqual(400);
        answers.push(response.body);
      };
      await send('POST', `/builders/${builderId}/photo-reports/sync`, report);
      await send('POST', `/builders/${builderId}/meetings`, { title: 7, [SECRET]: { [SECRET]: 'a\0' } });
      await send('GET', `/builders/${builderId}/photos?source[${SECRET}]=A&limit[${SECRET}]=3`);
      await send('GET', `/timesheets?startDate=${SECRET}&limit=x${SECRET}`);
      await send('GET', `/${SECRET}/${SECRET}`);
      await send('GET', `/builders/buil_${SECRET}/projects`);
    });
    expect(answers.some(isQuoted)).toBe(true);
    const [{ log }] = (await sql<{ log: string }>(
      'select json_agg(request_log)::text as log from request_log where integrator_id = ?',
      [integratorId],
    )) as [{ log: string }];
    expect(log).not.toMatch(new RegExp(SECRET, 'i'));
    const names = (await readLog()).data.flatMap(({ errors }) => (errors as { fieldName: string }[] | null) ?? []);
    const shown = new Set(names.map(({ fieldName }) => fieldName));
    for (const name of ['page.*', 'page.contentMetadata.*', 'page.blocks[0].properties.level'])
      expect([...shown]).toContain(name);
  });

  it('is kept so for every operation, whatever fails (REQ-4)', async () => {
    // biome-ignore lint/suspicious/noExplicitAny: a document is walked by name.
    const { paths } = (await service.request({ url: '/openapi.json' })).json() as any;
    const spoil = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(spoil);
      if (typeof value !== 'object' || value === null) return typeof value === 'string' ? SECRET : value;
      return { ...Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, spoil(inner)])), [SECRET]: 1 };
    };
    let count = 0;
    await withLog(async (app) => {
      for (const [path, methods] of Object.entries<object>(paths)) {
        if (/^\/(oauth|storage|health|\.well-known)/.test(path)) continue;
        for (const [method, { parameters = [], requestBody }] of Object.entries(methods)) {
          const names = parameters.filter((one: { in?: string }) => one.in === 'query').map(({ name }: never) => name);
          const query = names.map((name: string) => `${name}=${SECRET}`).join('&');
          const filled = path.replace('/builders/{id}', `/builders/${builderId}`).replace('{builderId}', builderId);
          const body = spoil(requestBody?.content['application/json']?.example);
          const headers = { ...authorization(), 'x-service-builder-id': builderId, 'idempotency-key': `${SECRET} é` };
          await app.inject({
            method: method.toUpperCase() as 'GET',
            url: `${filled.replace(/\{\w+\}/g, `att_${SECRET}`)}?${query}`,
            headers,
            ...(body !== undefined && { payload: body as object }),
          });
          count++;
        }
      }
    });
    expect(count).toBeGreaterThan(50);
    const rows = await sql<{ row: string }>(
      'select request_log::text as row from request_log where integrator_id = ?',
      [integratorId],
    );
    expect(rows.length).toBeGreaterThan(30);
    expect(rows.filter(({ row }) => isQuoted(row))).toEqual([]);
  });

  it('has no ids of photos in the rule of a conflict (REQ-4)', async () => {
    const block = { sourceBlockId: SECRET, type: 'IMAGE', properties: {}, imageStatus: 'SYNCED' };
    const page = { schemaVersion: 1, title: 'Walk', blocks: [{ ...block, attachmentId: `att_${SECRET}` }] };
    const report = request({ page });
    const url = `/builders/${builderId}/photo-reports/sync`;
    await withLog(async (app) => {
      const response = await app.inject({ method: 'POST', url, headers: authorization(), payload: report });
      expect(response.json(), response.body).toMatchObject({ code: 'ATTACHMENT_CONFLICT' });
      expect(isQuoted(response.body)).toBe(true);
    });
    expect((await readLog()).data).toMatchObject([
      { code: 'ATTACHMENT_CONFLICT', message: 'Each image must be an active photo of the builder and project.' },
    ]);
  });
});

describe('the limit of a day (REQ-2)', () => {
  const fill = (count: number) =>
    sql(
      `insert into request_log (integrator_id, request_id, at, client_id, method, path, status, code, duration_ms)
        select ?, 'r', ?::timestamptz, ?, 'GET', '/x', 404, 'NOT_FOUND', 1 from generate_series(1, ${count})`,
      [integratorId, new Date(service.clock.now()).toISOString(), clientId],
    );
  const countLogged = async () => {
    const [row] = await sql<{ count: string }>('select count(*) from request_log where integrator_id = ?', [
      integratorId,
    ]);
    return Number(row!.count);
  };

  it('is not passed by two processes together, and the others are counted', async () => {
    await fill(MAX_LOGGED - 10);
    const [filled] = await sql<{ id: string }>('select max(id) as id from request_log where integrator_id = ?', [
      integratorId,
    ]);
    for (let round = 0; round < 8; round++) {
      await sql('delete from request_log where integrator_id = ? and id > ?', [integratorId, filled!.id]);
      const logs = [createLog(), createLog(), createLog()];
      for (const [index, log] of logs.entries())
        for (let number = 0; number < 8; number++) log.add('au1', requestOf(`GET /${round}/${index}`), failed());
      await Promise.all(logs.map((log) => log.close()));
      expect(await countLogged()).toBe(MAX_LOGGED);
      expect(logs.reduce((sum, { dropped }) => sum + dropped, 0)).toBe(14);
    }
    await sql('delete from request_log where integrator_id = ?', [integratorId]);
    expect((await readLog()).meta).toEqual({ nextCursor: null, dropped: 8 * 24 });
  });

  it('counts what was dropped on the days of the range', async () => {
    const log = createLog();
    for (const dropped of [3, 0, 5]) {
      for (let number = 0; number < 6; number++) log.add('au1', requestOf(), failed({ requestId: `r-${dropped}` }));
      await log.write();
      await sql(
        `delete from request_log where id in
        (select id from request_log where integrator_id = ? and request_id = ? limit ?)`,
        [integratorId, `r-${dropped}`, dropped],
      );
      service.clock.advance(DAY_MS);
    }
    await log.close();
    await renewToken();
    const day = (back: number) => new Date(service.clock.now() - back * DAY_MS).toISOString().slice(0, 10);
    const droppedIn = async (query: string) => (await readLog(query)).meta.dropped;
    expect(await droppedIn('')).toBe(8);
    expect(await droppedIn(`?startDate=${day(2)}`)).toBe(5);
    expect(await droppedIn(`?endDate=${day(2)}`)).toBe(3);
    expect(await droppedIn(`?startDate=${day(3)}T12:00:00Z&endDate=${day(3)}`)).toBe(3);
  });
});

describe('the age of a failed request (REQ-3)', () => {
  it('is at most seven days, and whole days are deleted', async () => {
    const log = createLog();
    log.add('au1', requestOf(), failed({ requestId: 'old' }));
    service.clock.advance(DAY_MS / 2);
    log.add('au1', requestOf(), failed({ requestId: 'new' }));
    await log.close();
    service.clock.advance(7 * DAY_MS - 1);
    await renewToken();
    expect((await readLog()).data.map(({ requestId }) => requestId)).toEqual(['new']);
    const purge = () => {
      const before = new Date(service.clock.now() - RETENTION_RULES.requestLog.days * DAY_MS).toISOString();
      return sql(RETENTION_RULES.requestLog.purge.replaceAll(':before', `'${before}'`));
    };
    await purge();
    expect((await readLog()).meta.dropped).toBe(0);
    expect(await sql('select id from request_log where integrator_id = ?', [integratorId])).toHaveLength(2);
    service.clock.advance(DAY_MS);
    await purge();
    expect(await sql('select id from request_log where integrator_id = ?', [integratorId])).toEqual([]);
    await renewToken();
    expect((await readLog()).meta.dropped).toBe(0);
  });
});

describe('GET /usage', () => {
  const addDays = (days: number) => new Date(service.clock.now() + days * DAY_MS).toISOString().slice(0, 10);

  it('adds up the requests of all processes by day, client and operation, over midnight (REQ-6)', async () => {
    const second = newId('client', service.clock.now());
    await sql(
      `insert into oauth_client select (jsonb_populate_record(client, jsonb_build_object('id', ?::text))).*
        from oauth_client client where id = ?`,
      [second, clientId],
    );
    const logs = [createLog(), createLog()];
    const before = addDays(0);
    for (const log of logs) {
      log.add('au1', requestOf('GET /a'), null);
      log.add('au1', requestOf('GET /a'), failed());
      log.add('au1', { ...requestOf('GET /a'), clientId: second }, failed({ status: 503 }));
    }
    service.clock.advance(DAY_MS);
    for (const log of logs) log.add('au1', requestOf('GET /a'), null);
    await Promise.all(logs.map((log) => log.write()));
    for (const log of logs) log.add('au1', requestOf('GET /b'), null);
    await Promise.all(logs.map((log) => log.close()));
    await renewToken();
    const rows = await readUsage();
    const own = { clientId, rejections: 0, failures: 0 };
    const expected = [
      { ...own, date: before, operation: 'GET /a', requests: 4, rejections: 2 },
      { ...own, date: before, clientId: second, operation: 'GET /a', requests: 2, failures: 2 },
      { ...own, date: addDays(0), operation: 'GET /a', requests: 2 },
      { ...own, date: addDays(0), operation: 'GET /b', requests: 2 },
    ];
    const inOrder = expected.slice(0, 2).sort((one, other) => (one.clientId < other.clientId ? -1 : 1));
    expect(rows).toEqual([...inOrder, ...expected.slice(2)]);
  });

  it('is in the order of days, clients and operations', async () => {
    await sql(
      `insert into usage_day (date, integrator_id, client_id, operation, requests, rejections, failures)
        select ?::date - n % 3, ?, ?, 'GET /' || lpad((n * 37 % 400)::text, 3, '0'), 1, 0, 0 from generate_series(1, 400) n`,
      [addDays(0), integratorId, clientId],
    );
    const keys = (await readUsage()).map(({ date, operation }) => `${date} ${operation}`);
    expect(keys).toHaveLength(400);
    expect(keys).toEqual([...keys].sort());
  });

  it('has the last 31 days, or those of the range', async () => {
    await sql(
      `insert into usage_day (date, integrator_id, client_id, operation, requests, rejections, failures)
        select ?::date - n, ?, ?, 'GET /x', n + 1, 0, 0 from generate_series(0, 40) n`,
      [addDays(0), integratorId, clientId],
    );
    const daysOf = async (query: string) => (await readUsage(query)).map(({ date }) => date);
    const range = (first: number, last: number) =>
      Array.from({ length: last - first + 1 }, (_, index) => addDays(first + index));
    expect(await daysOf('')).toEqual(range(-30, 0));
    expect(await daysOf(`?startDate=${addDays(-2)}`)).toEqual(range(-2, 0));
    expect(await daysOf(`?startDate=${addDays(-40)}`)).toEqual(range(-40, -10));
    expect(await daysOf(`?endDate=${addDays(-8)}`)).toEqual(range(-38, -8));
    expect(await daysOf(`?startDate=${addDays(-4)}T23:00:00Z&endDate=${addDays(-3)}`)).toEqual(range(-4, -3));
    expect(await daysOf('?endDate=0001-01-01')).toEqual([]);
    expect(await daysOf('?startDate=9999-12-31')).toEqual([]);
    const tooMany = await service.get(`/usage?startDate=${addDays(-31)}&endDate=${addDays(0)}`, token);
    expect(tooMany.json().errors).toMatchObject([{ fieldName: 'endDate' }]);
  });

  it('counts the operations beyond 200 of a client and day together (REQ-6)', async () => {
    const log = createLog();
    for (let number = 0; number < 203; number++) log.add('au1', requestOf(`graphql Name${number}`), null);
    await log.write();
    for (let number = 0; number < 203; number++) log.add('au1', requestOf(`graphql Name${number}`), null);
    await log.close();
    const rows = await readUsage();
    expect(rows).toHaveLength(201);
    expect(rows.find(({ operation }) => operation === '*')).toMatchObject({ requests: 6 });
  });

  it('counts another 200 operations of a client by their names on the next day (REQ-6)', async () => {
    const log = createLog();
    for (let number = 0; number < 200; number++) log.add('au1', requestOf(`graphql Name${number}`), null);
    service.clock.advance(DAY_MS);
    log.add('au1', requestOf('GET /new'), null);
    await log.close();
    await renewToken();
    expect(await readUsage(`?startDate=${addDays(0)}`)).toMatchObject([{ operation: 'GET /new', requests: 1 }]);
  });
});

describe('a log that cannot be written', () => {
  const run = async (fail: (log: RequestLog) => Promise<void>) => {
    const failures: unknown[] = [];
    const log = createLog((error) => failures.push(error));
    await sql('alter table request_log rename to log_away');
    await fail(log);
    await sql('alter table log_away rename to request_log');
    expect(failures.length).toBeGreaterThan(0);
    await log.close();
    return log;
  };

  it('is written later, and each request is counted once', async () => {
    await run(async (log) => {
      for (let number = 0; number < 3; number++) {
        log.add('au1', requestOf(), failed({ requestId: `r-${number}` }));
        await log.write();
      }
    });
    const { data } = await readLog();
    expect(data.map(({ requestId }) => requestId).sort()).toEqual(['r-0', 'r-1', 'r-2']);
    expect(await readUsage()).toMatchObject([{ requests: 3, rejections: 3 }]);
  });

  it('holds a bounded number of failed requests, and counts the others (REQ-7)', async () => {
    const errors = Array.from({ length: 100 }, () => ({ fieldName: 'x'.repeat(300), message: 'y'.repeat(300) }));
    const log = await run(async (written) => {
      for (let number = 0; number < 40; number++) written.add('au1', requestOf(), failed({ errors }));
      await written.write();
    });
    expect(log.dropped).toBeGreaterThan(20);
    const { data, meta } = await readLog();
    expect(data.length).toBe(40 - log.dropped);
    expect(meta.dropped).toBe(log.dropped);
    expect(await readUsage()).toMatchObject([{ requests: 40, rejections: 40 }]);
  });

  it('passes over a client that does not exist', async () => {
    const log = createLog();
    log.add('au1', { ...requestOf(), clientId: 'cli_deleted' }, failed());
    log.add('au1', requestOf(), failed({ requestId: 'kept' }));
    await log.close();
    expect((await readLog()).data).toMatchObject([{ requestId: 'kept' }]);
  });
});
