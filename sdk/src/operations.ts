import type { paths } from './generated/openapi.ts';
import type { CallOptions, RetryPolicy } from './transport.ts';

/**
 * The JSON operations of v1 by resource. The types of their parameters, bodies and results are those that are generated from the OpenAPI
 * document; `AllOperations` below does not compile when one is missing.
 */
export const OPERATIONS = {
  identity: { get: op('get', '/me') },
  builders: { list: op('get', '/builders', 'pages'), get: op('get', '/builders/{id}') },
  projects: {
    list: op('get', '/builders/{id}/projects', 'pages'),
    get: op('get', '/builders/{id}/projects/{projectId}'),
  },
  subcontractors: {
    list: op('get', '/subcontractors', 'pages'),
    get: op('get', '/subcontractors/{id}'),
    listProjects: op('get', '/subcontractors/{id}/projects', 'pages'),
    listContacts: op('get', '/subcontractors/{id}/contacts', 'pages'),
  },
  swms: {
    list: op('get', '/subcontractors/{id}/swms', 'pages'),
    get: op('get', '/subcontractors/{id}/swms/{swmsDocId}'),
  },
  prequalifications: {
    list: op('get', '/subcontractors/{id}/prequalifications', 'pages'),
    get: op('get', '/subcontractors/{id}/prequalifications/{prequalId}'),
  },
  insurances: {
    list: op('get', '/subcontractors/{id}/insurances', 'pages'),
    get: op('get', '/subcontractors/{id}/insurances/{insuranceId}'),
  },
  inductions: {
    list: op('get', '/builders/{builderId}/projects/{projectId}/inductions', 'pages'),
    get: op('get', '/builders/{builderId}/projects/{projectId}/inductions/{identifierOrId}'),
    listOfSubcontractor: op('get', '/subcontractors/{id}/inductions', 'pages'),
  },
  timesheets: {
    list: op('get', '/timesheets', 'pages'),
    get: op('get', '/timesheets/{timesheetId}'),
    costCodes: op('get', '/timesheets/cost-codes'),
    timeTypes: op('get', '/timesheets/time-types'),
  },
  photoFolders: {
    list: op('get', '/builders/{builderId}/photo-folders', 'pages'),
    get: op('get', '/builders/{builderId}/photo-folders/{folderId}'),
    create: op('post', '/builders/{builderId}/photo-folders', 'key'),
    update: op('patch', '/builders/{builderId}/photo-folders/{folderId}'),
    delete: op('delete', '/builders/{builderId}/photo-folders/{folderId}'),
  },
  photos: {
    list: op('get', '/builders/{builderId}/photos', 'pages'),
    get: op('get', '/builders/{builderId}/photos/{photoId}'),
    create: op('post', '/builders/{builderId}/photos', 'key'),
    update: op('patch', '/builders/{builderId}/photos/{photoId}'),
    delete: op('delete', '/builders/{builderId}/photos/{photoId}'),
    bulkUpsert: op('post', '/builders/{builderId}/photo-gallery/bulk-upsert'),
    bulkDelete: op('delete', '/builders/{builderId}/photo-gallery/bulk-upsert', 'body'),
    presign: op('post', '/builders/{builderId}/attachments/presign'),
  },
  photoReports: {
    sync: op('post', '/builders/{builderId}/photo-reports/sync'),
    update: op('patch', '/builders/{builderId}/photo-reports/sync'),
    archive: op('delete', '/builders/{builderId}/photo-reports/sync', 'body'),
  },
  meetings: {
    list: op('get', '/builders/{builderId}/meetings', 'pages'),
    create: op('post', '/builders/{builderId}/meetings', 'key'),
    update: op('patch', '/builders/{builderId}/meetings/{meetingId}'),
    start: op('post', '/builders/{builderId}/meetings/{meetingId}/start'),
    end: op('post', '/builders/{builderId}/meetings/{meetingId}/end'),
    listNotes: op('get', '/builders/{builderId}/meetings/{meetingId}/notes', 'pages'),
    syncNote: op('post', '/builders/{builderId}/meetings/{meetingId}/notes'),
  },
  defects: {
    list: op('get', '/builders/{builderId}/defects', 'pages'),
    get: op('get', '/builders/{builderId}/defects/{defectId}'),
  },
  siteAccess: { list: op('get', '/builders/{builderId}/projects/{projectId}/site-access', 'pages') },
  signOnEvents: {
    record: op('post', '/builders/{builderId}/projects/{projectId}/sign-on-events'),
    list: op('get', '/builders/{builderId}/projects/{projectId}/sign-on-events', 'pages'),
    get: op('get', '/builders/{builderId}/projects/{projectId}/sign-on-events/{signOnEventId}'),
  },
  signOnConflicts: { list: op('get', '/builders/{builderId}/projects/{projectId}/sign-on-conflicts', 'pages') },
  events: { page: op('get', '/events') },
  requestLog: { page: op('get', '/request-log'), usage: op('get', '/usage') },
  webhookEndpoints: {
    list: op('get', '/webhook-endpoints'),
    get: op('get', '/webhook-endpoints/{id}'),
    create: op('post', '/webhook-endpoints'),
    update: op('patch', '/webhook-endpoints/{id}'),
    delete: op('delete', '/webhook-endpoints/{id}'),
    deliveries: op('get', '/webhook-endpoints/{id}/deliveries'),
    replay: op('post', '/webhook-endpoints/{id}/replay', 'once'),
    rotateSecret: op('post', '/webhook-endpoints/{id}/rotate-secret', 'once'),
    test: op('post', '/webhook-endpoints/{id}/test', 'once'),
  },
  snapshots: {
    list: op('get', '/snapshots', 'pages'),
    create: op('post', '/snapshots', 'key'),
    get: op('get', '/snapshots/{id}'),
    delete: op('delete', '/snapshots/{id}'),
  },
} as const;

