import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { tracing } from '../../src/shared/tracing.ts';
import { VERSION } from '../../src/shared/version.ts';
import { createBuilderClient } from '../support/builder-client.ts';
import { type Service, startService } from '../support/harness.ts';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const PARENT_ID = 'b7ad6b7169203331';
/** Kind of a span in OTLP. */
const SERVER = 2;

interface OtlpSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  attributes: { key: string; value: { stringValue?: string; intValue?: number } }[];
  status: { code?: number };
}

/** A receiver of OTLP over HTTP. */
class SpanReceiver {
  readonly spans: OtlpSpan[] = [];
  /** `traceparent` of a webhook. */
  webhookParent: string | undefined;
  resource: Record<string, string | undefined> = {};
  readonly server: Server;

  constructor() {
    this.server = createServer(async (request, response) => {
      let body = '';
      for await (const chunk of request) body += chunk;
      if (request.url === '/v1/traces') this.#receive(JSON.parse(body));
      else this.webhookParent = request.headers.traceparent as string;
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  }

  #receive({ resourceSpans }: { resourceSpans: { resource: OtlpSpan; scopeSpans: { spans: OtlpSpan[] }[] }[] }): void {
    for (const { resource, scopeSpans } of resourceSpans) {
      this.resource = attributesOf(resource);
      this.spans.push(...scopeSpans.flatMap(({ spans }) => spans));
    }
  }
}

const attributesOf = ({ attributes }: Pick<OtlpSpan, 'attributes'>) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? String(value.intValue)]));

const receiver = new SpanReceiver();
const lines: { traceId?: string; msg: string; requestId?: string; cost?: number }[] = [];
let service: Service;
let builderId: string;
/** The trace of the GraphQL request, which has no `traceparent`. */
let graphqlTrace: OtlpSpan[];

const spansOf = (traceId: string) => receiver.spans.filter((span) => span.traceId === traceId);

/** Returns the names of the spans from the root of its trace to a span. */
function pathTo(span: OtlpSpan): string[] {
  const parent = receiver.spans.find(({ spanId }) => spanId === span.parentSpanId);
  return [...(parent ? pathTo(parent) : []), span.name];
}

beforeAll(async () => {
  receiver.server.listen(0, '127.0.0.1');
  await once(receiver.server, 'listening');
  const { port } = receiver.server.address() as AddressInfo;
  vi.spyOn(process.stdout, 'write').mockImplementation((data) => {
    for (const line of String(data).split('\n')) if (line.startsWith('{')) lines.push(JSON.parse(line));
    return true;
  });
  service = await startService({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, LOG_LEVEL: 'info' });
  const client = await createBuilderClient(service, 'A');
  builderId = client.builderId;
  await service.get(`/builders/${builderId}/projects`, client.token, {
    traceparent: `00-${TRACE_ID}-${PARENT_ID}-01`,
    'x-request-id': 'traced-request',
  });
  await service.graphql(client.token, 'query Sites { builders { data { id projects { data { id } } } } }');
  await client.createPhoto();
  const send = async (method: 'POST' | 'PATCH', url: string, payload?: object) => {
    const headers = { authorization: `Bearer ${client.token}` };
    return (await service.request({ method, url, headers, payload })).json();
  };
  const endpoint = await send('POST', '/webhook-endpoints', { url: `http://127.0.0.1:${port}/hook` });
  await send('POST', `/webhook-endpoints/${endpoint.id}/test`);
  const meeting = await send('POST', `/builders/${builderId}/meetings`, { title: 'Delivered from Oldtown' });
  const changed = await send('PATCH', `/builders/${builderId}/meetings/${meeting.id}`, { title: 'Moved into Newtown' });
  expect(changed).toMatchObject({ id: meeting.id, title: 'Moved into Newtown' });
  // Stopping the service sends the recorded spans.
  await service.stop();
  vi.restoreAllMocks();
  const graphql = receiver.spans.find(({ name }) => name === 'POST /graphql')!;
  graphqlTrace = spansOf(graphql.traceId);
});

afterAll(() => {
  receiver.server.close();
  receiver.server.closeAllConnections();
});

