import { AccessTokens } from '../../src/auth/access-tokens.ts';
import { REGIONS } from '../../src/shared/regions.ts';
import { BASE_URL, ProofEnvironment } from '../proof/proof-environment.ts';
import { ReplicatedPostgres } from '../proof/replicated-postgres.ts';
import { type BenchEnvironment, logProgress } from './bench-environment.ts';
import type { BenchOptions } from './bench-options.ts';
import { dashboards } from './dashboards.ts';
import type { LoadResult } from './load-generator-program.ts';
import { toMarkdownTable } from './markdown-table.ts';
import { publishFigures } from './publish-figures.ts';

const CONNECTIONS = 8;
const METRICS_TOKEN = 'metrics-token-of-the-bench';

/** Figures for one number of standbys. The keys are those of `--json`. */
interface Row {
  standbys: number;
  integrators: LoadResult;
  internal: LoadResult;
  /** Fraction of the reads eligible for standbys that standbys executed. */
  share: number;
}

/** Measures requests of integrators and dashboards of an internal client under simultaneous load, with 0, 1 and 2 standbys. */
export async function measureReplicas(environment: BenchEnvironment, options: BenchOptions): Promise<void> {
  const proofEnvironment = await ProofEnvironment.start({ LOG_LEVEL: 'warn', METRICS_TOKEN }, null, {
    timesheets: options.timesheets,
  });
  environment.onClose(() => proofEnvironment.close(logProgress));
  await proofEnvironment.postgres.stop();
  const servers = await ReplicatedPostgres.start(proofEnvironment.postgres.dataDir);
  proofEnvironment.onClose(() => servers.stop());
  for (const region of REGIONS)
    proofEnvironment.settings[`DATABASE_URL_${region.toUpperCase()}`] = servers.primaryUrl(region);
  await servers.executeOnPrimary('au1', (client) => client.query('vacuum analyze'));
  const rows: Row[] = [];
  for (const standbys of [0, 1, 2]) {
    if (standbys > 0) await servers.addStandby({ synchronous: false });
    rows.push(
      await measure(environment, proofEnvironment, standbys === 0 ? {} : toReplicaSettings(servers), standbys, options),
    );
  }
  await publishFigures(options, rows, `${toTable(rows)}\n`);
}

const toReplicaSettings = (servers: ReplicatedPostgres): Record<string, string> =>
  Object.fromEntries(
    REGIONS.map((region) => [`DATABASE_URL_${region.toUpperCase()}_REPLICAS`, servers.replicasUrl(region)]),
  );

async function measure(
  environment: BenchEnvironment,
  proofEnvironment: ProofEnvironment,
  settings: Record<string, string>,
  standbys: number,
  { seconds }: BenchOptions,
): Promise<Row> {
  const instance = await proofEnvironment.addInstance(settings);
  const createHeaders = async (name: string) => {
    const { clientId, scopes } = proofEnvironment.demo.clients.find((client) => client.name === name)!;
    const tokens = new AccessTokens({ keys: [proofEnvironment.settings.TOKEN_KEY!], issuer: BASE_URL, clock: Date });
    const { token } = tokens.sign('au1', { sub: clientId, client_id: clientId, scope: scopes.join(' ') });
    return { authorization: `Bearer ${token}` };
  };
  const [integrator, internal] = [await createHeaders('A'), await createHeaders('internal')];
  const [builderId] = proofEnvironment.demo.clients.find(({ name }) => name === 'A')!.builderIds;
  const lists = ['/builders', '/timesheets', '/subcontractors', `/builders/${builderId}/photos`];
  const loads = [
    lists.map((path) => ({
      method: 'GET' as const,
      path,
      headers: { ...integrator, 'x-service-builder-id': builderId! },
    })),
    dashboards.map(({ createQuery }) => {
      const body = JSON.stringify(createQuery(builderId!));
      return {
        method: 'POST' as const,
        path: '/graphql',
        headers: { ...internal, 'content-type': 'application/json' },
        body,
      };
    }),
  ];
  const run = async (duration: number) => {
    const generators = loads.map(() => environment.createLoadGenerator());
    const common = { origin: instance.origin, connections: CONNECTIONS, seconds: duration };
    const results = await Promise.all(loads.map((requests, index) => generators[index]!.run({ ...common, requests })));
    await Promise.all(generators.map((generator) => generator.stop()));
    return results;
  };
  for (const { path, headers } of loads[0]!) {
    const response = await fetch(`${instance.origin}${path}`, { headers });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  }
  await run(2);
  const before = await readCounts(instance.origin);
  const [integrators, dashboardLoad] = await run(seconds);
  const after = await readCounts(instance.origin);
  const [standbyReads, allReads] = [after.standby - before.standby, after.all - before.all];
  await instance.stop();
  logProgress(
    `${standbys} standbys: ${integrators!.requestsPerSecond} and ${dashboardLoad!.requestsPerSecond} requests/s`,
  );
  return {
    standbys,
    integrators: integrators!,
    internal: dashboardLoad!,
    share: allReads === 0 ? 0 : standbyReads / allReads,
  };
}

/** Returns the reads eligible for standbys, and those that standbys executed, from the metrics. */
async function readCounts(origin: string): Promise<{ standby: number; all: number }> {
  const response = await fetch(`${origin}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } });
  const counts = { standby: 0, all: 0 };
  const pattern = /^database_replica_reads_total\{.*server="([^"]+)",outcome="ok"\} (\d+)$/gm;
  for (const [, server, count] of (await response.text()).matchAll(pattern)) {
    counts.all += Number(count);
    if (server !== 'primary') counts.standby += Number(count);
  }
  return counts;
}

function toTable(rows: Row[]): string {
  const formatResult = ({ requestsPerSecond, p50, p99, failures }: LoadResult) => [
    requestsPerSecond.toFixed(0),
    `${p50.toFixed(1)} / ${p99.toFixed(1)}`,
    String(failures),
  ];
  const toColumns = (name: string) => [`${name}: requests/s`, 'p50 / p99 ms', 'failures'];
  return toMarkdownTable(
    ['standbys', ...toColumns('integrators'), ...toColumns('dashboards'), 'answered by standbys'],
    rows.map(({ standbys, integrators, internal, share }) => [
      String(standbys),
      ...formatResult(integrators),
      ...formatResult(internal),
      `${(share * 100).toFixed(0)} %`,
    ]),
  );
}
