import type { Databases } from '../../../database/database.ts';
import { mapRegions, REGIONS, type RegionId } from '../../../shared/regions.ts';
import { repeatInRegions, type TaskLog } from '../../repeated-task.ts';
import { Dispatcher, type DispatcherOptions } from './dispatcher.ts';

/** Intervals of the dispatcher's tasks: of `poll` also after one that found work. */
const POLL_MS = 50;
const BUSY_POLL_MS = 10;
const REFRESH_MS = 400;

/** Interval of `refresh` in a region without endpoints, where nothing else is done, over all processes of the instance. */
const IDLE_REFRESH_MS = 2_000;

/** Time that requests have to end in when the process stops. */
const GRACE_MS = 3_000;

/** Delivers events to the endpoints of each region until it is stopped. @param options `processes` is the number of those that do it. */
export function startDispatchers(
  databases: Databases,
  { processes, ...options }: Omit<DispatcherOptions, 'database'> & { processes: number },
  log: TaskLog,
) {
  const dispatchers = mapRegions((region) => new Dispatcher({ ...options, database: databases[region] }));
  const stopRefreshing = repeatInRegions('refresh webhook endpoints', log, (region) => async () => {
    await dispatchers[region].refresh();
    return dispatchers[region].statistics.endpoints > 0 ? REFRESH_MS : IDLE_REFRESH_MS * processes;
  });
  const stopPolling = repeatInRegions('deliver events', log, (region) => async () => {
    const { endpoints, inFlight } = dispatchers[region].statistics;
    if (endpoints + inFlight === 0) return REFRESH_MS;
    return (await dispatchers[region].poll()) ? BUSY_POLL_MS : POLL_MS;
  });
  const stop = async (region: RegionId) =>
    dispatchers[region].stop(GRACE_MS).catch((err) => log.error({ err, region }, 'stop deliveries failed'));
  return {
    dispatchers,
    async stop() {
      await Promise.all([stopRefreshing(), stopPolling()]);
      await Promise.all(REGIONS.map(stop));
    },
  };
}
