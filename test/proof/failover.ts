import { setTimeout as sleep } from 'node:timers/promises';
import { AccessTokens } from '../../src/auth/access-tokens.ts';
import { loadConfig } from '../../src/config.ts';
import type { DemoClient } from '../../src/demo/demo-file.ts';
import { eventTypes } from '../../src/domain/events/event-types.ts';
import { REGIONS } from '../../src/shared/regions.ts';
import { openStorages } from '../../src/storage/storage.ts';
import { countBy } from './exchange.ts';
import type { Fault } from './fault.ts';
import { suffer } from './faults.ts';
import { FeedReader } from './feed-reader.ts';
import { InternalReader } from './internal-reader.ts';
import { ReplicatedPostgres } from './replicated-postgres.ts';
import { BASE_URL, ProofSite, type Say } from './site.ts';

interface FailoverOptions {
  /** Promotions of a synchronous standby. */
  rounds: number;
  say: Say;
}

const METRICS_TOKEN = 'failover';

/** Events whose records the mixed load writes. */
const RESOURCES = /^(meeting|meeting_note|photo|photo_folder|photo_report)\./;

/**
 * The primary is killed for good under the load of the fault proof, and its synchronous standby is promoted, again and again, the last time
 * from a primary that is silent and not dead: what was acknowledged is there once, and the event log goes on. Then an asynchronous
 * standby that has lost data is promoted: cursors expire. Every server is in the list of standbys, too.
 */
export async function failover({ rounds, say }: FailoverOptions) {
  const site = await ProofSite.start({ LOG_LEVEL: 'warn', METRICS_TOKEN });
  const wrong: string[] = [];
  try {
    await site.postgres.stop();
    const servers = await ReplicatedPostgres.start(site.postgres.dataDir);
    site.afterwards(() => servers.stop());
    for (const region of REGIONS) {
      const name = `DATABASE_URL_${region.toUpperCase()}`;
      Object.assign(site.env, { [name]: servers.url(region), [`${name}_REPLICAS`]: servers.url(region) });
    }
    for (let count = 0; count < 2; count++) await site.addInstance();
    const client = site.demo.clients.find(({ name }) => name === 'A')!;
    const revocations = new Revocations(site, client);
    const feed = await FeedReader.start({
      origins: () => site.instances.map(({ origin }) => origin),
      token: () => signToken(site, client),
      builderId: client.builderIds.at(-1)!,
      types: [...eventTypes]
        .filter(([type, scope]) => RESOURCES.test(type) && client.scopes.includes(scope))
        .map(([type]) => type),
    });
    const internalClient = site.demo.clients.find(({ name }) => name === 'internal')!;
    const token = () => signToken(site, internalClient);
    const internal = new InternalReader({ site, servers, token, metricsToken: METRICS_TOKEN });
    const epoch = await readEpoch(servers);
    const promotions = Array.from(
      { length: rounds + 1 },
      (_, round): Fault => ({
        name: round < rounds ? `promotion ${round + 1}` : 'promotion beside a silent primary',
        prepare: async () => {
          wrong.push(...(await revocations.check()), ...(await internal.checkPrimary()));
          await servers.addStandby({ synchronous: true });
          for (const region of REGIONS) await waitForSynchronousLog(servers, region);
          wrong.push(...(await internal.checkStandby()));
          await revocations.revoke();
        },
        happen: async () => {
          if (round < rounds) await servers.killPrimary();
          else await servers.silencePrimary();
          await servers.promote();
        },
      }),
    );
    const storage = openStorages(loadConfig(site.env), { secrets: [site.env.TOKEN_KEY!], clock: Date }).au1;
    const seen = await suffer(site, 'failover', promotions, storage, say);
    wrong.push(...seen.wrong, ...(await revocations.check()), ...(await internal.checkPrimary()));
    wrong.push(...(await internal.end(seen.windows)));
    if (seen.acknowledged === 0) wrong.push('nothing was acknowledged');
    if ((await readEpoch(servers)) !== epoch) wrong.push('the epoch of the log was renewed although nothing was lost');
    wrong.push(...(await findGaps(servers)));
    const cursor = feed.cursor;
    const readEvents = await feed.end(servers, wrong);

    const lost = await promoteWithLoss(site, servers, client, { cursor, epoch }, wrong);
    say(`an asynchronous standby that lacked ${lost} changes was promoted: a new epoch, and 410 for older cursors`);
    const healthyAfter = Math.max(...seen.windows.map((window) => window.healthyAfter));
    return {
      statuses: countBy(seen.exchanges, ({ status }) => status),
      wrong,
      figures: `${rounds} primaries killed for good under load and one silent, healthy within ${healthyAfter} ms of each promotion; ${seen.exchanges.length} requests, ${seen.acknowledged} acknowledged writes, none lost or doubled; ${readEvents} events read once, in order, in one epoch; ${revocations.count} revocations in force; ${internal.count} queries of an internal client, none at a promoted server as a standby; after a promotion that lost ${lost} changes, a new epoch and 410`,
    };
  } finally {
    await site.close(say);
  }
}

