import { createServer, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { Webhook } from 'standardwebhooks';
import type { DemoClient } from '../../src/demo/demo-file.ts';
import { REGIONS } from '../../src/shared/regions.ts';
import { loadDemoInto } from '../support/load-demo.ts';
import { Instance } from './instance.ts';
import { createSettings, startInstancePair } from './instance-pair.ts';
import { KillablePostgres } from './killable-postgres.ts';

interface EventsOptions {
  changes: number;
  kills: number;
  writers: number;
  /** Number of changes in the phase without faults, whose latency is measured. */
  measured: number;
  log?: (line: string) => void;
}

interface EventsReport {
  changes: number;
  kills: number;
  deliveredFast: number;
  deliveredFlaky: number;
  repeated: number;
  hanging: number;
  p50: number;
  p99: number;
  seconds: number;
  problems: string[];
}

const BASE_URL = 'http://localhost:4000';

/** Timesheets of each builder. Events of one record are delivered one after the other, so that few records would take long. */
const TIMESHEETS = 4_000;

/** Pause of a writer after each change, so that the faults happen during the changes. */
const PAUSE_MS = 6;

/** Milliseconds after which no event of a revoked connection may arrive. */
const REVOKED_MS = 1_000;

/** Milliseconds without a new event after which the proof no longer waits. */
const DELIVERY_TIMEOUT_MS = 120_000;

type Behaviour = (response: ServerResponse) => void;

/** The webhook receiver of one integrator, which verifies every delivery. */
class VerifyingReceiver {
  /** Times of receipt by event id; only accepted deliveries. */
  readonly accepted = new Map<string, number[]>();
  /** Time of receipt of the first accepted delivery, by record. */
  readonly byRecord = new Map<string, number>();
  readonly builders = new Map<string, number>();
  readonly problems: string[] = [];
  requests = 0;
  changedAt = Date.now();
  secret = '';
  readonly #server: Server;

  constructor(readonly behave: (eventId: string) => Behaviour) {
    this.#server = createServer(async (request, response) => {
      this.requests++;
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      this.#receive(Buffer.concat(chunks).toString('utf8'), request.headers as Record<string, string>);
      this.behave(String(request.headers['webhook-id']))(response);
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  #receive(body: string, headers: Record<string, string>): void {
    try {
      new Webhook(this.secret).verify(body, headers);
    } catch (error) {
      this.problems.push(`a delivery was not verified: ${error}`);
    }
    const event = JSON.parse(body);
    if (event.id !== headers['webhook-id'])
      this.problems.push(`webhook-id ${headers['webhook-id']} is not ${event.id}`);
    const now = Date.now();
    this.builders.set(event.builderId, now);
    if (!this.byRecord.has(event.resource.id)) this.byRecord.set(event.resource.id, now);
    const times = this.accepted.get(event.id);
    if (times) times.push(now);
    else {
      this.accepted.set(event.id, [now]);
      this.changedAt = now;
    }
  }

  get repeated(): number {
    return [...this.accepted.values()].reduce((sum, { length }) => sum + length - 1, 0);
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

const accept: Behaviour = (response) => void response.writeHead(204).end();
const fail: Behaviour = (response) => void response.writeHead(500).end('no');
const hang: Behaviour = () => undefined;

/** Fails every third attempt, but no event more than twice, because a third retry would be due after two minutes. */
function createFlakyBehaviour(): (eventId: string) => Behaviour {
  const failures = new Map<string, number>();
  let attempts = 0;
  return (eventId) => {
    const failed = failures.get(eventId) ?? 0;
    if (attempts++ % 3 !== 0 || failed === 2) return accept;
    failures.set(eventId, failed + 1);
    return fail;
  };
}

/**
 * Delivers changes to the receivers of three integrators while the service and PostgreSQL are killed. One receiver is fast, one fails a
 * third of the attempts, one hangs. Every visible change must be delivered and verified, and the feed must contain each once.
 */
export async function events(options: EventsOptions): Promise<EventsReport> {
  const { changes, kills, writers, measured, log = () => {} } = options;
  const undo: (() => unknown)[] = [];
  try {
    const postgres = await KillablePostgres.start();
    undo.push(() => postgres.remove());
    const databases = await postgres.createRegionDatabases();
    const demo = await loadDemoInto(databases, { baseUrl: BASE_URL, timesheets: TIMESHEETS });
    for (const region of REGIONS) await databases[region].close();
    // Receivers on loopback are allowed outside production only.
    const settings = { ...createSettings(postgres, BASE_URL), NODE_ENV: 'development' };
    const instances = await startInstancePair(settings, undo);

    const integrators = ['A', 'B', 'C'].map((name) => demo.clients.find((client) => client.name === name)!);
    const [fast, flaky, hanging] = [
      new VerifyingReceiver(() => accept),
      new VerifyingReceiver(createFlakyBehaviour()),
      new VerifyingReceiver(() => hang),
    ] as const;
    const receivers = [fast, flaky, hanging];
    for (const [index, receiver] of receivers.entries()) {
      undo.push(() => receiver.close());
      receiver.secret = await createEndpoint(instances[0]!, integrators[index]!, await receiver.listen());
    }
    const token = await requestToken(instances[0]!, integrators[0]!);
    const start = (await readFeedPage(instances[0]!, token, null)).meta.nextCursor;
    const builderIds = [...new Set(integrators.flatMap((client) => client.builderIds))];
    const timesheetWriters = new TimesheetWriters(postgres.url('au1'), builderIds);
    undo.push(() => timesheetWriters.close());
    await timesheetWriters.open(writers);

    const latencies = await timesheetWriters.measure(measured, fast, integrators[0]!.builderIds);
    log(
      `latency of ${latencies.length} changes: p50 ${quantile(latencies, 0.5)} ms, p99 ${quantile(latencies, 0.99)} ms`,
    );

    const begun = Date.now();
    const revokedBuilder = integrators[0]!.builderIds.at(-1)!;
    let revokedAt = Number.POSITIVE_INFINITY;
    const faults = (async () => {
      for (let kill = 0; kill < kills; kill++) {
        await timesheetWriters.waitForCount((changes * (kill + 1)) / (kills + 1));
        if (kill === kills >> 1) revokedAt = await timesheetWriters.revoke(integrators[0]!, revokedBuilder);
        if (kill % 2 === 0) {
          await postgres.kill();
          await postgres.restart();
        } else {
          const instance = instances[(kill >> 1) % instances.length]!;
          await instance.kill();
          await instance.start();
        }
        log(
          `kill ${kill + 1} at ${timesheetWriters.count} changes; ${fast.accepted.size} and ${flaky.accepted.size} delivered`,
        );
      }
    })();
    await timesheetWriters.write(changes);
    await faults;
    const expected = await timesheetWriters.readNumberedEvents();
    const listVisibleIds = ({ builderIds: own }: DemoClient, revoked?: string) =>
      expected.filter(({ builder_id: id }) => own.includes(id) && id !== revoked).map(({ id }) => id);
    const [fastEventIds, flakyEventIds] = [
      listVisibleIds(integrators[0]!, revokedBuilder),
      listVisibleIds(integrators[1]!),
    ];
    for (const [receiver, ids] of [
      [fast, fastEventIds],
      [flaky, flakyEventIds],
    ] as const) {
      while (Date.now() - receiver.changedAt < DELIVERY_TIMEOUT_MS && ids.some((id) => !receiver.accepted.has(id)))
        await sleep(200);
    }
    const seconds = (Date.now() - begun) / 1000;
    const problems = receivers.flatMap((receiver) => receiver.problems.slice(0, 5));
    const checkDelivered = (name: string, receiver: VerifyingReceiver, ids: string[]) => {
      const lost = ids.filter((id) => !receiver.accepted.has(id));
      if (lost.length > 0) problems.push(`${name}: ${lost.length} of ${ids.length} events were not delivered`);
    };
    checkDelivered('fast', fast, fastEventIds);
    checkDelivered('flaky', flaky, flakyEventIds);
    for (const [index, receiver] of receivers.entries()) {
      for (const builderId of receiver.builders.keys()) {
        if (!integrators[index]!.builderIds.includes(builderId)) problems.push(`events of ${builderId} were delivered`);
      }
    }
    const late = (fast.builders.get(revokedBuilder) ?? 0) - revokedAt;
    if (late > REVOKED_MS) problems.push(`an event arrived ${late} ms after its connection was revoked`);
    if (kills > 0 && revokedAt === Number.POSITIVE_INFINITY) problems.push('nothing was revoked');
    problems.push(
      ...timesheetWriters.findProblems(expected),
      ...(await checkFeed(instances[0]!, token, start, fastEventIds)),
    );
    return {
      ...{
        changes: timesheetWriters.count,
        kills,
        deliveredFast: fastEventIds.length,
        deliveredFlaky: flakyEventIds.length,
      },
      ...{ repeated: fast.repeated, hanging: hanging.requests, p50: quantile(latencies, 0.5) },
      ...{ p99: quantile(latencies, 0.99), seconds, problems },
    };
  } finally {
    for (const step of undo.reverse()) await Promise.resolve(step()).catch((error) => log(String(error)));
  }
}

const quantile = (values: number[], share: number): number =>
  values.toSorted((one, other) => one - other)[Math.floor((values.length - 1) * share)] ?? Number.NaN;

async function requestToken({ origin }: Instance, client: DemoClient): Promise<string> {
  const body = {
    ...{ grant_type: 'client_credentials', client_id: client.clientId, client_secret: client.clientSecret },
    ...{ audience: BASE_URL, scope: client.scopes.join(' ') },
  };
  const response = await fetch(`${origin}/oauth/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return ((await response.json()) as { access_token: string }).access_token;
}

async function createEndpoint(instance: Instance, client: DemoClient, url: string): Promise<string> {
  const response = await fetch(`${instance.origin}/webhook-endpoints`, {
    method: 'POST',
    headers: { authorization: `Bearer ${await requestToken(instance, client)}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url, types: ['timesheet.updated'] }),
  });
  if (response.status !== 201) throw new Error(await response.text());
  return ((await response.json()) as { secret: string }).secret;
}

