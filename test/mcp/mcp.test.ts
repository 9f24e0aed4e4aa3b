import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import { AuditEntry } from '../../entities/audit-entry.entity.ts';
import { OAuthClient } from '../../entities/oauth-client.entity.ts';
import { LIMITED_CHANGES } from '../../src/domain/audit/record-audit.ts';
import { createBuilderClient } from '../support/builder-client.ts';
import { BASE_URL, startService, useService } from '../support/harness.ts';
import { addProject } from '../support/rows.ts';
import { callMcp, createToolToken } from '../support/tools.ts';

const service = useService();
let builderId: string;
let url: URL;

beforeAll(async () => {
  builderId = service.findDemoClient('A').builderIds[0]!;
  await service.app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = service.app.server.address() as { port: number };
  url = new URL(`http://127.0.0.1:${port}/mcp`);
});

// biome-ignore lint/suspicious/noExplicitAny: tests read results by property name.
type Json = any;

/** Connects a client, which validates each result against the schema of its tool. */
async function connect(token: string, versions: 'legacy' | 'modern' = 'modern'): Promise<Client> {
  const options = versions === 'modern' ? {} : { supportedProtocolVersions: ['2025-11-25'] };
  const client = new Client({ name: 'test', version: '1' }, options);
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }));
  await client.listTools();
  return client;
}

const call = async (client: Client, name: string, args: Record<string, unknown> = {}): Promise<Json> =>
  client.callTool({ name, arguments: args });

describe.each(['modern', 'legacy'] as const)('a client of the protocol (%s)', (versions) => {
  let client: Client;
  beforeAll(async () => {
    client = await connect(await createToolToken(service, 'A'), versions);
  });

  it('finds who it is and which builders it reads (OAU-50)', async () => {
    const { structuredContent } = await call(client, 'get_me');
    expect(structuredContent.memberships.map((one: Json) => one.builderId)).toContain(builderId);
  });

  it('reads a list page by page, by the cursor that each page returns', async () => {
    for (let at = 0; at < 3; at++) await addProject(service, builderId);
    const first = (await call(client, 'list_projects', { id: builderId, limit: 2 })).structuredContent;
    const { nextCursor: cursor } = first.meta;
    const second = (await call(client, 'list_projects', { id: builderId, limit: 2, cursor })).structuredContent;
    expect(new Set([...first.data, ...second.data].map(({ id }: Json) => id)).size).toBe(4);
  });

  it('finds the inductions of a project that are not reviewed', async () => {
    const projects = (await call(client, 'list_projects', { id: builderId })).structuredContent.data;
    const args = { builderId, projectId: projects[0].id, status: 'WAITING_REVIEW' };
    const { structuredContent } = await call(client, 'list_project_inductions', args);
    expect(structuredContent.data.every(({ status }: Json) => status === 'WAITING_REVIEW')).toBe(true);
  });

  it('creates a meeting once by its key and renames it, with an audit entry for each call (OAU-51)', async () => {
    service.clock.advance(1_000);
    const args = { builderId, title: 'Toolbox talk', idempotencyKey: `talk-${versions}` };
    const { id } = (await call(client, 'create_meeting', args)).structuredContent;
    expect((await call(client, 'create_meeting', args)).structuredContent.id).toBe(id);
    const renamed = await call(client, 'update_meeting', { builderId, meetingId: id, title: 'Crane talk' });
    expect(renamed.structuredContent.title).toBe('Crane talk');
    const at = new Date(service.clock.now()).toISOString();
    const entries = await service.databases.au1.fork().find(AuditEntry, { action: 'tool.called', at });
    expect(entries.map(({ objectId }) => objectId).sort()).toEqual([
      'create_meeting',
      'create_meeting',
      'update_meeting',
    ]);
    const { clientId } = service.findDemoClient('A');
    for (const entry of entries) expect(entry).toMatchObject({ builderId, actorId: clientId });
  });

  it('learns what is wrong with a call as REST says it', async () => {
    const args = { id: builderId, limit: '5', status: 'NONE' };
    const { isError, content } = await call(client, 'list_projects', args);
    expect(isError).toBe(true);
    const { code, errors } = JSON.parse(content[0].text);
    expect(code).toBe('BAD_USER_INPUT');
    expect(errors.map(({ fieldName }: Json) => fieldName).sort()).toEqual(['limit', 'status']);
  });
});

describe('the tool get_photo', () => {
  it('returns the image in the size that is asked for, and none unasked (OAU-50)', async () => {
    const { id: photoId } = await (await createBuilderClient(service, 'A')).createPhoto();
    const client = await connect(await createToolToken(service, 'A'));
    expect((await call(client, 'get_photo', { builderId, photoId })).content).toHaveLength(1);
    const { content } = await call(client, 'get_photo', { builderId, photoId, image: 'SMALL' });
    expect(content[1]).toMatchObject({ type: 'image', mimeType: 'image/webp' });
    const bytes = Buffer.from(content[1].data, 'base64');
    expect(await sharp(bytes).metadata()).toMatchObject({ format: 'webp' });
    const { isError } = await call(client, 'get_photo', { builderId, photoId, image: 'HUGE' });
    expect(isError).toBe(true);
  });
});

