import type { FastifyInstance } from 'fastify';
import type { Databases } from '../database/database.ts';
import { REGIONS, type RegionId } from '../shared/regions.ts';

const PING = { name: 'health.ping', text: `select current_setting('transaction_read_only')` };
const DEADLINE_MS = 2_000;

/** `read-only` is the state of a database such as a standby: reads and tokens work, writes are 503. */
type State = 'ok' | 'read-only' | 'unavailable';

/**
 * Registers `/health/live`, which reports that the process responds, and `/health/ready`, which also checks the databases and whether the
 * instance is shutting down. An instance with a read-only database is ready: otherwise a load balancer would stop its reads too.
 */
export function registerHealth(app: FastifyInstance, databases: Databases, isStopping = () => false): void {
  const probe = createProbe(databases);
  app.get('/health/live', async () => ({ status: 'ok' }));
  app.get('/health/ready', async (_request, reply) => {
    const states = await Promise.all(REGIONS.map(async (region) => [region, await probe(region)] as const));
    const status = isStopping() ? 'unavailable' : worst(states.map(([, state]) => state));
    return reply.code(status === 'unavailable' ? 503 : 200).send({ status, regions: Object.fromEntries(states) });
  });
}

/** Returns a function for the state of a region's database. Concurrent requests share a query, because health checks have no rate limit. */
function createProbe(databases: Databases): (region: RegionId) => Promise<State> {
  const probes = new Map<RegionId, Promise<State>>();
  return (region) => {
    let probe = probes.get(region);
    if (!probe) {
      probe = queryState(databases[region]).finally(() => probes.delete(region));
      probes.set(region, probe);
    }
    return probe;
  };
}

const worst = (states: State[]): State =>
  (['unavailable', 'read-only'] as const).find((state) => states.includes(state)) ?? 'ok';

async function queryState(database: Databases['au1']): Promise<State> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<State>((resolve) => {
    timer = setTimeout(() => resolve('unavailable'), DEADLINE_MS);
  });
  const ping = database.runner.run(PING, []).then(
    ([row]): State => (row![0] === 'on' ? 'read-only' : 'ok'),
    (): State => 'unavailable',
  );
  const state = await Promise.race([ping, timeout]);
  clearTimeout(timer);
  return state;
}
