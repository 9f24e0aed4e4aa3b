/**
 * Program of the service `tuned`: the same endpoints, written by hand on the measured service's own statement and transaction runners, with
 * a cache of verified tokens. The difference to the measured service is the cost of ORM metadata, GraphQL and SOFA.
 */
import { StatementRunner } from '../../../src/database/pool/statement-runner.ts';
import { TransactionRunner } from '../../../src/database/write/transaction-runner.ts';
import { createService, listen } from './create-service.ts';
import { BUILDER_EXISTS, FIND_CLIENT } from './read-statements.ts';
import {
  ACCESS_CACHE_MS,
  type Claims,
  type ClientAccess,
  READ_CLIENT_ACCESS,
  type Region,
  RequestAuthorizer,
  toClientAccessValues,
} from './request-authorizer.ts';
import { registerTokenRoute, verifyAccessToken } from './tokens.ts';
import { createTunedLimits } from './tuned-limits.ts';
import { registerTunedReads } from './tuned-reads.ts';
import { registerTunedWrites } from './tuned-writes.ts';
import { ADD_COUNTS, countUsage } from './usage.ts';

const { DATABASE_URL_AU1, DATABASE_URL_US1 } = process.env;

const runners: Record<Region, StatementRunner> = {
  au1: new StatementRunner(DATABASE_URL_AU1!),
  us1: new StatementRunner(DATABASE_URL_US1!),
};
const writers: Record<Region, TransactionRunner> = {
  au1: new TransactionRunner(DATABASE_URL_AU1!),
  us1: new TransactionRunner(DATABASE_URL_US1!),
};

interface CachedToken {
  claims: Claims;
  checkedAt: number;
  access: Promise<ClientAccess | null>;
}

const tokenCache = new Map<string, CachedToken>();

async function loadAccess(region: Region, claims: Claims): Promise<ClientAccess | null> {
  const [row] = await runners[region].run(READ_CLIENT_ACCESS, toClientAccessValues(claims));
  if (!row) return null;
  const [integrator_id, internal, scopes, connections] = row;
  return {
    integrator_id: integrator_id!,
    internal: internal === 't',
    scopes: JSON.parse(scopes!),
    connections: JSON.parse(connections!),
  };
}

const limits = createTunedLimits();
const authorizer = new RequestAuthorizer(
  {
    async authenticate(token, region) {
      const cacheKey = `${region} ${token}`;
      const now = Date.now();
      let cached = tokenCache.get(cacheKey);
      if (!cached || now - cached.checkedAt >= ACCESS_CACHE_MS) {
        const claims = cached?.claims ?? (await verifyAccessToken(token, region));
        if (!claims) return null;
        cached = { claims, checkedAt: now, access: loadAccess(region, claims) };
        tokenCache.set(cacheKey, cached);
      }
      const access = now < cached.claims.exp * 1000 ? await cached.access : null;
      return access && { claims: cached.claims, access };
    },
    async builderExists(id, region) {
      return (await runners[region].run(BUILDER_EXISTS, [id])).length === 1;
    },
  },
  limits,
);

const app = createService(limits);
registerTunedReads(app, authorizer, runners);
registerTunedWrites(app, authorizer, writers, limits);
countUsage(app, (region, values) => runners[region].run(ADD_COUNTS, values));
registerTokenRoute(app, async (clientId, region) => {
  const [row] = await runners[region].run(FIND_CLIENT, [clientId]);
  if (!row) return undefined;
  const [type, grants, scopes, digests] = row;
  return { type: type!, grants: JSON.parse(grants!), scopes: JSON.parse(scopes!), digests: JSON.parse(digests!) };
});
await listen(app);