describe('tools/call', () => {
  const callTool = async (name: string, args: object, token?: string) =>
    (await callMcp(service, token ?? (await createToolToken(service, 'A')), 'tools/call', { name, arguments: args }))
      .body;

  it('shortens the large texts of a page of several records, and says how to read one whole', async () => {
    const agenda = 'x'.repeat(3_000);
    for (const title of ['One', 'Other']) {
      service.clock.advance(1_000);
      await callTool('create_meeting', { builderId, title, agenda });
    }
    const { structuredContent } = (await callTool('list_meetings', { builderId, order: 'desc', limit: 2 })).result;
    expect(structuredContent.data[0].agenda).toMatch(/^x{2000}… \[1000 more characters: read this record alone/);
    const whole = (await callTool('list_meetings', { builderId, order: 'desc', limit: 1 })).result;
    expect(whole.structuredContent.data[0].agenda).toBe(agenda);
  });

  it('records a failed call in the request log, with the name of the tool (OAU-51)', async () => {
    await callTool('get_project', { id: builderId, projectId: 'proj_anobody' });
    const read = async () =>
      (await service.databases.au1.fork().execute('select path, tool, status, code from request_log')) as object[];
    await expect.poll(read, { timeout: 20_000 }).toContainEqual({
      path: '/mcp',
      tool: 'get_project',
      status: 404,
      code: 'NOT_FOUND',
    });
  });

  it('is one message: a list of them is 400, and a text that cannot be stored is an error of its argument', async () => {
    const headers = { authorization: `Bearer ${await createToolToken(service, 'A')}` };
    const batch = await service.request({ method: 'POST', url: '/mcp', headers, payload: [] });
    expect(batch.statusCode).toBe(400);
    const { result } = await callTool('create_meeting', { builderId, title: 'a\u0000' });
    expect(result.structuredContent.errors).toEqual([{ fieldName: 'title', message: expect.any(String) }]);
  });

  it('supplies the builder of a person’s token', async () => {
    const { clientId, scopes } = service.findDemoClient('A public');
    const user = service.findDemoUser(({ builderIds }) => builderIds.includes(builderId));
    const claims = { client_id: clientId, scope: scopes.join(' '), aud: 'http://localhost:4000/mcp' };
    const { token } = service.tokens.sign('au1', { ...claims, sub: user.id, builder_id: builderId });
    const { result } = await callTool('list_timesheets', { limit: 1 }, token);
    expect(result.structuredContent.data).toHaveLength(1);
    await callTool('create_meeting', { builderId, title: 'By a person' }, token);
    const entry = await service.databases.au1
      .fork()
      .findOneOrFail(AuditEntry, { action: 'tool.called', personId: user.id });
    expect(entry.valuesAfter).toEqual({ clientId, userId: user.id });
  });
});

describe('repeated writes', () => {
  it('are limited to 120 in an hour, of a client and of each of its people, also where nothing changes (LIM-28)', async () => {
    const { clientId, scopes } = service.findDemoClient('A');
    const user = service.findDemoUser(({ builderIds }) => builderIds.includes(builderId));
    const create = async (isPerson = false) => {
      const claims = { client_id: clientId, scope: scopes.join(' '), aud: `${BASE_URL}/mcp` };
      const person = { ...claims, sub: user.id, builder_id: builderId };
      const { token } = service.tokens.sign('au1', isPerson ? person : { ...claims, sub: clientId });
      const args = { builderId, title: 'Again', idempotencyKey: 'again' };
      const { body } = await callMcp(service, token, 'tools/call', { name: 'create_meeting', arguments: args });
      return body.result.structuredContent;
    };
    service.clock.advance(3_600_000);
    const { id } = await create();
    const at = new Date(service.clock.now()).toISOString();
    const where = { action: 'tool.called', actorId: clientId, personId: null, at };
    const em = service.databases.au1.fork();
    // Entries as the next calls would add.
    await em.execute(
      `insert into audit_entry select (jsonb_populate_record(entry, jsonb_build_object('id', entry.id || n))).*
        from audit_entry entry, generate_series(3, ?) n where action = ? and at = ?`,
      [LIMITED_CHANGES, where.action, at],
    );
    expect(await create()).toMatchObject({ id });
    expect(await create()).toMatchObject({ code: 'RATE_LIMITED' });
    expect(await em.count(AuditEntry, where)).toBe(LIMITED_CHANGES);
    expect(await create(true)).toMatchObject({ title: 'Again' });
    service.clock.advance(3_600_000);
    expect(await create()).toMatchObject({ id });
  });
});

describe('a request of a web page', () => {
  it('is 403 unless a public client has registered its origin (OAU-50)', async () => {
    const token = await createToolToken(service, 'A');
    const { clientId } = service.findDemoClient('A public');
    await service.databases.au1
      .fork()
      .nativeUpdate(OAuthClient, { id: clientId }, { origins: ['https://app.example'] });
    service.clock.advance(60_000);
    const statuses = [];
    for (const origin of [BASE_URL, 'https://app.example', 'http://evil.example', 'null'])
      statuses.push((await callMcp(service, token, 'tools/list', {}, { origin })).status);
    expect(statuses).toEqual([200, 200, 403, 403]);
  });
});

describe('GET /mcp', () => {
  it('is 405', async () => {
    const headers = { authorization: `Bearer ${await createToolToken(service, 'A')}` };
    const response = await service.request({ method: 'GET', url: '/mcp', headers });
    expect([response.statusCode, response.headers.allow]).toEqual([405, 'POST']);
  });
});

describe('the rate limit of a client', () => {
  it('counts each message, and is one for REST and the tools (LIM-2)', async () => {
    const limited = await startService({ RATE_LIMIT_API: '2/86400' });
    try {
      expect((await limited.get('/me', await limited.tokenOf('A'))).statusCode).toBe(200);
      const token = await createToolToken(limited, 'A');
      const statuses = [];
      for (let at = 0; at < 2; at++) statuses.push((await callMcp(limited, token, 'tools/list')).status);
      expect(statuses).toEqual([200, 429]);
      const { statusCode, headers } = await limited.get('/me', await limited.tokenOf('A'));
      expect([statusCode, Number(headers['retry-after']) > 0]).toEqual([429, true]);
    } finally {
      await limited.stop();
    }
  });
});
