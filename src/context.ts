import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Scope } from '../schema/scopes.ts';
import type { Clock } from './clock.ts';
import type { ApiError } from './errors.ts';
import type { FairShares } from './shared/fair-shares.ts';

export const REGIONS = ['au1', 'us1'] as const;
export type RegionId = (typeof REGIONS)[number];

/** Who calls, and what they may reach. Part 4 of the decisions. */
export interface Caller {
  readonly clientId: string;
  readonly clientName: string;
  /** Owner of the client; null for an internal client. */
  readonly integratorId: string | null;
  /** An internal client reaches every builder of its region, through GraphQL only. */
  readonly internal: boolean;
  /** The user of an authorization-code token. */
  readonly userId: string | null;
  /** The one builder of an authorization-code token. */
  readonly builderId: string | null;
  readonly scopes: ReadonlySet<string>;
  /** What the caller's actively connected builders allow, by builder id. Empty for an internal client. */
  readonly connections: ReadonlyMap<string, ReadonlySet<string>>;

  /** Throws 403 `INSUFFICIENT_SCOPE` unless the token carries the scope; null asks for none. */
  requireScope(scope: Scope | null): void;
  /** Whether the builder is connected (whatever the connection's scopes). */
  isConnectedTo(builderId: string): boolean;
  /** Throws unless the connection to this reachable builder allows the scope. */
  requireConnectionScope(builderId: string, scope: Scope | null): void;
  /** The builders in which the scope may be used; null means all of the region. */
  buildersWith(scope: Scope): string[] | null;
}

/** What a resolver says of how the operation ended; the REST projection turns it into the documented status. */
export type Outcome = 'CREATED' | 'ACCEPTED' | 'REPLAYED';

/** What a request may hold until its response has ended. */
export interface Usage {
  /** Waits until the request may hold large values; rejects with 429 or 503. */
  acquireLargeRead(): Promise<void>;
  /** Calls the function when the response has ended, whether or not the client received it. */
  onEnd(release: () => void): void;
}

/** A request budget of its own that an operation takes from. Part 12 of the decisions. */
export type Budget = 'sync';

/** What every resolver is given. One per HTTP request. */
export interface RequestContext<Database = unknown, Loaders = unknown, Storage = unknown, Meter = unknown> {
  readonly requestId: string;
  readonly region: RegionId;
  readonly caller: Caller;
  /** Value of `X-Service-Builder-Id`, checked for its shape. */
  readonly builderHeader: string | null;
  readonly database: Database;
  readonly loaders: Loaders;
  /** Bytes of the region, and signed URLs to them. */
  readonly storage: Storage;
  readonly clock: Clock;
  /** The limits that callers share, and the share that this request is charged to. */
  readonly shares: FairShares;
  readonly shareKey: string;
  /** Counts what the response is built of. */
  readonly meter: Meter;
  /** What the request holds of the limits until its response has ended. */
  readonly usage: Usage;
  /** Bytes that unused uploads of an integrator may take; null for any number. */
  readonly uploadQuota: number | null;
  /** Takes one request from the budget; throws 429 when it is spent. */
  readonly spend: (budget: Budget) => Promise<void>;
  /** Whether the budget of an operation was taken from before the body was read; the first that is called has it for itself. */
  spent?: boolean;
  /** Set when the body is larger than most operations accept: what they reject it with. */
  largeBody?: ApiError;
  outcome?: Outcome;
  /** Name of the GraphQL operation, once it is known. */
  operationName?: string | null;
}

/** Who came in, and to which region. */
export interface Visit {
  region: RegionId;
  caller: Caller;
  spend: (budget: Budget) => Promise<void>;
}

/** The checks that come before an operation's own, in the order of part 3 of the decisions. */
export interface Entrance<Context = RequestContext> {
  /** Region value, authentication, rate limit. */
  enter(request: FastifyRequest, reply: FastifyReply): Promise<Visit>;
  /** The other headers: version and builder. To be called once the scope is known to be there. */
  context(request: FastifyRequest, visit: Visit): Context;
}

/** The only version of the API. Part 9 of the specification. */
export const API_VERSION = 'v1';