type Method = 'get' | 'post' | 'patch' | 'delete';

/**
 * `pages`: a list with cursors. `key`: a create without a natural key, which gets an `Idempotency-Key`. `once`: must not be executed twice.
 * `body`: a DELETE whose parameters are in its body.
 */
type Kind = 'pages' | 'key' | 'once' | 'body' | 'plain';

export interface Operation<P extends keyof paths = keyof paths, M extends Method = Method, K extends Kind = Kind> {
  method: M;
  path: P;
  kind: K;
}

function op<P extends keyof paths, M extends Method & keyof paths[P], K extends Kind = 'plain'>(
  method: M,
  path: P,
  kind: K = 'plain' as K,
): Operation<P, M, K> {
  return { method, path, kind };
}

type Resources = typeof OPERATIONS;

/** Routes that are no JSON operations of a client: OAuth, transfers of bytes, and health. */
type OtherPath =
  | `/oauth/${string}`
  | `/.well-known/${string}`
  | `/health/${string}`
  | `/storage/${string}`
  | `/builders/{builderId}/attachments/${'upload' | 'bulk-upload'}`;

type Route<O> = O extends Operation<infer P, infer M> ? `${M} ${P}` : never;
type RouteOfTable = { [R in keyof Resources]: Route<Resources[R][keyof Resources[R]]> }[keyof Resources];
type RouteOfContract = {
  [P in Exclude<keyof paths, OtherPath>]: {
    [M in Method]: paths[P] extends Record<M, { responses: unknown }> ? `${M} ${P}` : never;
  }[Method];
}[Exclude<keyof paths, OtherPath>];
/** Does not compile when an operation of the contract is not in the table. */
export const allOperations: Exclude<RouteOfContract, RouteOfTable> extends never ? true : never = true;

type Definition<P extends keyof paths, M> = paths[P][M & keyof paths[P]];
type Json<C> = C extends { content: { 'application/json': infer B } } ? B : never;
type Success = 200 | 201 | 202;
/** The JSON of the successful responses; undefined for 204. */
type Result<D> = D extends { responses: infer R }
  ? { [S in keyof R & Success]: Json<R[S]> }[keyof R & Success] extends infer B
    ? [B] extends [never]
      ? undefined
      : B
    : never
  : never;

