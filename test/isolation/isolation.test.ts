import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RestRoute } from '../../schema/rest.ts';
import { createIntegratorId } from '../../src/demo/accounts.ts';
import { locateArguments } from '../../src/rest/input.ts';
import { createManualOperations } from '../../src/rest/openapi/manual-operations.ts';
import { operations, schema } from '../support/definition.ts';
import { useService } from '../support/harness.ts';
import { OperationCalls, type OperationResult } from '../support/operation-calls.ts';
import { createSamples, restoreSamples, type Samples } from '../support/samples.ts';

/** All root fields of the schema. */
const fields = [schema.getQueryType(), schema.getMutationType()].flatMap((type) =>
  Object.values(type?.getFields() ?? {}).map((field) => ({ kind: type!.name as 'Query' | 'Mutation', field })),
);

/** Statuses of success. */
const SUCCESS = [200, 201, 202];

const service = useService();
let samples: Samples;
let calls: OperationCalls;
let orderedCalls: OperationCalls;

/** Parameters of lists that change which records a page has. */
const LIST_PARAMETERS = { order: 'desc', startDate: '2020-01-01', timeZone: 'Asia/Kolkata', cursor: '' };

beforeAll(async () => {
  samples = await createSamples(service.databases.au1, service.findDemoClient('A').builderIds[0]!);
  calls = new OperationCalls(service, samples);
  orderedCalls = new OperationCalls(service, samples, LIST_PARAMETERS);
});

afterAll(async () => {
  console.info(`isolation: ${calls.count + orderedCalls.count} calls refused as documented`);
});

/** Returns whether an operation needs no sample, so that every integrator may call it, and whether its records belong to an integrator. */
const accessOf = (field: string, tag?: string) => ({
  listsReachable: [
    'builders',
    'me',
    'webhookEndpoints',
    'createWebhookEndpoint',
    'snapshots',
    'requestLog',
    'usage',
  ].includes(field),
  isOfIntegrator: tag === 'Webhooks' || tag === 'Request log',
});

type Call = (token: string | null, headers?: Record<string, string>) => Promise<OperationResult>;

const restCalls = operations.map((operation) => ({
  name: `${operation.method} ${operation.path}`,
  scope: operation.scope,
  needsBuilder: locateArguments(operation, schema).some(({ argument }) => argument.name === 'builderId'),
  ...accessOf(operation.field, operation.tag),
  call: ((token, headers) => calls.rest(operation, token, headers)) as Call,
  callOrdered: locateArguments(operation, schema).some(({ name }) => name === 'order')
    ? (((token, headers) => orderedCalls.rest(operation, token, headers)) as Call)
    : null,
}));

const uploadCalls = createManualOperations('')
  .filter((route) => route.access !== 'public')
  .map((route) => ({
    name: `${route.method} ${route.path}`,
    scope: route.access as string | null,
    needsBuilder: route.path.includes('{builderId}'),
    ...accessOf(route.path),
    call: ((token, headers) => calls.upload(route, token, headers)) as Call,
  }));

const graphqlCalls = fields.map(({ kind, field }) => ({
  name: `${kind}.${field.name}`,
  scope: field.extensions.scope as string | null,
  needsBuilder: field.args.some(({ name }) => name === 'builderId'),
  ...accessOf(field.name, (field.extensions.rest as RestRoute | undefined)?.tag),
  call: ((token, headers) => calls.graphql(kind, field, token, headers)) as Call,
  callOrdered: field.args.some(({ name }) => name === 'order')
    ? (((token, headers) => orderedCalls.graphql(kind, field, token, headers)) as Call)
    : null,
}));

/** The lists again, newest first and by days of a time zone. */
const orderedLists = [...restCalls, ...graphqlCalls].flatMap(({ callOrdered, ...list }) =>
  callOrdered ? [{ ...list, name: `${list.name}, newest first`, call: callOrdered }] : [],
);

it('every operation declares its scope, or null for none', () => {
  for (const { name, scope } of [...restCalls, ...uploadCalls, ...graphqlCalls])
    expect(scope === null || typeof scope === 'string', name).toBe(true);
});

