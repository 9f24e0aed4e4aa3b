import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../../resolvers/context.ts';
import { Loaders } from '../../resolvers/loaders/loaders.ts';
import { ResponseMeter } from '../../schema/response-meter.ts';
import type { Clock } from '../clock.ts';
import {
  API_VERSION,
  type Budget,
  type Caller,
  type Entrance,
  REGIONS,
  type RegionId,
  type Visit,
} from '../context.ts';
import type { Databases } from '../database/database.ts';
import { ApiError, forbidden, invalidField } from '../errors.ts';
import { idPattern } from '../ids.ts';
import { networkOf } from '../network.ts';
import type { FairShares } from '../shared/fair-shares.ts';
import { RequestUsage } from '../shared/request-usage.ts';
import type { Storages } from '../storage/storage.ts';
import type { Access } from './access.ts';
import type { RateLimiter } from './limits.ts';

interface EntranceParts {
  access: Access;
  databases: Databases;
  storages: Storages;
  limits: RateLimiter;
  budgets: Record<Budget, RateLimiter>;
  shares: FairShares;
  uploadQuota: number | null;
  clock: Clock;
}

export class TokenEntrance implements Entrance<Context> {
  readonly #parts: EntranceParts;

  constructor(parts: EntranceParts) {
    this.#parts = parts;
  }

  async enter(request: FastifyRequest, reply: FastifyReply): Promise<Visit> {
    const { access, databases, limits, budgets } = this.#parts;
    let region: RegionId = REGIONS[0];
    try {
      region = regionOf(request);
      const caller = await access.authenticate(request.headers.authorization, region);
      await limits.take(databases[region], caller.clientId, reply);
      request.usage = new RequestUsage(this.#parts.shares, shareKeyOf(caller));
      const waiting = request.usage.begin();
      if (waiting) await waiting;
      const database = databases[region];
      const spend = (budget: Budget) => budgets[budget].take(database, caller.clientId, reply);
      return { region, caller, spend };
    } catch (error) {
      const unknown = error instanceof ApiError && (error.status === 400 || error.status === 401);
      if (unknown) await limits.take(databases[region], networkOf(request.ip), reply);
      throw error;
    }
  }

  context(request: FastifyRequest, { region, caller, spend }: Visit): Context {
    const version = request.headers['x-service-api-version'];
    if (version !== undefined && version !== API_VERSION) {
      throw invalidField('X-Service-Api-Version', `must be ${API_VERSION}`);
    }
    const usage = request.usage!;
    const meter = new ResponseMeter();
    const database = this.#parts.databases[region].within({
      acquireLargeRead: () => usage.acquireLargeRead(),
      hold: (bytes) => {
        usage.hold(bytes);
        meter.hold(bytes);
      },
      runSlowRead: (read) => usage.runSlowRead(read),
      runTransaction: (transaction) => usage.runTransaction(transaction),
      runWrite: (transaction) => usage.runWrite(transaction),
    });
    return {
      requestId: request.id,
      region,
      caller,
      builderHeader: builderHeaderOf(request, caller),
      database,
      loaders: new Loaders(database),
      storage: this.#parts.storages[region].issuedTo(shareKeyOf(caller)),
      clock: this.#parts.clock,
      shares: this.#parts.shares,
      shareKey: shareKeyOf(caller),
      meter,
      usage,
      uploadQuota: this.#parts.uploadQuota,
      spend,
    };
  }
}

/** Region of the `X-Service-Region-Id` header; `au1` when absent, 400 when it is none of ours. */
export function regionOf(request: FastifyRequest): RegionId {
  const value = request.headers['x-service-region-id'] ?? REGIONS[0];
  if (!(REGIONS as readonly unknown[]).includes(value)) {
    throw invalidField('X-Service-Region-Id', `must be ${REGIONS.join(' or ')}`);
  }
  return value as RegionId;
}

function builderHeaderOf(request: FastifyRequest, caller: Caller): string | null {
  const value = request.headers['x-service-builder-id'];
  if (value === undefined) return null;
  if (typeof value !== 'string' || !idPattern('builder').test(value)) {
    throw invalidField('X-Service-Builder-Id', 'must be a builder id, such as buil_a0mkq3v8t2n4c7x1p9r5w6yzb');
  }
  if (caller.builderId !== null && value !== caller.builderId) {
    throw forbidden('X-Service-Builder-Id names another builder than the access token.');
  }
  return value;
}

/** The share that a caller's requests are charged to: its integrator's, or that of an internal client. */
const shareKeyOf = ({ integratorId, clientId }: Caller): string => integratorId ?? clientId;
