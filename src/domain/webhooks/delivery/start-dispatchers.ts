import type { Database } from '../../../database/database.ts';
import { mapRegions, type RegionId } from '../../../shared/regions.ts';
import { repeatTask, type TaskLog } from '../../repeated-task.ts';
import { Dispatcher, type DispatcherOptions } from './dispatcher.ts';

/** Intervals of the dispatcher's tasks. Without endpoints, which `refresh` finds, it does nothing more often than that. */
const POLL_MS = 50;
const REFRESH_MS = 400;
const FLUSH_MS = 25;

/** Time that requests have to end in when the process stops. */
const GRACE_MS = 3_000;

interface RunningDispatchers {
  dispatchers: Record<RegionId, Dispatcher>;
  stop(): Promise<void>;
}

/** Delivers events to the endpoints of each region until it is stopped. */
export function startDispatchers(
  databases: Record<RegionId, Pick<Database, 'backgroundRunner'>>,
  options: Omit<DispatcherOptions, 'database'>,
  log: TaskLog,
): RunningDispatchers {
  const stopping = new AbortController();
  const run = (region: RegionId) => {
    const dispatcher = new Dispatcher({ ...options, database: databases[region] });
    const repeat = (name: string, everyMs: number, task: () => Promise<void>) => {
      const runTask = () => task().then(() => (dispatcher.hasEndpoints ? everyMs : REFRESH_MS));
      return repeatTask({ name, region, run: runTask }, log, stopping.signal);
    };
    const tasks = [
      repeat('refresh webhook endpoints', REFRESH_MS, () => dispatcher.refresh()),
      repeat('deliver events', POLL_MS, () => dispatcher.poll()),
      repeat('store deliveries', FLUSH_MS, () => dispatcher.flush()),
    ];
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
