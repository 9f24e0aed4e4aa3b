import type { FastifyInstance } from 'fastify';
import type { Databases } from '../database/database.ts';
import { REGIONS, type RegionId } from '../shared/regions.ts';

const PING = { name: 'health.ping', text: `select current_setting('transaction_read_only')` };
const DEADLINE_MS = 2_000;

/** `read-only` is what a database answers that takes no writes, such as a standby: reads and tokens work, writes are 503. */
type State = 'ok' | 'read-only' | 'unavailable';

/**
 * `/health/live`: the process answers. `/health/ready`: both regional databases answer too, and it is not about to stop. A
 * database that is read-only leaves it ready, because a balancer that turned away would stop the reads as well.
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

/** The state of a region's database. Requests at the same time share a query: anybody may send them, and without a limit. */
function createProbe(databases: Databases): (region: RegionId) => Promise<State> {
  const probes = new Map<RegionId, Promise<State>>();
  return (region) => {
    let probe = probes.get(region);
    if (!probe) {
      probe = stateOf(databases[region]).finally(() => probes.delete(region));
      probes.set(region, probe);
    }
    return probe;
  };
}

const worst = (states: State[]): State =>
  (['unavailable', 'read-only'] as const).find((state) => states.includes(state)) ?? 'ok';

async function stateOf(database: Databases['au1']): Promise<State> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<State>((resolve) => {
    timer = setTimeout(() => resolve('unavailable'), DEADLINE_MS);
  });
  const ping = database.runner.run(PING, []).then(
    ([row]): State => (row![0] === 'on' ? 'read-only' : 'ok'),
    (): State => 'unavailable',
  );
  const answer = await Promise.race([ping, late]);
  clearTimeout(timer);
  return answer;
}
