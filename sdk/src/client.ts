import createFetchClient from 'openapi-fetch';
import { type FollowOptions, followEvents } from './events.ts';
import type { paths } from './generated/openapi.ts';
import { type Api, getRetryPolicy, OPERATIONS, type Operation, type Pages, toRequestParts } from './operations.ts';
import { createPhotoUploads } from './photos.ts';
import { createSnapshotDownloads } from './snapshots.ts';
import { type Get, type SyncStore, synchronize } from './sync.ts';
import { type ClientCredentials, createAuthorization, type UserCredentials } from './tokens.ts';
import { type Authorization, type CallOptions, Transport, type TransportOptions } from './transport.ts';

export interface ClientOptions extends TransportOptions {
  /** Address of the API, such as `https://api.example.com`. */
  baseUrl: string;
  /** The API's public address, where that is not `baseUrl`. */
  audience?: string;
  /** Region of the credentials. Default `au1`. */
  region?: 'au1' | 'us1';
}

/** Returns a client that acts with an application's own credentials, or in the name of a person who has consented. */
export function createClient(options: ClientOptions & (ClientCredentials | UserCredentials)) {
  const { region = 'au1' } = options;
  const baseUrl = options.baseUrl.replace(/\/+$/, '');
  const transport = new Transport(options);
  const endpoint = { baseUrl, audience: options.audience ?? baseUrl, region, transport };
  const authorization = createAuthorization(endpoint, options);
  const { api, get } = createApi({ baseUrl, region, transport, authorization });
  const follow = (followOptions?: FollowOptions) => followEvents(api, followOptions);
  const { download } = createSnapshotDownloads(api, transport);
  return {
    ...api,
    photos: { ...api.photos, ...createPhotoUploads(api, transport) },
    events: { ...api.events, follow },
    snapshots: { ...api.snapshots, download },
    /** Keeps a copy of everything that the client reads: yields after each step, and goes on until the signal ends it. */
    sync: (store: SyncStore, callOptions: CallOptions = {}) =>
      synchronize({ get, follow, download }, store, callOptions),
  };
}

export type Client = ReturnType<typeof createClient>;

interface Connection {
  baseUrl: string;
  region: string;
  transport: Transport;
  authorization: Authorization;
}

/** Long polls take up to 20 seconds. */
const WAIT_MS = 20_000;

/** Returns one method for each operation of the table. */
function createApi({ baseUrl, region, transport, authorization }: Connection): { api: Api; get: Get } {
  const client = createFetchClient<paths>({ baseUrl, headers: { 'x-service-region-id': region } });

  async function call(operation: Operation, parameters: Record<string, unknown> = {}, options: CallOptions = {}) {
    const { path, query, header, body } = toRequestParts(operation, parameters);
    const timeoutMs = options.timeoutMs ?? ('wait' in query ? WAIT_MS * 2 : undefined);
    // The table's types have been checked; openapi-fetch knows no union of paths.
    const request = client.request as (method: string, path: string, init: object) => Promise<{ data?: unknown }>;
    const { data } = await request(operation.method, operation.path, {
      params: { path, query },
      headers: header,
      body,
      fetch: (sent: Request) =>
        transport.send(sent, getRetryPolicy(operation), { signal: options.signal, timeoutMs }, authorization),
    });
    return data;
  }

  const toMethod = (operation: Operation) =>
    operation.kind === 'pages'
      ? (parameters?: Record<string, unknown>, options?: CallOptions) =>
          createPages((cursor) => call(operation, { ...parameters, ...cursor }, options))
      : (parameters?: Record<string, unknown>, options?: CallOptions) => call(operation, parameters, options);
  const api = Object.entries(OPERATIONS).map(([resource, operations]) => [
    resource,
    Object.fromEntries(Object.entries(operations).map(([name, operation]) => [name, toMethod(operation)])),
  ]);
  const get: Get = async (path, builderId, options) => {
    const headers = { 'x-service-region-id': region, ...(builderId && { 'x-service-builder-id': builderId }) };
    const response = await transport.send(new Request(baseUrl + path, { headers }), 'always', options, authorization);
    return response.json();
  };
  return { api: Object.fromEntries(api) as Api, get };
}

interface AnyPage {
  data: unknown[];
  /** Lists of changes have a cursor after the last page too, and `hasMore`. */
  meta: { nextCursor: string | null; hasMore?: boolean };
}

/** Reads page after page by cursor, which takes the same time wherever the page is. */
function createPages(read: (cursor?: { cursor: string }) => Promise<unknown>): Pages<unknown, unknown> {
  return {
    page: () => read(),
    async *[Symbol.asyncIterator]() {
      for (let cursor: string | null = ''; cursor !== null; ) {
        const page = (await read({ cursor })) as AnyPage;
        yield* page.data;
        cursor = page.meta.hasMore === false ? null : page.meta.nextCursor;
      }
    },
  };
}