interface FeedPage {
  data: { id: string }[];
  meta: { nextCursor: string; hasMore: boolean };
}

async function readFeedPage({ origin }: Instance, token: string, after: string | null): Promise<FeedPage> {
  const query = new URLSearchParams({ types: 'timesheet.updated', ...(after && { after }) });
  const response = await fetch(`${origin}/events?${query}`, { headers: { authorization: `Bearer ${token}` } });
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as FeedPage;
}

/** Checks that the feed has each visible event exactly once. */
async function checkFeed(instance: Instance, token: string, start: string, expected: string[]): Promise<string[]> {
  const seen: string[] = [];
  for (let after = start, hasMore = true; hasMore; ) {
    const { data, meta } = await readFeedPage(instance, token, after);
    seen.push(...data.map(({ id }) => id));
    ({ nextCursor: after, hasMore } = meta);
  }
  const problems: string[] = [];
  const unique = new Set(seen);
  if (unique.size !== seen.length) problems.push(`the feed repeats ${seen.length - unique.size} events`);
  const lost = expected.filter((id) => !unique.has(id));
  if (lost.length > 0) problems.push(`the feed lacks ${lost.length} events`);
  if (unique.size > expected.length) problems.push(`the feed has ${unique.size - expected.length} events too many`);
  return problems;
}

