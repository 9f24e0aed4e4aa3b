import type { FastifyInstance } from 'fastify';
import { REGIONS, type RegionId } from '../context.ts';
import type { Databases } from '../database/database.ts';

const PING = { name: 'health.ping', text: 'select 1' };
const DEADLINE_MS = 2_000;

/** `/health/live`: the process answers. `/health/ready`: both regional databases answer too, and it is not about to stop. */
export function registerHealth(app: FastifyInstance, databases: Databases, isStopping = () => false): void {
  const isAnswering = createProbe(databases);
  app.get('/health/live', async () => ({ status: 'ok' }));
  app.get('/health/ready', async (_request, reply) => {
    const states = await Promise.all(
      REGIONS.map(async (region) => [region, (await isAnswering(region)) ? 'ok' : 'unavailable'] as const),
    );
    const ready = !isStopping() && states.every(([, state]) => state === 'ok');
    return reply
      .code(ready ? 200 : 503)
      .send({ status: ready ? 'ok' : 'unavailable', regions: Object.fromEntries(states) });
  });
}

/** Whether a region's database answers. Requests at the same time share a query: anybody may send them, and without a limit. */
function createProbe(databases: Databases): (region: RegionId) => Promise<boolean> {
  const probes = new Map<RegionId, Promise<boolean>>();
  return (region) => {
    let probe = probes.get(region);
    if (!probe) {
      probe = answers(databases[region]).finally(() => probes.delete(region));
      probes.set(region, probe);
    }
    return probe;
  };
}

async function answers(database: Databases['au1']): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), DEADLINE_MS);
  });
  const ping = database.runner.run(PING, []).then(
    () => true,
    () => false,
  );
  const answer = await Promise.race([ping, late]);
  clearTimeout(timer);
  return answer;
}
