import type { Databases } from '../../../database/database.ts';
import { mapRegions, type RegionId } from '../../../shared/regions.ts';
import { repeatTask, type TaskLog } from '../../repeated-task.ts';
import { Dispatcher, type DispatcherOptions } from './dispatcher.ts';

/** Intervals of the dispatcher's tasks: of `poll` also after one that found work. */
const POLL_MS = 50;
const BUSY_POLL_MS = 10;
const REFRESH_MS = 400;

/** Interval of `refresh` in a region without endpoints, where nothing else is done, over all processes of the instance. */
const IDLE_REFRESH_MS = 2_000;

/** Time that requests have to end in when the process stops. */
const GRACE_MS = 3_000;

interface RunningDispatchers {
  dispatchers: Record<RegionId, Dispatcher>;
  stop(): Promise<void>;
}

/** Delivers events to the endpoints of each region until it is stopped. @param options `processes` is the number of those that do it. */
export function startDispatchers(
  databases: Databases,
  { processes, ...options }: Omit<DispatcherOptions, 'database'> & { processes: number },
  log: TaskLog,
): RunningDispatchers {
  const stopping = new AbortController();
  const run = (region: RegionId) => {
    const dispatcher = new Dispatcher({ ...options, database: databases[region] });
    const repeat = (name: string, task: () => Promise<number>) =>
      repeatTask({ name, region, run: task }, log, stopping.signal);
    const refresh = async () => {
      await dispatcher.refresh();
      return dispatcher.statistics.endpoints > 0 ? REFRESH_MS : IDLE_REFRESH_MS * processes;
    };
    const poll = async () => {
      const { endpoints, inFlight } = dispatcher.statistics;
      if (endpoints + inFlight === 0) return REFRESH_MS;
      return (await dispatcher.poll()) ? BUSY_POLL_MS : POLL_MS;
    };
    const tasks = [repeat('refresh webhook endpoints', refresh), repeat('deliver events', poll)];
    const stop = async () => {
      await Promise.all(tasks);
      await dispatcher.stop(GRACE_MS).catch((err) => log.error({ err, region }, 'stop deliveries failed'));
    };
    return { dispatcher, stop };
  };
  const running = mapRegions(run);
  return {
    dispatchers: mapRegions((region) => running[region].dispatcher),
    async stop() {
      stopping.abort();
      await Promise.all(Object.values(running).map((each) => each.stop()));
    },
  };
}
