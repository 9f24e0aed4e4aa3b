import { getNamedType } from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Operation } from '../../schema/route-table.ts';
import { createIntegratorId } from '../../src/demo/accounts.ts';
import { locateInObject } from '../../src/rest/input.ts';
import { operations, schema } from '../support/definition.ts';
import { useService } from '../support/harness.ts';
import { createSamples, REQUEST_BODIES, requireSample, restoreSamples, type Samples } from '../support/samples.ts';
import { callMcp, createToolToken } from '../support/tools.ts';

const EXCLUDED = ['Attachments', 'Webhooks', 'Gate attendance'];
const tools = operations
  .filter(({ tag }) => !EXCLUDED.includes(tag))
  .map((operation) => ({
    ...operation,
    name: operation.operationId.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    needsBuilder: locateInObject(operation, schema).some(({ argument }) => argument.name === 'builderId'),
  }));

const service = useService();
let samples: Samples;

beforeAll(async () => {
  samples = await createSamples(service.databases.au1, service.findDemoClient('A').builderIds[0]!);
});

const listTools = async (token: string): Promise<string[]> =>
  (await callMcp(service, token, 'tools/list')).body.result.tools.map(({ name }: { name: string }) => name);

/** Calls a tool with the ids of the samples. */
async function call(operation: Operation & { name: string }, token: string) {
  await restoreSamples(service.databases.au1);
  const ids = locateInObject(operation, schema)
    .filter(({ argument, location }) => location === 'path' || argument.name === 'builderId')
    .map(({ argument, name }) => [name, requireSample(samples, getNamedType(argument.type).name)]);
  const args = { ...Object.fromEntries(ids), ...REQUEST_BODIES[operation.field]?.(samples) };
  const { body } = await callMcp(service, token, 'tools/call', { name: operation.name, arguments: args });
  return body as { result?: { isError?: boolean; structuredContent: { code?: string } }; error?: { code: number } };
}

describe('tools/list', () => {
  it('has a tool for each JSON operation but those of uploads, webhooks and gates, always in the same order', async () => {
    const token = await createToolToken(service, 'A');
    expect(await listTools(token)).toEqual(tools.map(({ name }) => name));
    expect(await listTools(token)).toEqual(await listTools(token));
  });
});

describe.each(tools)('the tool $name', (tool) => {
  const { scope, needsBuilder, field } = tool;
  const listsReachable = ['builders', 'me', 'events', 'snapshots', 'requestLog', 'usage'].includes(field);

  it('answers its own integrator', async () => {
    const { result } = await call(tool, await createToolToken(service, 'A'));
    expect(result?.isError, JSON.stringify(result)).toBeUndefined();
  });

  if (scope !== null)
    it('is neither listed nor called without its scope', async () => {
      const scopes = service.findDemoClient('A').scopes.filter((other) => other !== scope);
      const token = await createToolToken(service, 'A', scopes);
      expect(await listTools(token)).not.toContain(tool.name);
      expect(await call(tool, token)).toMatchObject({ error: { code: -32602 } });
    });

  it('returns nothing to an unconnected integrator, and nothing once the connection is revoked', async () => {
    const expectRefusal = ({ result }: Awaited<ReturnType<typeof call>>) => {
      if (listsReachable && !result!.isError) expect(JSON.stringify(result)).not.toContain(samples.BuilderId);
      else
        expect(result).toMatchObject({
          isError: true,
          structuredContent: { code: expect.stringMatching(/^(FORBIDDEN|NOT_FOUND)$/) },
        });
    };
    const answer = await call(tool, await createToolToken(service, 'B'));
    expectRefusal(answer);
    if (needsBuilder) expect(answer.result!.structuredContent.code).toBe('FORBIDDEN');
    const revoke = (status: string) =>
      service.databases.au1
        .fork()
        .execute('update connection set status = ? where integrator_id = ? and builder_id = ?', [
          status,
          createIntegratorId('A'),
          samples.BuilderId,
        ]);
    const token = await createToolToken(service, 'A');
    await revoke('REVOKED');
    service.clock.advance(1_000);
    try {
      expectRefusal(await call(tool, token));
    } finally {
      await revoke('ACTIVE');
      service.clock.advance(1_000);
    }
  });
});

describe('a token', () => {
  const open = (url: string, token: string, headers = {}) =>
    service.request({
      method: url.startsWith('/me') ? 'GET' : 'POST',
      url,
      headers: { authorization: `Bearer ${token}`, accept: 'application/json', ...headers },
      ...(url.startsWith('/me') ? {} : { payload: { query: '{ me { id } }' } }),
    });

  it('for the tools opens no other route (OAU-48)', async () => {
    const token = await createToolToken(service, 'A');
    for (const url of ['/me', '/graphql']) expect((await open(url, token)).statusCode).toBe(401);
  });

  it('for the API does not open the tools, and 401 names their metadata (OAU-49)', async () => {
    const metadata = 'resource_metadata="http://localhost:4000/.well-known/oauth-protected-resource/mcp"';
    const rejected = await callMcp(service, await service.tokenOf('A'), 'tools/list');
    expect(rejected.status).toBe(401);
    expect(rejected.challenge).toMatch(/^Bearer error="invalid_token"/);
    expect(rejected.challenge).toContain(metadata);
    expect((await service.request({ method: 'POST', url: '/mcp', payload: {} })).headers['www-authenticate']).toBe(
      `Bearer ${metadata}`,
    );
  });

  it('decides the region: a header that differs is 401', async () => {
    const token = await createToolToken(service, 'us1');
    expect((await callMcp(service, token, 'tools/list')).status).toBe(200);
    expect((await callMcp(service, token, 'tools/list', {}, { 'x-service-region-id': 'au1' })).status).toBe(401);
    expect((await callMcp(service, token, 'tools/list', {}, { 'x-service-region-id': 'us1' })).status).toBe(200);
    expect((await callMcp(service, token, 'tools/list', {}, { 'x-service-region-id': 'eu1' })).status).toBe(400);
  });

  it('of an internal client opens no tool (ACC-16)', async () => {
    expect((await callMcp(service, await createToolToken(service, 'internal'), 'tools/list')).status).toBe(403);
  });
});
