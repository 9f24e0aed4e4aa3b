import { execFileSync } from 'node:child_process';
import { Database, type Databases } from '../../src/database/database.ts';
import { runPendingMigrations } from '../../src/database/run-migrations.ts';
import { REGIONS } from '../../src/shared/regions.ts';
import { loadDemoInto } from '../support/load-demo.ts';
import { findMissingProgram } from './debian-program.ts';
import { findGaps, readEpoch, waitForSynchronousLog } from './failover.ts';
import type { Fault } from './fault-definitions.ts';
import { runFaults } from './faults.ts';
import { PatroniCluster } from './patroni-cluster.ts';
import { BASE_URL, type Log, ProofEnvironment } from './proof-environment.ts';
import { countBy } from './statistics.ts';

/** Returns the reason why the proof cannot run; null if it can. */
export const findPatroniProblem = (): string | null => findMissingProgram(['patroni', 'etcd', 'haproxy']);

/**
 * Kills the primary of three nodes of Patroni under the load of the fault proof, in each round: PostgreSQL alone, and in every second round the
 * whole node. HAProxy leads the service to the next primary. Every acknowledged write must exist once, and the event log must have no gap.
 */
export async function patroni({ rounds, log }: { rounds: number; log: Log }) {
  const environment = await ProofEnvironment.start({ LOG_LEVEL: 'warn' });
  const problems: string[] = [];
  try {
    await environment.postgres.stop();
    const cluster = await PatroniCluster.start(environment);
    await loadDatabases(environment, cluster);
    for (let count = 0; count < 2; count++) await environment.addInstance();
    const epoch = await readEpoch(cluster);
    const outages: number[] = [];
    const kills = Array.from({ length: rounds }, (_, round): Fault => {
      const isNode = round % 2 === 1;
      return {
        name: `kill -9 of ${isNode ? 'the node of the primary' : 'the primary'} ${round + 1}`,
        prepare: async () => {
          await cluster.waitUntilReplicated();
          for (const region of REGIONS) await waitForSynchronousLog(cluster, region);
        },
        run: async () => {
          const begun = performance.now();
          await cluster.killPrimary({ isNode });
          await cluster.waitUntilWritable();
          outages.push(performance.now() - begun);
        },
      };
    });
    const { requests, windows, acknowledged, ...result } = await runFaults(
      environment,
      'patroni',
      kills,
      environment.openStorage(),
      log,
    );
    problems.push(...result.problems, ...(await findGaps(cluster)));
    if (acknowledged === 0) problems.push('nothing was acknowledged');
    if ((await readEpoch(cluster)) !== epoch)
      problems.push('the epoch of the log was renewed although nothing was lost');
    const seconds = (isNode: boolean) => {
      const of = outages.flatMap((outage, round) =>
        (round % 2 === 1) === isNode ? [Math.round((outage + windows[round]!.healthyAfter) / 1000)] : [],
      );
      return `${Math.min(...of)} to ${Math.max(...of)} s`;
    };
    const versions = ['patroni', 'etcd', 'haproxy'].map(readVersion).join(', ');
    return {
      statuses: countBy(requests, ({ status }) => status),
      problems,
      figures: `${versions}, PostgreSQL ${await cluster.readVersion()}; ${rounds} primaries killed under ${requests.length} requests; ${acknowledged} acknowledged writes, none lost or doubled; writes succeed again after ${seconds(false)} where PostgreSQL is killed, ${seconds(true)} where its node is`,
    };
  } finally {
    await environment.close(log);
  }
}

/** Creates the databases of both regions on the primary, with the demo data, and makes them those of the environment. */
async function loadDatabases(environment: ProofEnvironment, cluster: PatroniCluster): Promise<void> {
  const databases = {} as Databases;
  for (const region of REGIONS) {
    await cluster.executeOnPrimary('postgres', (client) => client.query(`create database ${region}`));
    const url = cluster.url(region);
    environment.settings[`DATABASE_URL_${region.toUpperCase()}`] = url;
    databases[region] = new Database(region, url);
    await runPendingMigrations(databases[region], 'auto');
  }
  Object.assign(environment.demo, await loadDemoInto(databases, { baseUrl: BASE_URL, timesheets: 200 }));
  for (const region of REGIONS) await databases[region].close();
}

/** Returns the first line of the version that a program prints. */
const readVersion = (program: string): string =>
  execFileSync(program, [program === 'haproxy' ? '-v' : '--version'], { encoding: 'utf8' }).split('\n', 1)[0]!;