describe('traces', () => {
  it('are sent to the OTLP receiver with the name and version of the service', () => {
    expect(receiver.resource).toMatchObject({ 'service.name': 'builder-integration-api', 'service.version': VERSION });
  });

  it('continue the trace of the traceparent header', () => {
    const request = spansOf(TRACE_ID).find(({ kind }) => kind === SERVER)!;
    expect(request).toMatchObject({ parentSpanId: PARENT_ID, name: 'GET /builders/:id/projects' });
    expect(attributesOf(request)).toMatchObject({
      ...{
        'http.request.method': 'GET',
        'http.response.status_code': '200',
        'url.path': `/builders/${builderId}/projects`,
      },
      ...{ 'builder_api.request_id': 'traced-request', 'builder_api.region': 'au1' },
      'builder_api.integrator_id': expect.stringMatching(/^intg_/),
    });
  });

  it('are continued by the receiver of a webhook', () => {
    const [, traceId, spanId] = receiver.webhookParent!.split('-');
    const sent = spansOf(traceId!).find((span) => span.spanId === spanId)!;
    expect(pathTo(sent)[0]).toBe('POST /webhook-endpoints/:id/test');
    expect(attributesOf(sent)).toEqual({ 'server.address': '127.0.0.1' });
  });

  it('have the verbs and tables of statements, and no word of their values', () => {
    const summaries = receiver.spans.map((span) => attributesOf(span)['db.query.summary']);
    expect(summaries).toEqual(expect.arrayContaining(['insert meeting', 'update meeting']));
    expect(JSON.stringify(receiver.spans)).not.toMatch(/oldtown|newtown/i);
  });

  it('lead from the request to its operation and from there to its statements', () => {
    const statements = spansOf(TRACE_ID).filter((span) => attributesOf(span)['db.system.name'] === 'postgresql');
    const paths = statements.map(pathTo);
    const operation = paths.filter(([, second]) => second?.startsWith('operation '));
    expect(operation.length).toBeGreaterThan(0);
    for (const [root] of paths) expect(root).toBe('GET /builders/:id/projects');
  });

  it('of GraphQL have the name of the operation, and the statements of every level', () => {
    const request = graphqlTrace.find(({ kind }) => kind === SERVER)!;
    expect(request.parentSpanId ?? '').toBe('');
    expect(attributesOf(request)).toMatchObject({ 'builder_api.operation': 'Sites' });
    const statements = graphqlTrace.map(pathTo).filter(([, second, third]) => second === 'operation graphql' && third);
    expect(statements.length).toBeGreaterThanOrEqual(2);
  });

  it('have the operations of the store, and the statements of MikroORM without their values', () => {
    const names = receiver.spans.map(({ name }) => name);
    expect(names).toContain('store copy');
    expect(names).toContain('insert upload');
    const copy = receiver.spans.find(({ name }) => name === 'store copy')!;
    expect(pathTo(copy).slice(0, 2)).toEqual(['POST /builders/:builderId/photos', 'operation createPhoto']);
    expect(JSON.stringify(receiver.spans)).not.toContain('site.jpg');
  });

  it('have their id in the log lines of the request', () => {
    expect(lines.find(({ requestId }) => requestId === 'traced-request')).toMatchObject({
      msg: 'request',
      traceId: TRACE_ID,
    });
  });

  it('are lost when the service ends and no receiver takes them', async () => {
    const refusing = createServer((_request, response) => response.writeHead(400).end()).listen(0, '127.0.0.1');
    await once(refusing, 'listening');
    const { port } = refusing.address() as AddressInfo;
    const unheard = await startService({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` });
    await unheard.request({ url: '/health/live' });
    await expect(unheard.app.close()).resolves.toBeUndefined();
    await unheard.stop();
    refusing.close();
  });

  it('are not recorded without a receiver', async () => {
    const untraced = await startService();
    expect(tracing).toBeNull();
    await untraced.stop();
  });
});

describe('the log line of a request', () => {
  it('has its operation, integrator, duration and cost', () => {
    const line = lines.find(({ requestId }) => requestId === 'traced-request')!;
    expect(line).toMatchObject({
      ...{ method: 'GET', route: '/builders/:id/projects', status: 200, operation: 'projects' },
      ...{ integratorId: expect.stringMatching(/^intg_/), milliseconds: expect.any(Number) },
    });
    expect(line.cost).toBeGreaterThan(0);
  });
});
