import { setTimeout as sleep } from 'node:timers/promises';
import { AccessTokens } from '../../src/auth/access-tokens.ts';
import type { DemoClient } from '../../src/demo/demo-file.ts';
import { eventTypes } from '../../src/domain/events/event-types.ts';
import { REGIONS } from '../../src/shared/regions.ts';
import type { Fault } from './fault-definitions.ts';
import { runFaults } from './faults.ts';
import { FeedReader } from './feed-reader.ts';
import { InternalReader } from './internal-reader.ts';
import { BASE_URL, type Log, ProofEnvironment } from './proof-environment.ts';
import { ReplicatedPostgres } from './replicated-postgres.ts';
import { countBy } from './statistics.ts';

interface FailoverOptions {
  /** Promotions of a synchronous standby. */
  rounds: number;
  log: Log;
}

const METRICS_TOKEN = 'metrics-token-of-failover';

/** Servers whose primary can be queried. */
type Servers = Pick<ReplicatedPostgres, 'executeOnPrimary'>;

/** Events whose records the mixed load writes. */
const RESOURCES = /^(meeting|meeting_note|photo|photo_folder|photo_report)\./;

/**
 * Kills the primary under the load of the fault proof and promotes its synchronous standby, in each round; in the last round the primary is
 * suspended and not killed. Every acknowledged write must exist once, and the event log must have no gap. Then an asynchronous standby that
 * lacks data is promoted, and older cursors must expire. Every server is in the list of standbys, too.
 */
export async function failover({ rounds, log }: FailoverOptions) {
  const environment = await ProofEnvironment.start({ LOG_LEVEL: 'warn', METRICS_TOKEN });
  const problems: string[] = [];
  try {
    await environment.postgres.stop();
    const servers = await ReplicatedPostgres.start(environment.postgres.dataDir);
    environment.onClose(() => servers.stop());
    for (const region of REGIONS) {
      const name = `DATABASE_URL_${region.toUpperCase()}`;
      Object.assign(environment.settings, {
        [name]: servers.url(region),
        [`${name}_REPLICAS`]: servers.serversUrl(region),
      });
    }
    for (let count = 0; count < 2; count++) await environment.addInstance();
    const client = environment.demo.clients.find(({ name }) => name === 'A')!;
    const revocations = new Revocations(environment, client);
    const feed = await FeedReader.start({
      origins: () => environment.instances.map(({ origin }) => origin),
      token: () => signToken(environment, client),
      builderId: client.builderIds.at(-1)!,
      types: [...eventTypes]
        .filter(([type, scope]) => RESOURCES.test(type) && client.scopes.includes(scope))
        .map(([type]) => type),
    });
    const internalClient = environment.demo.clients.find(({ name }) => name === 'internal')!;
    const token = () => signToken(environment, internalClient);
    const internal = new InternalReader({ environment, servers, token, metricsToken: METRICS_TOKEN });
    const epoch = await readEpoch(servers);
    const promotions = Array.from(
      { length: rounds + 1 },
      (_, round): Fault => ({
        name: round < rounds ? `promotion ${round + 1}` : 'promotion beside a silent primary',
        prepare: async () => {
          problems.push(...(await revocations.check()), ...(await internal.checkPrimary()));
          await servers.addStandby({ synchronous: true });
          for (const region of REGIONS) await waitForSynchronousLog(servers, region);
          problems.push(...(await internal.checkStandby()));
          await revocations.revoke();
        },
        run: async () => {
          if (round < rounds) await servers.killPrimary();
          else await servers.suspendPrimary();
          await servers.promote();
        },
      }),
    );
    const storage = environment.openStorage();
    const result = await runFaults(environment, 'failover', promotions, storage, log);
    problems.push(...result.problems, ...(await revocations.check()), ...(await internal.checkPrimary()));
    problems.push(...(await internal.end(result.windows)));
    if (result.acknowledged === 0) problems.push('nothing was acknowledged');
    if ((await readEpoch(servers)) !== epoch)
      problems.push('the epoch of the log was renewed although nothing was lost');
    problems.push(...(await findGaps(servers)));
    const cursor = feed.cursor;
    const readEvents = await feed.end(servers, problems);

    const lost = await promoteWithLoss(environment, servers, client, { cursor, epoch }, problems);
    log(`an asynchronous standby that lacked ${lost} changes was promoted: a new epoch, and 410 for older cursors`);
    const healthyAfter = Math.max(...result.windows.map((window) => window.healthyAfter));
    return {
      statuses: countBy(result.requests, ({ status }) => status),
      problems,
      figures: `${rounds} primaries killed for good under load and one silent, healthy within ${healthyAfter} ms of each promotion; ${result.requests.length} requests, ${result.acknowledged} acknowledged writes, none lost or doubled; ${readEvents} events read once, in order, in one epoch; ${revocations.count} revocations in force; ${internal.count} queries of an internal client, none at a promoted server as a standby; after a promotion that lost ${lost} changes, a new epoch and 410`,
    };
  } finally {
    await environment.close(log);
  }
}