interface StoredEvent {
  id: string;
  record_id: string;
  builder_id: string;
}

/** Writers that change timesheets, one record in each transaction, and count the changes that PostgreSQL has acknowledged. */
class TimesheetWriters {
  readonly #url: string;
  readonly #builderIds: string[];
  #pool: pg.Pool;
  #writers = 1;
  #records: { id: string; builder_id: string }[] = [];
  /** Acknowledged changes, and those whose acknowledgement was lost, by record. */
  readonly #acknowledged = new Map<string, number>();
  readonly #unacknowledged = new Map<string, number>();
  #firstNumber = 0;
  count = 0;

  constructor(url: string, builderIds: string[]) {
    this.#url = url;
    this.#builderIds = builderIds;
    this.#pool = this.#open();
  }

  #open(): pg.Pool {
    const pool = new pg.Pool({ connectionString: this.#url, max: this.#writers + 1 });
    pool.on('error', () => undefined);
    return pool;
  }

  async open(writers: number): Promise<void> {
    await this.#pool.end();
    this.#writers = writers;
    this.#pool = this.#open();
    const { rows } = await this.#pool.query(
      'select id, builder_id from timesheet where builder_id = any($1) order by id',
      [this.#builderIds],
    );
    this.#records = rows;
    while ((await this.#pool.query('select number_events(1000) as count')).rows[0].count !== 0);
    this.#firstNumber = Number((await this.#pool.query('select last_number from event_log')).rows[0].last_number);
  }

  async #change(id: string): Promise<void> {
    try {
      await this.#pool.query('update timesheet set updated_at = clock_timestamp() where id = $1', [id]);
      this.#acknowledged.set(id, (this.#acknowledged.get(id) ?? 0) + 1);
      this.count++;
    } catch {
      this.#unacknowledged.set(id, (this.#unacknowledged.get(id) ?? 0) + 1);
      await sleep(100);
    }
  }

  /** Changes records one after the other. Returns the milliseconds from each commit to its receipt. */
  async measure(count: number, receiver: VerifyingReceiver, builderIds: string[]): Promise<number[]> {
    const own = this.#records.filter(({ builder_id: id }) => builderIds.includes(id));
    const latencies: number[] = [];
    for (let index = 0; index < count; index++) {
      const { id } = own[index % own.length]!;
      receiver.byRecord.delete(id);
      await this.#change(id);
      const committedAt = Date.now();
      for (let waited = 0; !receiver.byRecord.has(id) && waited < 5_000; waited++) await sleep(1);
      latencies.push((receiver.byRecord.get(id) ?? Number.POSITIVE_INFINITY) - committedAt);
    }
    return latencies;
  }

  async write(count: number): Promise<void> {
    const end = this.count + count;
    const work = async (writer: number) => {
      for (let index = writer; this.count < end; index += this.#writers) {
        await this.#change(this.#records[(index * 7919) % this.#records.length]!.id);
        await sleep(PAUSE_MS);
      }
    };
    await Promise.all(Array.from({ length: this.#writers }, (_, writer) => work(writer)));
  }

  async waitForCount(count: number): Promise<void> {
    while (this.count < count) await sleep(5);
  }

  /** Returns the time from which the connection is revoked. */
  async revoke({ clientId, integrator }: DemoClient, builderId: string): Promise<number> {
    const sql = `update connection set status = 'REVOKED' from oauth_client client
      where client.integrator_id = connection.integrator_id and client.id = $1 and builder_id = $2`;
    const { rowCount } = await this.#pool.query(sql, [clientId, builderId]);
    if (rowCount !== 1) throw new Error(`${integrator} is not connected to ${builderId}.`);
    return Date.now();
  }

  /** Waits until all events are numbered. Returns those of the changes. */
  async readNumberedEvents(): Promise<StoredEvent[]> {
    while ((await this.#pool.query('select count(*)::int as count from event_pending')).rows[0].count > 0)
      await sleep(100);
    const sql = `select id, record_id, builder_id from event where number > $1 and type = 'timesheet.updated'`;
    return (await this.#pool.query(sql, [this.#firstNumber])).rows;
  }

  /** Returns problems unless each acknowledged change has one event, and all other events are of changes whose acknowledgement was lost. */
  findProblems(events: StoredEvent[]): string[] {
    const stored = new Map<string, number>();
    for (const { record_id: id } of events) stored.set(id, (stored.get(id) ?? 0) + 1);
    return [...new Set([...this.#acknowledged.keys(), ...stored.keys()])].flatMap((id) => {
      const [count, certain] = [stored.get(id) ?? 0, this.#acknowledged.get(id) ?? 0];
      const most = certain + (this.#unacknowledged.get(id) ?? 0);
      return count >= certain && count <= most
        ? []
        : [`${id} has ${count} events of ${certain} changes (at most ${most})`];
    });
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }
}
