import { AccessTokens } from '../../src/auth/access-tokens.ts';
import { REGIONS } from '../../src/shared/regions.ts';
import { ReplicatedPostgres } from '../proof/replicated-postgres.ts';
import { BASE_URL, ProofSite } from '../proof/site.ts';
import { dashboards } from './dashboards.ts';
import type { LoadResult } from './load.ts';
import type { Options } from './options.ts';
import { publish } from './publish.ts';
import { type Stage, say } from './stage.ts';
import { markdown } from './table.ts';

const CONNECTIONS = 8;
const METRICS_TOKEN = 'bench';

interface Row {
  standbys: number;
  integrators: LoadResult;
  internal: LoadResult;
  /** Part of the reads that standbys may answer, and answered. */
  share: number;
}

/** Dashboards of an internal client beside the requests of integrators, with 0, 1 and 2 standbys. */
export async function replicas(stage: Stage, options: Options): Promise<void> {
  const site = await ProofSite.start({ LOG_LEVEL: 'warn', METRICS_TOKEN }, null, { timesheets: options.timesheets });
  stage.defer(() => site.close(say));
  await site.postgres.stop();
  const servers = await ReplicatedPostgres.start(site.postgres.dataDir);
  site.afterwards(() => servers.stop());
  for (const region of REGIONS) site.env[`DATABASE_URL_${region.toUpperCase()}`] = servers.url(region);
  await servers.executeOnPrimary('au1', (client) => client.query('vacuum analyze'));
  const rows: Row[] = [];
  for (const standbys of [0, 1, 2]) {
    if (standbys > 0) await servers.addStandby({ synchronous: false });
    rows.push(await measure(stage, site, standbys === 0 ? {} : listReplicas(servers), standbys, options));
  }
  await publish(options, rows, `${tableOf(rows)}\n`);
}

const listReplicas = (servers: ReplicatedPostgres): Record<string, string> =>
  Object.fromEntries(
    REGIONS.map((region) => [`DATABASE_URL_${region.toUpperCase()}_REPLICAS`, servers.replicasUrl(region)]),
  );

async function measure(
  stage: Stage,
  site: ProofSite,
  settings: Record<string, string>,
  standbys: number,
  { seconds }: Options,
): Promise<Row> {
  const instance = await site.addInstance(settings);
  const headersOf = async (name: string) => {
    const { clientId, scopes } = site.demo.clients.find((client) => client.name === name)!;
    const tokens = new AccessTokens({ keys: [site.env.TOKEN_KEY!], issuer: BASE_URL, clock: Date });
    const { token } = tokens.sign({ sub: clientId, client_id: clientId, scope: scopes.join(' ') });
    return { authorization: `Bearer ${token}` };
  };
  const [integrator, internal] = [await headersOf('A'), await headersOf('internal')];
  const [builderId] = site.demo.clients.find(({ name }) => name === 'A')!.builderIds;
  const lists = ['/builders', '/timesheets', '/subcontractors', `/builders/${builderId}/photos`];
  const loads = [
    lists.map((path) => ({
      method: 'GET' as const,
      path,
      headers: { ...integrator, 'x-service-builder-id': builderId! },
    })),
    dashboards.map(({ ours }) => {
      const body = JSON.stringify(ours(builderId!));
      return {
        method: 'POST' as const,
        path: '/graphql',
        headers: { ...internal, 'content-type': 'application/json' },
        body,
      };
    }),
  ];
  const run = async (duration: number) => {
    const generators = loads.map(() => stage.generator());
    const order = { origin: instance.origin, connections: CONNECTIONS, seconds: duration };
    const results = await Promise.all(loads.map((requests, index) => generators[index]!.run({ ...order, requests })));
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
  const [byStandby, all] = [after.standby - before.standby, after.all - before.all];
  await instance.stop();
  say(`${standbys} standbys: ${integrators!.requestsPerSecond} and ${dashboardLoad!.requestsPerSecond} requests/s`);
  return { standbys, integrators: integrators!, internal: dashboardLoad!, share: all === 0 ? 0 : byStandby / all };
}

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

function tableOf(rows: Row[]): string {
  const show = ({ requestsPerSecond, p50, p99, failures }: LoadResult) => [
    requestsPerSecond.toFixed(0),
    `${p50.toFixed(1)} / ${p99.toFixed(1)}`,
    String(failures),
  ];
  const columns = (who: string) => [`${who}: requests/s`, 'p50 / p99 ms', 'failures'];
  return markdown(
    ['standbys', ...columns('integrators'), ...columns('dashboards'), 'answered by standbys'],
    rows.map(({ standbys, integrators, internal, share }) => [
      String(standbys),
      ...show(integrators),
      ...show(internal),
      `${(share * 100).toFixed(0)} %`,
    ]),
  );
}
