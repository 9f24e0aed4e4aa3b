import type { Databases } from '../../database/database.ts';
import type { ReplicaSet } from '../../database/replicas/replica-set.ts';
import { REGIONS } from '../../shared/regions.ts';
import { collectCounter, collectDurations, collectGauge, type LabelledCounts, type Sample } from './collected.ts';

/** Registers the metrics of statements, connection pools and pipelined connections. */
export function observeDatabases(databases: Databases): void {
  const perRegion = <T>(read: (region: keyof Databases) => T[]): T[] => REGIONS.flatMap(read);
  collectDurations(
    { name: 'database_statement', what: 'prepared statements', labelNames: ['region', 'statement'] },
    () => perRegion((region): LabelledCounts[] => [[{ region }, databases[region].statements]]),
  );
  collectDurations(
    { name: 'database_pool_wait', what: 'waits for a connection of a pool', labelNames: ['region', 'pool'] },
    () => perRegion((region): LabelledCounts[] => [[{ region }, databases[region].poolWaits]]),
  );
  collectGauge({
    ...{ name: 'database_pool_connections', help: 'Open connections of a pool, by state.' },
    labelNames: ['region', 'pool', 'state'],
    collect: () =>
      perRegion((region) =>
        databases[region].pools().flatMap(([pool, { totalCount, idleCount }]): Sample[] => [
          [{ region, pool, state: 'busy' }, totalCount - idleCount],
          [{ region, pool, state: 'idle' }, idleCount],
        ]),
      ),
  });
  collectGauge({
    ...{ name: 'database_pool_waiting', help: 'Transactions that wait for a connection of a pool.' },
    labelNames: ['region', 'pool'],
    collect: () =>
      perRegion((region) =>
        databases[region].pools().map(([pool, { waitingCount }]): Sample => [{ region, pool }, waitingCount]),
      ),
  });
  observeReplicas(databases);
  const pipelined = (region: keyof Databases) => {
    const { runner, slowRunner, backgroundRunner } = databases[region];
    const runners = { reads: runner, slow_reads: slowRunner, background: backgroundRunner };
    return Object.entries(runners).map(([pool, each]) => [pool, each.stats()] as const);
  };
  collectGauge({
    ...{ name: 'database_pipelined_connections', help: 'Pipelined connections, by state.' },
    labelNames: ['region', 'pool', 'state'],
    collect: () =>
      perRegion((region) =>
        pipelined(region).flatMap(([pool, { open, stalled }]): Sample[] => [
          [{ region, pool, state: 'open' }, open],
          [{ region, pool, state: 'stalled' }, stalled],
        ]),
      ),
  });
  collectGauge({
    ...{ name: 'database_pipelined_statements', help: 'Statements in flight on pipelined connections.' },
    labelNames: ['region', 'pool'],
    collect: () =>
      perRegion((region) => pipelined(region).map(([pool, { inFlight }]): Sample => [{ region, pool }, inFlight])),
  });
  collectCounter({
    name: 'database_reserve_statements_total',
    help: 'Statements that found every regular pipelined connection stalled.',
    labelNames: ['region', 'pool'],
    collect: () =>
      perRegion((region) => pipelined(region).map(([pool, { onReserve }]): Sample => [{ region, pool }, onReserve])),
  });
}

/** Registers lag and reads of the standbys. The values begin when standbys are configured. */
function observeReplicas(databases: Databases): void {
  const perRegion = (read: (region: keyof Databases, replicas: ReplicaSet) => Sample[]): Sample[] =>
    REGIONS.flatMap((region) => {
      const { replicas } = databases[region];
      replicas?.startMeasuring();
      return replicas ? read(region, replicas) : [];
    });
  const lag = {
    name: 'database_replica_lag_seconds',
    help: 'Time by which a standby is at most behind the primary; +Inf while it cannot be used.',
    labelNames: ['region', 'replica'],
    collect: () =>
      perRegion((region, { replicas }) =>
        replicas.map(({ name, lagMs }): Sample => [{ region, replica: name }, lagMs / 1000]),
      ),
  };
  collectGauge(lag, 'max');
  collectCounter({
    name: 'database_replica_reads_total',
    help: 'Reads that a standby may answer, by the server that did; a failed one was answered by the primary.',
    labelNames: ['region', 'server', 'outcome'],
    collect: () =>
      perRegion((region, { counts }) =>
        [...counts].flatMap(([server, outcomes]) =>
          Object.entries(outcomes).map(([outcome, count]): Sample => [{ region, server, outcome }, count]),
        ),
      ),
  });
}
