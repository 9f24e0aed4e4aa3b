import { Extensions } from 'type-graphql';

import type { Scope } from './scopes.ts';

/** The only version of the API. VER-1. */
export const API_VERSION = 'v1';

/** What a resolver reports about a write that succeeded; REST maps it to the documented status. */
export type Outcome = 'CREATED' | 'ACCEPTED' | 'REPLAYED';

/** A rate-limit budget that an operation charges beside the budget of every request. LIM-2. */
export type Budget = 'sync';

export type HttpMethod = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** How a root field of the schema is seen through REST. */
export interface RestRoute {
  method: HttpMethod;
  /** OpenAPI path template: `/builders/{id}/projects`. */
  path: string;
  /** Scope of the operation, through REST and GraphQL alike; null says in so many words that it needs none. */
  scope: Scope | null;
  /** Path parameters whose argument has another name: `{ id: 'builderId' }`. */
  params: Record<string, string>;
  /** Success status, and the one for each outcome that a resolver may report. */
  status: number;
  outcomes: Partial<Record<Outcome, number>>;
  /** Most bytes of a body, where it is not the usual limit. */
  bodyLimit?: number;
  /** Request budget of its own, beside the one of every request. */
  budget?: Budget;
  /** Codes of the 409 answers. */
  conflicts: string[];
  /** Heading of the reference under which the operation stands. */
  tag: string;
}

type RestOptions = Pick<RestRoute, 'scope' | 'tag'> &
  Partial<Pick<RestRoute, 'params' | 'status' | 'outcomes' | 'conflicts' | 'bodyLimit' | 'budget'>>;

/**
 * Publishes a query or mutation as a REST operation: `@Rest('GET /builders/{id}', { scope: 'read:builders', tag: 'Builders' })`.
 * An argument named `builderId` that is not in the path is taken from `X-Service-Builder-Id`; every other argument that is
 * not in the path is a query parameter of a GET, a field of the body otherwise, and of a DELETE either.
 */
export function Rest(operation: `${HttpMethod} /${string}`, options: RestOptions) {
  const [method, path] = operation.split(' ') as [HttpMethod, string];
  const rest: RestRoute = { method, path, params: {}, status: 200, outcomes: {}, conflicts: [], ...options };
  return Extensions({ rest, scope: options.scope });
}

/** Scope of an operation that GraphQL alone has, or of a type: each field that leads to the type needs it. */
export function Scoped(scope: Scope) {
  return Extensions({ scope });
}

/** Marks a field that GraphQL alone has, such as an edge of the graph: REST answers do not carry it. */
export function GraphOnly() {
  return Extensions({ graphOnly: true });
}

/** Marks a field that REST leaves out of the answer when it has no value (every other absent value is `null`). */
export function OmittedWhenNull() {
  return Extensions({ omittedWhenNull: true });
}
