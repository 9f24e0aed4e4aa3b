import type { FastifyInstance } from 'fastify';
import { REGIONS } from '../context.ts';
import type { Databases } from '../database/database.ts';

const PING = { name: 'health.ping', text: 'select 1' };
const DEADLINE_MS = 2_000;

/** `/health/live`: the process answers. `/health/ready`: both regional databases answer too, and it is not about to stop. */
export function registerHealth(app: FastifyInstance, databases: Databases, isStopping = () => false): void {
  app.get('/health/live', async () => ({ status: 'ok' }));
  app.get('/health/ready', async (_request, reply) => {
    const states = await Promise.all(
      REGIONS.map(async (region) => [region, (await answers(databases[region])) ? 'ok' : 'unavailable'] as const),
    );
    const ready = !isStopping() && states.every(([, state]) => state === 'ok');
    return reply
      .code(ready ? 200 : 503)
      .send({ status: ready ? 'ok' : 'unavailable', regions: Object.fromEntries(states) });
  });
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
