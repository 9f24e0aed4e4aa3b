import { describe, expect, it } from 'vitest';
import { Operation } from '../../schema/route-table.ts';
import type { Scope } from '../../schema/scopes.ts';
import { recordType } from '../../schema/selection.ts';
import { createManualOperations } from '../../src/rest/openapi/manual-operations.ts';
import { operations as routes, schema } from '../support/definition.ts';
import { useService } from '../support/harness.ts';

/** Scopes of the REST operations by path and method; null where none is required. */
const SCOPES: [path: RegExp, method: RegExp, scope: string | null][] = [
  [/^\/me$/, /GET/, null],
  [/^\/builders(\/\{\w+\})?$/, /GET/, 'read:builders'],
  [/\/projects(\/\{\w+\})?$/, /GET/, 'read:projects'],
  [/^\/subcontractors(\/\{\w+\})?$/, /GET/, 'read:subcontractors'],
  [/\/swms(\/\{\w+\})?$/, /GET/, 'read:swms'],
  [/\/prequalifications(\/\{\w+\})?$/, /GET/, 'read:prequalifications'],
  [/\/insurances(\/\{\w+\})?$/, /GET/, 'read:insurances'],
  [/\/contacts$/, /GET/, 'read:contacts'],
  [/\/inductions(\/\{\w+\})?$/, /GET/, 'read:inductions'],
  [/^\/timesheets/, /GET/, 'read:timesheets'],
  [/\/defects(\/\{\w+\})?$/, /GET/, 'read:defects'],
  [/\/photos|\/photo-folders/, /GET/, 'read:photos'],
  [/\/photos|\/photo-folders|\/photo-gallery|\/photo-reports/, /POST|PATCH|DELETE/, 'write:photos'],
  [/\/meetings/, /GET/, 'read:meetings'],
  [/\/meetings/, /POST|PATCH/, 'write:meetings'],
  [/\/sign-on-(events|conflicts)(\/\{\w+\})?$|\/site-access$/, /GET|POST/, 'write:sign_on_events'],
  [/\/attachments\//, /POST/, null],
  [/^\/webhook-endpoints/, /GET|POST|PATCH|DELETE/, null],
  [/^\/(events|request-log|usage)$/, /GET/, null],
  [/^\/snapshots/, /GET|POST|DELETE/, null],
];

/** Scope of the records that a read returns, for operations that no line above names. */
const scopeOfRecords = ({ kind, field }: Operation) =>
  kind === 'Query' ? (recordType(schema.getQueryType()!.getFields()[field]!.type).extensions.scope as Scope) : null;

const operations = [
  ...routes.map((operation) => ({ ...operation, recordScope: scopeOfRecords(operation) })),
  ...createManualOperations('')
    .filter(({ access }) => access !== 'public')
    .map(({ method, path, access }) => ({ method, path, scope: access, recordScope: null })),
];

const service = useService();

describe.each(operations)('$method $path', ({ method, path, scope, recordScope }) => {
  it(`needs the scope ${scope} (ACC-7, ACC-8)`, () => {
    const expected = SCOPES.filter(([paths, methods]) => paths.test(path) && methods.test(method));
    expect(expected.length > 0 ? expected.map(([, , needed]) => needed) : [recordScope]).toEqual([scope]);
  });
});

describe('without a token', () => {
  it.each([
    '/openapi.json',
    '/docs',
    '/health/live',
    '/health/ready',
    '/.well-known/oauth-authorization-server',
    '/.well-known/oauth-protected-resource/mcp',
    '/oauth/authorize',
    '/storage/au1/photos/x',
    '/reports/phrep_none',
  ])('GET %s is not 401 (ACC-17)', async (url) => {
    expect((await service.request({ url })).statusCode).not.toBe(401);
  });

  it.each(['/me', '/builders', '/nowhere', '/graphql/schema.graphql'])('GET %s is 401 (ACC-17)', async (url) => {
    expect((await service.request({ url })).statusCode).toBe(401);
  });
});

describe('the OpenAPI document', () => {
  it('may be read by a page of any origin (ACC-19)', async () => {
    const { headers } = await service.request({ url: '/openapi.json', headers: { origin: 'https://any.example' } });
    expect(headers['access-control-allow-origin']).toBe('*');
  });
});

describe('a scope that is revoked from the client', () => {
  it('no longer applies to its tokens (OAU-16)', async () => {
    const token = await service.tokenOf('A');
    expect((await service.get('/builders', token)).statusCode).toBe(200);
    const { clientId, scopes } = service.findDemoClient('A');
    const set = async (some: readonly string[]) => {
      const sql = 'update oauth_client set scopes = ? where id = ?';
      await service.databases.au1.fork().execute(sql, [`{${some.join(',')}}`, clientId]);
      service.clock.advance(1_000);
    };
    await set(scopes.filter((scope) => scope !== 'read:builders'));
    const refused = await service.get('/builders', token);
    await set(scopes);
    expect([refused.statusCode, refused.json().code]).toEqual([403, 'INSUFFICIENT_SCOPE']);
    expect((await service.get('/builders', token)).statusCode).toBe(200);
  });
});
