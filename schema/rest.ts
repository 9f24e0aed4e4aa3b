import { Extensions } from 'type-graphql';

import type { Scope } from './scopes.ts';

/** The only version of the API. VER-1. */
export const API_VERSION = 'v1';

/** Outcome of a successful write, which determines the status of REST. */
export type Outcome = 'CREATED' | 'ACCEPTED' | 'REPLAYED';

/** Name of a rate-limit budget that single operations charge in addition to that of every request. LIM-2. */
export type Budget = 'sync';

type HttpMethod = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** Deprecation of an operation, with days as `2026-11-22`, in UTC. VER-10. */
export interface Deprecation {
  /** Day of the release that deprecates it. */
  since: string;
  /** Day of its removal, once that is decided: twelve months after `since` at the earliest. */
  sunset?: string;
}

/** REST route of a root field of the schema. */
export interface RestRoute {
  method: HttpMethod;
  /** OpenAPI path template: `/builders/{id}/projects`. */
  path: string;
  /** Required scope, in REST and GraphQL; null where none is required. */
  scope: Scope | null;
  /** Path parameters whose argument has another name: `{ id: 'builderId' }`. */
  params: Record<string, string>;
  /** Status of success. */
  status: number;
  /** Other statuses, by the outcome that the resolver reports. */
  outcomes: Partial<Record<Outcome, number>>;
  /** Maximum bytes of the body. Default: the limit of the server. */
  bodyLimit?: number;
  /** Budget that is charged in addition to that of every request. */
  budget?: Budget;
  /** Codes of the 409 responses. */
  conflicts: string[];
  /** Whether it is for tokens of the client-credentials grant alone. The resolver checks it. */
  clientCredentials?: boolean;
  /** Tag of the operation in the OpenAPI document. */
  tag: string;
  /** Whether it is an addition to v1. */
  extension?: boolean;
  /** Whether the argument `builderId` is a query parameter or a field of the body, as other arguments. */
  builderIsInput?: boolean;
  /** Whether its cursor can expire, which is 410. */
  cursorExpires?: boolean;
  /** Declared together with the `deprecationReason` of the field, which names the replacement. */
  deprecated?: Deprecation;
}

type RestOptions = Pick<RestRoute, 'scope' | 'tag'> &
  Partial<Pick<RestRoute, 'params' | 'status' | 'outcomes' | 'conflicts' | 'bodyLimit' | 'budget'>> &
  Pick<RestRoute, 'clientCredentials' | 'extension' | 'builderIsInput' | 'cursorExpires' | 'deprecated'>;

/**
 * Publishes a query or mutation as a REST operation: `@Rest('GET /builders/{id}', { scope: 'read:builders', tag: 'Builders' })`.
 * The argument `builderId`, if not in the path, is the header `X-Service-Builder-Id`. Every other argument that is not in the path is a
 * query parameter of a GET, a field of the body of a POST or PATCH, and either of a DELETE.
 */
export function Rest(operation: `${HttpMethod} /${string}`, options: RestOptions) {
  const [method, path] = operation.split(' ') as [HttpMethod, string];
  const rest: RestRoute = { method, path, params: {}, status: 200, outcomes: {}, conflicts: [], ...options };
  return Extensions({ rest, scope: options.scope });
}

const typeScopes = new Map<unknown, Scope>();

/** Declares the scope of an operation without REST route, or of a type: each field that returns the type requires it. */
export function Scoped(scope: Scope): ReturnType<typeof Extensions> {
  const declare = Extensions({ scope }) as (target: object, ...member: unknown[]) => void;
  return ((target: object, ...member: unknown[]) => {
    if (member.length === 0) typeScopes.set(target, scope);
    declare(target, ...member);
  }) as ReturnType<typeof Extensions>;
}

/** Returns the scope that an entity's class declares. Throws if it declares none. */
export function getTypeScope(type: new () => object): Scope {
  const scope = typeScopes.get(type);
  if (!scope) throw new Error(`${type.name} declares no scope.`);
  return scope;
}

/** Marks a field that REST responses do not have, such as an edge. */
export function GraphOnly() {
  return Extensions({ graphOnly: true });
}

/** Marks a field of `meta` that REST responses have only when the request has a cursor. */
export function OmittedUnlessCursor() {
  return Extensions({ omittedUnlessCursor: true, extension: true });
}

/** Marks a field that REST omits when it is null; every other absent value is `null`. */
export function OmittedWhenNull() {
  return Extensions({ omittedWhenNull: true });
}
