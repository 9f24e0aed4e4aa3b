/**
 * The hand-written service: Fastify, pg and jose, as an engineer who knows them would write these endpoints in a day. It answers
 * byte for byte what the service answers, under the same checks.
 */
import { pools } from './plain-database.ts';
import { createPlainLimits } from './plain-limits.ts';
import { plainReads } from './plain-reads.ts';
import { plainReports } from './plain-reports.ts';
import { plainSignOns } from './plain-sign-ons.ts';
import {
  type Claims,
  createService,
  Door,
  FRESH_MS,
  GRANTS,
  type Grants,
  grantValues,
  listen,
  type Region,
} from './service.ts';
import { BUILDER_EXISTS, CLIENT } from './statements.ts';
import { registerTokens, verify } from './tokens.ts';
import { ADD_COUNTS, countUsage } from './usage.ts';

const remembered = new Map<string, { at: number; grants: Promise<Grants | undefined> }>();

function grantsOf(region: Region, claims: Claims): Promise<Grants | undefined> {
  const name = `${region} ${claims.jti}`;
  let known = remembered.get(name);
  if (!known || Date.now() - known.at >= FRESH_MS) {
    const grants = pools[region].query<Grants>({ ...GRANTS, values: grantValues(claims) }).then(({ rows }) => rows[0]);
    grants.catch(() => remembered.delete(name));
    known = { at: Date.now(), grants };
    remembered.set(name, known);
  }
  return known.grants;
}

const limits = createPlainLimits();
const door = new Door(
  {
    async recognise(token, region) {
      const claims = await verify(token);
      const grants = claims && (await grantsOf(region, claims));
      return grants ? { claims: claims!, grants } : null;
    },
    async builderExists(id, region) {
      const { rowCount } = await pools[region].query({ ...BUILDER_EXISTS, values: [id] });
      return rowCount === 1;
    },
  },
  limits,
);

const app = createService(limits);
plainReads(app, door);
plainSignOns(app, door, limits);
plainReports(app, door, limits);
countUsage(app, (region, values) => pools[region].query({ ...ADD_COUNTS, values }));
registerTokens(app, async (clientId, regions) => {
  const asked = regions.map((region) => pools[region].query({ ...CLIENT, values: [clientId] }));
  return (await Promise.all(asked)).flatMap(({ rows }) => rows)[0];
});
await listen(app);
