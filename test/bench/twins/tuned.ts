/**
 * The same endpoints, written by hand on the service's own statement and transaction runners, with verified tokens remembered
 * until they expire: what the service would be without its schema. It tells what ORM metadata, GraphQL and SOFA cost.
 */
import { StatementRunner } from '../../../src/database/pool/statement-runner.ts';
import { TransactionRunner } from '../../../src/database/write/transaction-runner.ts';
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
import { createTunedLimits } from './tuned-limits.ts';
import { tunedReads } from './tuned-reads.ts';
import { tunedWrites } from './tuned-writes.ts';
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

interface Remembered {
  claims: Claims;
  checkedAt: number;
  grants: Promise<Grants | null>;
}

const remembered = new Map<string, Remembered>();

async function grantsOf(region: Region, claims: Claims): Promise<Grants | null> {
  const [row] = await runners[region].run(GRANTS, grantValues(claims));
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
const door = new Door(
  {
    async recognise(token, region) {
      const name = `${region} ${token}`;
      const now = Date.now();
      let known = remembered.get(name);
      if (!known || now - known.checkedAt >= FRESH_MS) {
        const claims = known?.claims ?? (await verify(token));
        if (!claims) return null;
        known = { claims, checkedAt: now, grants: grantsOf(region, claims) };
        remembered.set(name, known);
      }
      const grants = now < known.claims.exp * 1000 ? await known.grants : null;
      return grants && { claims: known.claims, grants };
    },
    async builderExists(id, region) {
      return (await runners[region].run(BUILDER_EXISTS, [id])).length === 1;
    },
  },
  limits,
);

const app = createService(limits);
tunedReads(app, door, runners);
tunedWrites(app, door, writers, limits);
countUsage(app, (region, values) => runners[region].run(ADD_COUNTS, values));
registerTokens(app, async (clientId, regions) => {
  const [row] = (await Promise.all(regions.map((region) => runners[region].run(CLIENT, [clientId])))).flat();
  if (!row) return undefined;
  const [type, grants, scopes, digests] = row;
  return { type: type!, grants: JSON.parse(grants!), scopes: JSON.parse(scopes!), digests: JSON.parse(digests!) };
});
await listen(app);