/** Name of the parameter `id` of a path: `webhookEndpointId` of `/webhook-endpoints/{id}`. */
type IdName<P> = P extends `/${infer R}s/{id}${string}`
  ? `${R extends `${infer First}-${infer Second}` ? `${First}${Capitalize<Second>}` : R}Id`
  : never;
type RenameId<P, T> = { [N in keyof T as N extends 'id' ? IdName<P> : N]: T[N] };
type Path<P, D> = D extends { parameters: { path: infer T } } ? RenameId<P, T> : unknown;
type Query<D> = D extends { parameters: { query?: infer T } } ? (T extends object ? T : unknown) : unknown;
type Body<D> = D extends { requestBody?: infer B }
  ? NonNullable<B> extends infer C
    ? [Json<C>] extends [never]
      ? unknown
      : Json<C>
    : never
  : unknown;
/** The builder of the header, where no path, query or body names it. */
type BuilderHeader<P> = P extends '/timesheets' | `/timesheets/${string}` | '/subcontractors'
  ? { builderId: string }
  : P extends `/subcontractors/${string}`
    ? { builderId?: string }
    : unknown;

/** Parameters of an operation: those of path, query, header and body as one object. */
export type Parameters<O> =
  O extends Operation<infer P, infer M, infer K>
    ? Path<P, Definition<P, M>> &
        BuilderHeader<P> &
        (K extends 'body' ? Body<Definition<P, M>> : Query<Definition<P, M>> & Body<Definition<P, M>>) &
        (K extends 'key' ? { idempotencyKey?: string } : unknown)
    : never;

type Item<R> = R extends { data: (infer T)[] } ? T : never;

/**
 * The method of an operation. Parameters may be left out where none is required. A deletion gives undefined when it is not known what was
 * deleted: the response of the first attempt was lost.
 */
export type Call<O> =
  O extends Operation<infer P, infer M, infer K>
    ? Result<Definition<P, M>> extends infer R
      ? (
          ...args: object extends Parameters<O>
            ? [parameters?: Parameters<O>, options?: CallOptions]
            : [parameters: Parameters<O>, options?: CallOptions]
        ) => K extends 'pages'
          ? Pages<Item<R>, R>
          : Promise<M extends 'delete' ? (K extends 'body' ? R : R | undefined) : R>
      : never
    : never;

/** A list: all its records by `for await`, or one page. */
export interface Pages<T, P> extends AsyncIterable<T> {
  /** Returns the page of the parameters `cursor` or `offset`; the first one without them. */
  page(): Promise<P>;
}

export type Api = { [R in keyof Resources]: { [N in keyof Resources[R]]: Call<Resources[R][N]> } };

/** Returns what may be done after a lost response. Creates with a key, syncs and PATCH give the same result when they are repeated. */
export function getRetryPolicy({ method, kind }: Operation): RetryPolicy {
  if (kind === 'once') return 'rejected';
  return method === 'delete' && kind !== 'body' ? 'delete' : 'always';
}

interface RequestParts {
  path: Record<string, unknown>;
  query: Record<string, unknown>;
  header: Record<string, string>;
  body?: Record<string, unknown>;
}

const toIdName = (path: string) =>
  `${path.slice(1, path.indexOf('s/{id}')).replace(/-(.)/, (_, letter: string) => letter.toUpperCase())}Id`;

/** Distributes parameters to path, header, query and body. */
export function toRequestParts({ method, path, kind }: Operation, parameters: Record<string, unknown>): RequestParts {
  const rest = { ...parameters };
  const take = (name: string) => {
    const { [name]: value } = rest;
    delete rest[name];
    return value;
  };
  const parts: RequestParts = { path: {}, query: {}, header: {} };
  for (const [, name] of path.matchAll(/\{(\w+)\}/g)) {
    parts.path[name!] = take(name === 'id' ? toIdName(path) : name!);
  }
  if (/^\/(timesheets|subcontractors)/.test(path) && rest.builderId !== undefined)
    parts.header['x-service-builder-id'] = String(take('builderId'));
  if (kind === 'key') parts.header['idempotency-key'] = String(take('idempotencyKey') ?? crypto.randomUUID());
  if (method === 'get' || (method === 'delete' && kind !== 'body')) parts.query = rest;
  else parts.body = rest;
  return parts;
}