const signToken = async (environment: ProofEnvironment, { clientId, scopes }: DemoClient): Promise<string> => {
  const tokens = new AccessTokens({ keys: [environment.settings.TOKEN_KEY!], issuer: BASE_URL, clock: Date });
  return (await tokens.sign('au1', { sub: clientId, client_id: clientId, scope: scopes.join(' ') })).token;
};

/** Revokes tokens before a primary is killed, and checks that they stay revoked. */
class Revocations {
  readonly #environment: ProofEnvironment;
  readonly #client: DemoClient;
  readonly #tokens: string[] = [];

  constructor(environment: ProofEnvironment, client: DemoClient) {
    this.#environment = environment;
    this.#client = client;
  }

  get count(): number {
    return this.#tokens.length;
  }

  async revoke(): Promise<void> {
    const token = await signToken(this.#environment, this.#client);
    const { clientId, clientSecret } = this.#client;
    const response = await fetch(`${this.#environment.instances[0]!.origin}/oauth/revoke`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token, client_id: clientId, client_secret: clientSecret }),
    });
    if (response.status !== 200) throw new Error(`The revocation failed: ${response.status} ${await response.text()}`);
    this.#tokens.push(token);
  }

  /** Returns the revoked tokens that an instance accepts. */
  async check(): Promise<string[]> {
    const checks = this.#tokens.flatMap((token, index) =>
      this.#environment.instances.map(async ({ origin }) => {
        const { status } = await fetch(`${origin}/builders`, { headers: { authorization: `Bearer ${token}` } });
        return status === 401 ? [] : [`the token revoked before promotion ${index + 1}: ${status}`];
      }),
    );
    return (await Promise.all(checks)).flat();
  }
}

const queryPrimary = async <T extends object>(servers: Servers, sql: string, region = 'au1'): Promise<T[]> =>
  (await servers.executeOnPrimary(region, (client) => client.query<T>(sql))).rows;

export async function readEpoch(servers: Servers): Promise<string> {
  for (;;) {
    const [row] = await queryPrimary<{ epoch: string }>(servers, 'select epoch from event_log');
    if (row) return row.epoch;
    await sleep(50);
  }
}

/** Waits until the event log is marked as synchronously replicated, shortly after the first such commit. */
export async function waitForSynchronousLog(servers: Servers, region: string): Promise<void> {
  while ((await queryPrimary(servers, 'select from event_log where synchronous', region)).length === 0) await sleep(20);
}

export const findGaps = async (servers: Servers): Promise<string[]> =>
  (
    await queryPrimary<{ number: string }>(
      servers,
      `select number from (select number, lag(number) over (order by number) as before from event) numbers
       where before <> number - 1`,
    )
  ).map(({ number }) => `the numbers of the log have a gap before ${number}`);

/** Promotes a standby that has not received the last changes. Returns their number. */
async function promoteWithLoss(
  environment: ProofEnvironment,
  servers: ReplicatedPostgres,
  client: DemoClient,
  { cursor, epoch }: { cursor: string; epoch: string },
  problems: string[],
): Promise<number> {
  await servers.addStandby({ synchronous: false });
  await servers.suspendReplication();
  const changed = await servers.executeOnPrimary('au1', (connection) =>
    connection.query(`update meeting set title = 'lost' where builder_id = $1`, [client.builderIds.at(-1)]),
  );
  await sleep(1_000);
  await servers.killPrimary();
  await servers.promote();
  const [found] = await queryPrimary<{ count: number }>(
    servers,
    `select count(*)::int as count from meeting where title = 'lost'`,
  );
  if (found!.count > 0) problems.push('the standby had received what was to be lost');
  const headers = { authorization: `Bearer ${await signToken(environment, client)}` };
  const path = `/events?after=${cursor}`;
  for (const { origin } of environment.instances) {
    let status = 0;
    for (const until = Date.now() + 10_000; Date.now() < until && status !== 410; await sleep(50)) {
      status = (await fetch(`${origin}${path}`, { headers })).status;
    }
    if (status !== 410) problems.push(`a cursor from before a loss of data: ${status} and not 410`);
  }
  if ((await readEpoch(servers)) === epoch) problems.push('the epoch is the same after a loss of data');
  return changed.rowCount ?? 0;
}
