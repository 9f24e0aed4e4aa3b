import type { Database, Databases } from '../../database/database.ts';
import { REGIONS } from '../../shared/regions.ts';
import { collectCounter, collectDurations, collectGauge, type Sample } from './collected.ts';

/** Registers the metrics of statements, connection pools, pipelined connections and standbys. */
export function observeDatabases(databases: Databases): void {
  /** Returns the samples of both regions, each with its region. */
  const collect = (read: (database: Database) => Sample[]) => () =>
    REGIONS.flatMap((region) =>
      read(databases[region]).map(([labels, value]): Sample => [{ region, ...labels }, value]),
    );
  const pools = (read: (pool: ReturnType<Database['pools']>[number][1]) => Sample[]) =>
    collect((database) => database.pools().flatMap(([pool, state]) => withPool(pool, read(state))));
  const pipelines = (read: (stats: ReturnType<Database['runner']['stats']>) => Sample[]) =>
    collect(({ runner, slowRunner, backgroundRunner }) =>
      Object.entries({ reads: runner, slow_reads: slowRunner, background: backgroundRunner }).flatMap(([pool, each]) =>
        withPool(pool, read(each.stats())),
      ),
    );
  collectDurations(
    { name: 'database_statement', what: 'prepared statements', labelNames: ['region', 'statement'] },
    () => REGIONS.map((region) => [{ region }, databases[region].statements]),
  );
  collectDurations(
    { name: 'database_pool_wait', what: 'waits for a connection of a pool', labelNames: ['region', 'pool'] },
    () => REGIONS.map((region) => [{ region }, databases[region].poolWaits]),
  );
  collectGauge({
    name: 'database_pool_connections',
    help: 'Open connections of a pool, by state.',
    labelNames: ['region', 'pool', 'state'],
    collect: pools(({ totalCount, idleCount }) => [
      [{ state: 'busy' }, totalCount - idleCount],
      [{ state: 'idle' }, idleCount],
    ]),
  });
  collectGauge({
    name: 'database_pool_waiting',
    help: 'Transactions that wait for a connection of a pool.',
    labelNames: ['region', 'pool'],
    collect: pools(({ waitingCount }) => [[{}, waitingCount]]),
  });
  collectGauge({
    name: 'database_pipelined_connections',
    help: 'Pipelined connections, by state.',
    labelNames: ['region', 'pool', 'state'],
    collect: pipelines(({ open, stalled }) => [
      [{ state: 'open' }, open],
      [{ state: 'stalled' }, stalled],
    ]),
  });
  collectGauge({
    name: 'database_pipelined_statements',
    help: 'Statements in flight on pipelined connections.',
    labelNames: ['region', 'pool'],
    collect: pipelines(({ inFlight }) => [[{}, inFlight]]),
  });
  collectCounter({
    name: 'database_reserve_statements_total',
    help: 'Statements that found every regular pipelined connection stalled.',
    labelNames: ['region', 'pool'],
    collect: pipelines(({ reserveUses }) => [[{}, reserveUses]]),
  });
  collectGauge({
    name: 'database_replica_lag_seconds',
    help: 'Time by which a standby is at most behind the primary; +Inf while it cannot be used.',
    labelNames: ['region', 'replica'],
    aggregator: 'max',
    collect: collect(({ replicas }) => {
      replicas?.startMeasuring();
      return (replicas?.replicas ?? []).map(({ name, lagMs }): Sample => [{ replica: name }, lagMs / 1000]);
    }),
  });
  collectCounter({
    name: 'database_replica_reads_total',
    help: 'Reads that a standby may answer, by the server that did; a failed one was answered by the primary.',
    labelNames: ['region', 'server', 'outcome'],
    collect: collect(({ replicas }) =>
      [...(replicas?.counts ?? [])].flatMap(([server, outcomes]) =>
        Object.entries(outcomes).map(([outcome, count]): Sample => [{ server, outcome }, count]),
      ),
    ),
  });
}

const withPool = (pool: string, samples: Sample[]): Sample[] =>
  samples.map(([labels, value]) => [{ pool, ...labels }, value]);