const signToken = async (site: ProofSite, { clientId, scopes }: DemoClient): Promise<string> => {
  const tokens = new AccessTokens({ keys: [site.env.TOKEN_KEY!], issuer: BASE_URL, clock: Date });
  return (await tokens.sign({ sub: clientId, client_id: clientId, scope: scopes.join(' ') })).token;
};

/** Tokens that were revoked before a primary was killed. */
class Revocations {
  readonly #site: ProofSite;
  readonly #client: DemoClient;
  readonly #tokens: string[] = [];

  constructor(site: ProofSite, client: DemoClient) {
    this.#site = site;
    this.#client = client;
  }

  get count(): number {
    return this.#tokens.length;
  }

  async revoke(): Promise<void> {
    const token = await signToken(this.#site, this.#client);
    const { clientId, clientSecret } = this.#client;
    const response = await fetch(`${this.#site.instances[0]!.origin}/oauth/revoke`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token, client_id: clientId, client_secret: clientSecret }),
    });
    if (response.status !== 200) throw new Error(`The revocation failed: ${response.status} ${await response.text()}`);
    this.#tokens.push(token);
  }

  /** Returns which revoked tokens an instance accepts. */
  async check(): Promise<string[]> {
    const checks = this.#tokens.flatMap((token, index) =>
      this.#site.instances.map(async ({ origin }) => {
        const { status } = await fetch(`${origin}/builders`, { headers: { authorization: `Bearer ${token}` } });
        return status === 401 ? [] : [`the token revoked before promotion ${index + 1}: ${status}`];
      }),
    );
    return (await Promise.all(checks)).flat();
  }
}

const queryPrimary = async <T extends object>(servers: ReplicatedPostgres, sql: string, region = 'au1'): Promise<T[]> =>
  (await servers.executeOnPrimary(region, (client) => client.query<T>(sql))).rows;

async function readEpoch(servers: ReplicatedPostgres): Promise<string> {
  for (;;) {
    const [log] = await queryPrimary<{ epoch: string }>(servers, 'select epoch from event_log');
    if (log) return log.epoch;
    await sleep(50);
  }
}

/** Waits until the log says that it is replicated synchronously, as it does within moments after the first such commit. */
async function waitForSynchronousLog(servers: ReplicatedPostgres, region: string): Promise<void> {
  while ((await queryPrimary(servers, 'select from event_log where synchronous', region)).length === 0) await sleep(20);
}

const findGaps = async (servers: ReplicatedPostgres): Promise<string[]> =>
  (
    await queryPrimary<{ number: string }>(
      servers,
      `select number from (select number, lag(number) over (order by number) as before from event) numbers
       where before <> number - 1`,
    )
  ).map(({ number }) => `the numbers of the log have a gap before ${number}`);

/** Promotes a standby that has not received the last changes. Returns their number. */
async function promoteWithLoss(
  site: ProofSite,
  servers: ReplicatedPostgres,
  client: DemoClient,
  { cursor, epoch }: { cursor: string; epoch: string },
  wrong: string[],
): Promise<number> {
  await servers.addStandby({ synchronous: false });
  await servers.holdReplication();
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
  if (found!.count > 0) wrong.push('the standby had received what was to be lost');
  const headers = { authorization: `Bearer ${await signToken(site, client)}` };
  const path = `/events?after=${cursor}`;
  for (const { origin } of site.instances) {
    let status = 0;
    for (const until = Date.now() + 10_000; Date.now() < until && status !== 410; await sleep(50)) {
      status = (await fetch(`${origin}${path}`, { headers })).status;
    }
    if (status !== 410) wrong.push(`a cursor from before a loss of data: ${status} and not 410`);
  }
  if ((await readEpoch(servers)) === epoch) wrong.push('the epoch is the same after a loss of data');
  return changed.rowCount ?? 0;
}
