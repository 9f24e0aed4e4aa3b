import type { FastifyInstance } from 'fastify';
import type { Config } from '../../config.ts';
import type { Databases } from '../../database/database.ts';
import { REGIONS, type RegionId } from '../../shared/regions.ts';
import type { Storages } from '../../storage/storage.ts';
import { rejectOtherMethods } from '../method-not-allowed.ts';
import { hasMetricsToken } from '../metrics/metrics.ts';

// SQL: a question to the server, not to a table.
const PING = { name: 'health.ping', text: `select current_setting('transaction_read_only')` };
const DEADLINE_MS = 2_000;

/** Key that no object has: asking for it reaches the store. */
const PROBE_KEY = 'uploads/health-probe';

/** `read-only` is the state of a database such as a standby: reads and tokens work, writes are 503. */
type State = 'ok' | 'read-only' | 'unavailable';

/** State of a database or store, with what the operator needs to find the cause. */
interface ComponentState {
  state: State;
  milliseconds: number;
  /** Message of the failure; absent for a component that answers. */
  error?: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether a failure of the request is intended, so that the log has no error line for it. */
    isExpectedToFail?: boolean;
  }
}

interface Dependencies {
  config: Config;
  databases: Databases;
  storages: Storages;
  isStopping: () => boolean;
}

/**
 * Registers `/health/live`, which reports that the process responds, and `/health/ready`, which also checks the databases and whether the
 * instance is shutting down. An instance with a read-only database is ready: otherwise a load balancer would stop its reads too.
 *
 * Callers with the metrics token receive the state of each component as well. The store is one of them; it does not make an instance
 * unready, because most operations do not need it.
 */
export async function registerHealth(
  app: FastifyInstance,
  { config, databases, storages, isStopping }: Dependencies,
): Promise<void> {
  const probeDatabases = shareProbe(async (region) => {
    const [row] = await databases[region].runner.run(PING, []);
    return row![0] === 'on' ? 'read-only' : 'ok';
  });
  const probeStores = shareProbe(async (region) => {
    await storages[region].byteStore.stat(PROBE_KEY);
    return 'ok';
  });
  app.get('/health/live', async () => ({ status: 'ok' }));
  app.get('/health/ready', async (request, reply) => {
    const found = await probeDatabases();
    const draining = isStopping();
    const states = Object.entries(found).map(([region, { state }]) => [region, state] as const);
    request.isExpectedToFail = draining;
    const status = draining ? 'unavailable' : findWorst(states.map(([, state]) => state));
    const regions = Object.fromEntries(states);
    const details = hasMetricsToken(request, config)
      ? { components: { databases: found, stores: await probeStores(), draining } }
      : {};
    return reply.code(status === 'unavailable' ? 503 : 200).send({ status, regions, ...details });
  });
  rejectOtherMethods(app, ['/health/live', '/health/ready']);
}

/** Returns a function that probes every region. Concurrent calls share a probe, because health checks have no rate limit. */
function shareProbe(findState: (region: RegionId) => Promise<State>) {
  let running: Promise<Record<string, ComponentState>> | undefined;
  const start = async () =>
    Object.fromEntries(
      await Promise.all(REGIONS.map(async (region) => [region, await probe(() => findState(region))] as const)),
    );
  return () => {
    running ??= start().finally(() => {
      running = undefined;
    });
    return running;
  };
}

const findWorst = (states: State[]): State =>
  (['unavailable', 'read-only'] as const).find((state) => states.includes(state)) ?? 'ok';

/** Returns the state that the work finds; `unavailable` when it fails or does not end in time. */
async function probe(work: () => Promise<State>): Promise<ComponentState> {
  const startedAt = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${DEADLINE_MS} ms`)), DEADLINE_MS);
  });
  let state: State = 'unavailable';
  let error: string | undefined;
  try {
    state = await Promise.race([work(), timeout]);
  } catch (thrown) {
    error = toMessage(thrown as Error & { code?: string });
  } finally {
    clearTimeout(timer);
  }
  return { state, milliseconds: Math.round(performance.now() - startedAt), error };
}

/** A public error hides its cause, which the operator needs. */
function toMessage({ message, code, cause }: Error & { code?: string }): string {
  return (cause instanceof Error && (cause.message || cause.name)) || message || code || 'failed';
}
