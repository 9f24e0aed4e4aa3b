import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { Databases } from '../../database/database.ts';
import { REGIONS, type RegionId } from '../../shared/regions.ts';
import { rejectOtherMethods } from '../method-not-allowed.ts';

// SQL: a question to the server, not to a table.
const PING = { name: 'health.ping', text: `select current_setting('transaction_read_only')` };
const DEADLINE_MS = 2_000;

/** `read-only` is the state of a database such as a standby: reads and tokens work, writes are 503. */
type State = 'ok' | 'read-only' | 'unavailable';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether a failure of the request is intended, so that the log has no error line for it. */
    isExpectedToFail?: boolean;
  }
}

/**
 * Registers `/health/live`, which reports that the process responds, and `/health/ready`, which also checks the databases and whether the
 * instance is shutting down. An instance with a read-only database is ready: otherwise a load balancer would stop its reads too. The store is
 * not checked, because most operations do not need it.
 */
export async function registerHealth(
  app: FastifyInstance,
  { databases, isStopping }: { databases: Databases; isStopping: () => boolean },
): Promise<void> {
  /** The probe that runs. Concurrent requests share it, because health checks have no rate limit. */
  let probe: Promise<[RegionId, State][]> | undefined;
  const probeAll = () =>
    Promise.all(
      REGIONS.map(async (region): Promise<[RegionId, State]> => [region, await findState(databases, region, app.log)]),
    );
  app.get('/health/live', async () => ({ status: 'ok' }));
  app.get('/health/ready', async (request, reply) => {
    probe ??= probeAll().finally(() => {
      probe = undefined;
    });
    const regions = await probe;
    const draining = isStopping();
    request.isExpectedToFail = draining;
    const status = draining ? 'unavailable' : findWorst(regions.map(([, state]) => state));
    return reply.code(status === 'unavailable' ? 503 : 200).send({ status, regions: Object.fromEntries(regions) });
  });
  rejectOtherMethods(app, ['/health/live', '/health/ready']);
}

const findWorst = (states: State[]): State =>
  (['unavailable', 'read-only'] as const).find((state) => states.includes(state)) ?? 'ok';

/** Returns the state of a region's database: `unavailable`, with the cause in the log, when it fails or does not answer in time. */
async function findState(databases: Databases, region: RegionId, log: FastifyBaseLogger): Promise<State> {
  const late = sleep(DEADLINE_MS, undefined, { ref: false }).then(() => {
    throw new Error(`no answer within ${DEADLINE_MS} ms`);
  });
  try {
    const [row] = await Promise.race([databases[region].runner.run(PING, []), late]);
    return row![0] === 'on' ? 'read-only' : 'ok';
  } catch (err) {
    log.error({ err: (err as Error).cause ?? err, region }, 'the database does not answer');
    return 'unavailable';
  }
}
