/**
 * Program of the service `plain`: Fastify, pg and jose, as an experienced engineer would write these endpoints in a day. Its responses equal
 * those of the measured service byte for byte, after the same checks.
 */
import { createService, listen } from './create-service.ts';
import { pools } from './plain-database.ts';
import { createPlainLimits } from './plain-limits.ts';
import { registerPlainPhotoReports } from './plain-photo-reports.ts';
import { registerPlainReads } from './plain-reads.ts';
import { registerPlainSignOns } from './plain-sign-ons.ts';
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
import { ADD_COUNTS, countUsage } from './usage.ts';

const accessCache = new Map<string, { loadedAt: number; access: Promise<ClientAccess | undefined> }>();

function loadAccess(region: Region, claims: Claims): Promise<ClientAccess | undefined> {
  const cacheKey = `${region} ${claims.jti}`;
  let entry = accessCache.get(cacheKey);
  if (!entry || Date.now() - entry.loadedAt >= ACCESS_CACHE_MS) {
    const query = { ...READ_CLIENT_ACCESS, values: toClientAccessValues(claims) };
    const access = pools[region].query<ClientAccess>(query).then(({ rows }) => rows[0]);
    access.catch(() => accessCache.delete(cacheKey));
    entry = { loadedAt: Date.now(), access };
    accessCache.set(cacheKey, entry);
  }
  return entry.access;
}

const limits = createPlainLimits();
const authorizer = new RequestAuthorizer(
  {
    async authenticate(token, region) {
      const claims = await verifyAccessToken(token, region);
      const access = claims && (await loadAccess(region, claims));
      return access ? { claims: claims!, access } : null;
    },
    async builderExists(id, region) {
      const { rowCount } = await pools[region].query({ ...BUILDER_EXISTS, values: [id] });
      return rowCount === 1;
    },
  },
  limits,
);

const app = createService(limits);
registerPlainReads(app, authorizer);
registerPlainSignOns(app, authorizer, limits);
registerPlainPhotoReports(app, authorizer, limits);
countUsage(app, (region, values) => pools[region].query({ ...ADD_COUNTS, values }));
registerTokenRoute(app, async (clientId, region) => {
  const { rows } = await pools[region].query({ ...FIND_CLIENT, values: [clientId] });
  return rows[0];
});
await listen(app);