describe.each([...restCalls, ...uploadCalls, ...graphqlCalls, ...orderedLists])(
  '$name',
  ({ scope, needsBuilder, listsReachable, isOfIntegrator, call }) => {
    it('is 401 without a token, with a garbage token and with an expired one (ERR-11)', async () => {
      const expired = await service.tokenOf('A');
      expect(await call(null)).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' });
      expect(await call('garbage')).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' });
      service.clock.advance(3_601_000);
      expect(await call(expired)).toMatchObject({ status: 401, code: 'UNAUTHENTICATED' });
    });

    it('is 401 with a token of another region (HDR-8)', async () => {
      const token = await service.tokenOf('A');
      expect(await call(token, { 'x-service-region-id': 'us1' })).toMatchObject({
        status: 401,
        code: 'UNAUTHENTICATED',
      });
    });

    if (scope !== null) {
      it('is 403 without its scope (ACC-6, ERR-12)', async () => {
        const others = service.findDemoClient('A').scopes.filter((other) => other !== scope);
        const token = await service.tokenOf('A', others);
        expect(await call(token)).toMatchObject({ status: 403, code: 'INSUFFICIENT_SCOPE' });
      });
    }

    it('returns nothing to an unconnected integrator (ACC-10, ACC-11, ACC-13)', async () => {
      const answer = await call(await service.tokenOf('B'));
      if (listsReachable) {
        expect(answer.body).not.toContain(samples.BuilderId);
        expect(answer.body).not.toContain(samples.WebhookEndpointId);
      } else if (needsBuilder) expect(answer).toMatchObject({ status: 403, code: 'FORBIDDEN' });
      else expect(answer).toMatchObject({ status: 404, code: 'NOT_FOUND' });
    });

    it('succeeds for its own integrator, until the connection is revoked (ACC-3, ACC-5)', async () => {
      const token = await service.tokenOf('A');
      const connection = (status: string) =>
        service.databases.au1
          .fork()
          .execute('update connection set status = ? where integrator_id = ? and builder_id = ?', [
            status,
            createIntegratorId('A'),
            samples.BuilderId,
          ]);
      expect(SUCCESS).toContain((await call(token)).status);
      await connection('REVOKED');
      service.clock.advance(1_000);
      try {
        const answer = await call(token);
        // An endpoint is the integrator's, whichever of its builders are connected.
        if (listsReachable || isOfIntegrator) expect(answer.body).not.toContain(samples.BuilderId);
        else expect([403, 404]).toContain(answer.status);
      } finally {
        await connection('ACTIVE');
        service.clock.advance(1_000);
      }
    });
  },
);

describe('an internal client', () => {
  it.each([...restCalls, ...uploadCalls])('is 403 in REST: $name (ACC-16)', async ({ call }) => {
    expect(await call(await service.tokenOf('internal'))).toMatchObject({ status: 403, code: 'FORBIDDEN' });
  });
});

describe('a signed URL', () => {
  /** Returns the path and query of a manipulated URL. */
  const call = (method: 'GET' | 'PUT' | 'POST' | 'DELETE', url: string) => {
    calls.count++;
    const { pathname, search } = new URL(url);
    const headers = method === 'PUT' ? { 'content-type': 'image/jpeg' } : {};
    return service.request({
      method,
      url: `${pathname}${search}`,
      headers,
      ...(method === 'PUT' && { payload: 'nine bytes' }),
    });
  };
  let upload: string;
  let download: string;

  beforeAll(async () => {
    const headers = { authorization: `Bearer ${await service.tokenOf('A')}` };
    const presign = { contentType: 'image/jpeg', fileName: 'a.jpg', size: 10, type: 'attachment' };
    const url = `/builders/${samples.BuilderId}`;
    const intent = await service.request({
      method: 'POST',
      url: `${url}/attachments/presign`,
      headers,
      payload: presign,
    });
    upload = intent.json().uploadUrl;
    await restoreSamples(service.databases.au1);
    const photo = await service.request({ url: `${url}/photos/${samples.AttachmentId}`, headers });
    download = photo.json().imageUrl;
  });

  it('is valid for the signed object and method', async () => {
    expect((await call('PUT', upload)).statusCode).toBe(200);
    // The row of the sample has no stored bytes.
    expect((await call('GET', download)).statusCode).toBe(404);
  });

  it.each([
    ["another builder's key", (url: string) => url.replace(/buil_[a-z0-9]+|photos\/sample/, 'buil_astranger/x')],
    ['another region', (url: string) => url.replace('/au1/', '/us1/')],
    ['another type', (url: string) => url.replace('image%2Fjpeg', 'text%2Fhtml')],
    ['a later expiry', (url: string) => url.replace(/expires=\d+/, 'expires=9999999999')],
    [
      'another signature',
      (url: string) => url.replace(/signature=(.)/, (_, c) => `signature=${c === 'A' ? 'B' : 'A'}`),
    ],
    ['no signature', (url: string) => url.replace(/&signature=.*/, '')],
    ['one parameter more', (url: string) => `${url}&size=11`],
  ])('is 403 with %s (HDR-9)', async (_name, change) => {
    for (const [method, url] of [
      ['PUT', upload],
      ['GET', download],
    ] as const) {
      const answer = await call(method, change(url));
      expect([answer.statusCode, answer.json().code]).toEqual([403, 'FORBIDDEN']);
    }
  });

  it('is 403 for the other method (UPL-4)', async () => {
    expect((await call('GET', upload)).statusCode).toBe(403);
    expect((await call('PUT', download)).statusCode).toBe(403);
  });

  it('is 405 for a method that no signed URL has (UPL-4, ERR-14)', async () => {
    expect((await call('POST', upload)).statusCode).toBe(405);
    expect((await call('DELETE', download)).statusCode).toBe(405);
  });

  it('is 403 once it has expired, however often it was used before (UPL-4)', async () => {
    service.clock.advance(899_000);
    const [inTime, late] = [await call('PUT', upload), await call('GET', download)];
    service.clock.advance(60_000 + 3_600_000);
    expect(inTime.statusCode === 200 || inTime.statusCode === 403).toBe(true);
    expect([404, 403]).toContain(late.statusCode);
    expect((await call('PUT', upload)).statusCode).toBe(403);
    expect((await call('GET', download)).statusCode).toBe(403);
  });
});
