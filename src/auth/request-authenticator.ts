import type { FastifyReply, FastifyRequest } from 'fastify';
import { idPattern } from '../../schema/ids.ts';
import { API_VERSION, type Budget } from '../../schema/rest.ts';
import { IdempotencyKey } from '../../schema/scalars.ts';
import type { Databases } from '../database/database.ts';
import { Loaders } from '../database/read/loaders.ts';
import type { EventTail } from '../domain/events/event-tail.ts';
import type { WebhookTools } from '../domain/webhooks/webhook-context.ts';
import type { FairShares } from '../limits/fair-shares.ts';
import { toNetwork } from '../network/client-network.ts';
import type { Clock } from '../shared/clock.ts';
import { ApiError, type FieldError, forbidden, invalidField, ValidationError } from '../shared/errors.ts';
import { REGIONS, type RegionId } from '../shared/regions.ts';
import type { Storages } from '../storage/storage.ts';
import type { AccessTokenVerifier } from './access-token-verifier.ts';
import { lookUpBuilder } from './authorization.ts';
import type { Caller } from './caller.ts';
import { waitForEvents } from './event-waits.ts';
import type { RateLimiter } from './rate-limiter.ts';
import type { RequestContext } from './request-context.ts';
import { RequestUsage } from './request-usage.ts';

const BUILDER_ID = idPattern('builder');

/** A request whose token, region and rate limit have been checked. */
export interface AuthenticatedRequest {
  region: RegionId;
  caller: Caller;
  charge: RequestContext['charge'];
}

interface Dependencies {
  tokens: AccessTokenVerifier;
  databases: Databases;
  storages: Storages;
  /** Charged for every request: by client, or by network where the request is not authenticated. */
  limits: RateLimiter;
  /** Budgets of single operations. */
  budgets: Record<Budget, RateLimiter>;
  shares: FairShares;
  uploadQuota: number | null;
  eventTail: EventTail;
  clock: Clock;
  webhooks: WebhookTools;
}

/** Performs the checks of ERR-23 that all requests with an access token share. */
export class RequestAuthenticator {
  readonly #dependencies: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Checks the region header, the access token and the rate limit, in this order, and waits for the share of the caller. Rejects with 400,
   * 401, 429 or 503. Returns a promise only where there is something to wait for: not for most requests, whose token was verified before.
   */
  readonly authenticate = (
    request: FastifyRequest,
    reply: FastifyReply,
  ): AuthenticatedRequest | Promise<AuthenticatedRequest> => {
    const region = findRegion(request);
    const caller = region && this.#dependencies.tokens.findCached(request.headers.authorization, region);
    return caller ? this.limit(request, reply, region, caller) : this.#authenticateWithoutCache(request, reply);
  };

  /** Whether the request has a token that its region accepted a short time ago. */
  isVerified(request: FastifyRequest): boolean {
    const { authorization } = request.headers;
    const region = findRegion(request);
    return (
      authorization !== undefined && region !== undefined && this.#dependencies.tokens.isVerified(authorization, region)
    );
  }

  async #authenticateWithoutCache(request: FastifyRequest, reply: FastifyReply): Promise<AuthenticatedRequest> {
    const { tokens, databases, limits } = this.#dependencies;
    let region: RegionId = REGIONS[0];
    try {
      region = parseRegion(request);
      const caller = await tokens.authenticate(request.headers.authorization, region);
      return await this.limit(request, reply, region, caller);
    } catch (error) {
      const isAnonymous = error instanceof ApiError && (error.status === 400 || error.status === 401);
      if (isAnonymous) await limits.take(databases[region], toNetwork(request.ip), reply);
      throw error;
    }
  }

  /** Charges the request of a caller to its rate limit and waits for its share. Rejects with 429 or 503. */
  limit(
    request: FastifyRequest,
    reply: FastifyReply,
    region: RegionId,
    caller: Caller,
  ): AuthenticatedRequest | Promise<AuthenticatedRequest> {
    const { databases, limits, budgets, shares } = this.#dependencies;
    const database = databases[region];
    request.caller = caller;
    const usage = new RequestUsage(shares, caller.shareKey);
    request.usage = usage;
    const charging = limits.take(database, caller.clientId, reply);
    const waiting = charging ? charging.then(() => usage.begin()) : usage.begin();
    const charged: Record<Budget, number> = { sync: 0 };
    const charge = async (budget: Budget, total = 1) => {
      for (; charged[budget] < total; charged[budget]++) await budgets[budget].take(database, caller.clientId, reply);
    };
    const authenticated = { region, caller, charge };
    return waiting ? waiting.then(() => authenticated) : authenticated;
  }

  /**
   * Checks the version and builder headers and returns the request's context. A missing scope takes precedence: check it before.
   *
   * @param takesKey whether to check `Idempotency-Key` too.
   */
  createContext(
    request: FastifyRequest,
    { region, caller, charge }: AuthenticatedRequest,
    takesKey = false,
  ): RequestContext {
    const builderHeader = parseHeaders(request, caller, takesKey);
    const { tokens, databases, storages, clock, shares, uploadQuota, eventTail, webhooks } = this.#dependencies;
    const usage = request.usage!;
    const database = databases[region].withLimits(usage);
    const { shareKey } = caller;
    caller.storage ??= storages[region].withShareKey(shareKey);
    const { authorization } = request.headers;
    const refreshCaller = () => tokens.authenticate(authorization, region, { bypassCache: true });
    // Without accessors: those of an object literal give each request a hidden class of its own, which V8 keeps, with all that belongs to
    // the request, until a major collection.
    const context: RequestContext = {
      caller,
      builderHeader,
      loaders: new Loaders(database),
      storage: caller.storage,
      requestId: request.id,
      source: {
        actor: { type: 'CLIENT', id: caller.clientId },
        origin: { address: request.ip, requestId: request.id },
      },
      region,
      database,
      clock,
      webhooks,
      shares,
      shareKey,
      meter: usage.meter,
      usage,
      uploadQuota,
      refreshCaller,
      async renewCaller() {
        const before = context.caller;
        context.caller = tokens.findCached(authorization, region) ?? (await tokens.authenticate(authorization, region));
        return context.caller !== before;
      },
      waitForEvents: (...wait) => waitForEvents({ tail: eventTail, usage, region, refreshCaller }, ...wait),
      authorize({ scope = null }, builderId) {
        context.caller.requireScope(scope);
        const isAuthorized = builderId === undefined || context.caller.checkBuilder(builderId, builderHeader, scope);
        return isAuthorized ? undefined : lookUpBuilder(context, builderId, scope);
      },
      charge,
      operation: { name: null, cost: 0 },
    };
    return context;
  }
}

/** Returns the region of the `X-Service-Region-Id` header; `au1` when absent. Throws 400 for an unknown region. */
export function parseRegion(request: FastifyRequest): RegionId {
  const region = findRegion(request);
  if (!region) throw invalidField('X-Service-Region-Id', `must be ${REGIONS.join(' or ')}`);
  return region;
}

function findRegion({ headers }: FastifyRequest): RegionId | undefined {
  const value = headers['x-service-region-id'];
  return value === undefined ? REGIONS[0] : REGIONS.find((region) => region === value);
}

/** Returns the builder header after a check of it and of the others. Throws 400 with all that are wrong, or 403. */
function parseHeaders({ headers }: FastifyRequest, caller: Caller, takesKey: boolean): string | null {
  const version = headers['x-service-api-version'];
  const builderId = headers['x-service-builder-id'] as string | undefined;
  const errors: FieldError[] = [];
  if (version !== undefined && version !== API_VERSION)
    errors.push({ fieldName: 'X-Service-Api-Version', message: `must be ${API_VERSION}` });
  if (builderId !== undefined && !BUILDER_ID.test(builderId))
    errors.push({
      fieldName: 'X-Service-Builder-Id',
      message: 'must be a builder id, such as buil_a0mkq3v8t2n4c7x1p9r5w6yzb',
    });
  const key = headers['idempotency-key'];
  if (takesKey && key !== undefined) {
    try {
      IdempotencyKey.parseValue(key);
    } catch (error) {
      errors.push({ fieldName: 'Idempotency-Key', message: (error as Error).message });
    }
  }
  if (errors.length > 0) throw new ValidationError(errors);
  if (builderId === undefined) return null;
  if (caller.builderId !== null && builderId !== caller.builderId)
    throw forbidden('X-Service-Builder-Id names another builder than the access token.');
  return builderId;
}
