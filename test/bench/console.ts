import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Database } from '../../src/database/database.ts';
import { hashSecret, newSecret } from '../../src/shared/secrets.ts';
import { median } from './against.ts';
import { confidenceOf } from './confidence.ts';
import type { LoadResult } from './load.ts';
import type { Options } from './options.ts';
import { publish } from './publish.ts';
import { type Stage, say } from './stage.ts';
import { markdown } from './table.ts';
import { selectedWorks, type Work } from './works.ts';

const DAY_MS = 24 * 3_600_000;
const TABS = 20;
const TABS_PER_PERSON = 4;
/** As in the browser: `src/console/browser/shared/live.tsx`. */
const POLL_MS = 1000;
const WORKS = ['GET /timesheets', 'POST sign-on event'];
const WARM_UP_SECONDS = 1;

/** Requests per second where the machine is not busy: those of a client that uses up its rate limit (LIM-1). */
const RATE = 100;
const RATE_CONNECTIONS = 8;

const documentOf = (path: string) =>
  readFileSync(new URL(`../../../src/console/browser/${path}.graphql`, import.meta.url), 'utf8');

/** The documents of the pages. A tab that shows Today or the board executes one operation of each. */
const CHANGES = documentOf('graphql/scope');
const TODAY = documentOf('graphql/figures');
const BOARD = documentOf('pages/attendance/attendance');

/** Requests on so many connections: as many as are answered, or so many in a second. */
interface Load {
  connections: number;
  rate?: number;
}

interface Place {
  builderId: string;
  projectId: string;
}

/** Measures integrators' requests with and without a console in use: tabs of Today and of the attendance board that poll. */
export async function consoleInUse(stage: Stage, options: Options): Promise<void> {
  await stage.prepare(options.timesheets);
  const service = await stage.startOurs();
  const sessions = await createSessions(stage.urls.au1, Math.ceil(TABS / TABS_PER_PERSON));
  const tabs = Array.from(
    { length: TABS },
    (_, at) => new Tab(service.origin, sessions[at % sessions.length]!, stage.data, at % 2 === 0),
  );
  const generator = stage.generator();
  const all = selectedWorks(stage.data, stage.tokens, options);
  const works = options.only ? all : all.filter(({ name }) => WORKS.includes(name));
  const rows = [];
  for (const work of works) {
    const loads: Load[] = options.connections.map((connections) => ({ connections }));
    for (const load of [...loads, { connections: RATE_CONNECTIONS, rate: RATE }]) {
      const order = (seconds: number) => ({ origin: service.origin, requests: work.requests, seconds, ...load });
      await generator.run(order(WARM_UP_SECONDS));
      const pairs: Record<'without' | 'with', LoadResult>[] = [];
      for (let round = 0; round < options.rounds; round++) {
        const pair = {} as (typeof pairs)[number];
        for (const side of round % 2 ? (['with', 'without'] as const) : (['without', 'with'] as const)) {
          const stopTabs = side === 'with' ? await openTabs(tabs) : null;
          pair[side] = await generator.run(order(options.seconds));
          await stopTabs?.();
        }
        pairs.push(pair);
      }
      rows.push(rowOf(work, load, pairs));
      say(cellsOf(rows.at(-1)!).join('  '));
    }
  }
  const requests = tabs.reduce((sum, tab) => sum + tab.requests, 0);
  await publish(options, rows, `\n${tableOf(rows, options, requests)}`);
}

/** Opens the tabs and waits until each has shown its page. Returns the function that closes them. */
async function openTabs(tabs: readonly Tab[]): Promise<() => Promise<void>> {
  await Promise.all(tabs.map((tab) => tab.open()));
  return async () => {
    await Promise.all(tabs.map((tab) => tab.close()));
  };
}

/** One tab of the console: it polls, and reads its page again when something of the builder has changed. */
class Tab {
  requests = 0;
  readonly #origin: string;
  readonly #session: string;
  readonly #place: Place;
  readonly #isToday: boolean;
  #cursor: string | null = null;
  #running: Promise<void> | null = null;
  #closing = new AbortController();

  constructor(origin: string, session: string, { builderId, projectId }: Place, isToday: boolean) {
    this.#origin = origin;
    this.#session = session;
    this.#place = { builderId, projectId };
    this.#isToday = isToday;
  }

  async open(): Promise<void> {
    this.#closing = new AbortController();
    this.#cursor = null;
    await this.#poll();
    this.#running = this.#run();
    // What the loop throws is reported when the tab is closed.
    this.#running.catch(() => undefined);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    // Tabs are opened one after the other.
    await sleep(Math.random() * POLL_MS, undefined, { signal }).catch(() => undefined);
    while (!signal.aborted) {
      await this.#poll();
      await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  async #poll(): Promise<void> {
    const { changes } = await this.#query<{ changes: { cursor: string; reset: boolean; builderIds: string[] } }>(
      ...([CHANGES, 'Changes', { after: this.#cursor }] as const),
    );
    this.#cursor = changes.cursor;
    const { builderId, projectId } = this.#place;
    if (!changes.reset && !changes.builderIds.includes(builderId)) return;
    const date = new Date().toISOString().slice(0, 10);
    const monthBefore = new Date(Date.parse(date) - 27 * DAY_MS).toISOString().slice(0, 10);
    const until = new Date(Date.parse(date) + DAY_MS).toISOString();
    const day = { date, since: `${date}T00:00:00.000Z`, until, timeZone: 'Australia/Sydney' };
    await (this.#isToday
      ? this.#query(TODAY, 'Today', { builderId, date, from: monthBefore, attendance: true }, changes.cursor)
      : this.#query(BOARD, 'Board', { builderId, projectId, ...day }, changes.cursor));
  }

  /** @param cursor of the poll after which the page reads its records again. */
  async #query<T>(query: string, operationName: string, variables: object, cursor?: string): Promise<T> {
    const headers = { cookie: this.#session, 'content-type': 'application/json', 'x-console-csrf': '1' };
    const response = await fetch(`${this.#origin}/console/graphql`, {
      method: 'POST',
      headers: cursor ? { ...headers, 'x-console-cursor': cursor } : headers,
      body: JSON.stringify({ query, operationName, variables }),
    });
    const { data, errors } = (await response.json()) as { data: T; errors?: unknown[] };
    if (errors) throw new Error(`${operationName} failed: ${JSON.stringify(errors)}`);
    this.requests++;
    return data;
  }
}

/** Adds staff users who are signed in. Returns the cookie of each. */
async function createSessions(url: string, count: number): Promise<string[]> {
  const database = new Database('au1', url);
  const secrets = Array.from({ length: count }, () => newSecret());
  for (const [at, secret] of secrets.entries()) {
    const hash = newSecret();
    await database.fork().execute(
      `insert into app_user (id, created_at, updated_at, name, email, password_hash, staff_role)
        values (?, now(), now(), 'Kim', ?, ?, 'OPERATOR')`,
      [`user_bench${at}`, `bench${at}@operator.example`, hash],
    );
    await database.fork().execute(
      `insert into console_session (digest, user_id, password_digest, created_at, expires_at)
        values (?, ?, ?, now(), now() + interval '12 hours')`,
      [hashSecret(secret), `user_bench${at}`, hashSecret(hash)],
    );
  }
  await database.close();
  return secrets.map((secret) => `console-au1=${secret}`);
}

function rowOf({ name }: Work, { connections, rate }: Load, pairs: Record<'without' | 'with', LoadResult>[]) {
  const failures = pairs.reduce((sum, pair) => sum + pair.without.failures + pair.with.failures, 0);
  if (failures > 0) throw new Error(`${failures} requests of ${name} failed.`);
  const of = (side: 'without' | 'with', key: 'p50' | 'p99' | 'requestsPerSecond') =>
    median(pairs.map((pair) => pair[side][key]));
  return {
    ...{ operation: name, load: rate ? `${rate} per second` : `${connections} connections` },
    p50: [of('without', 'p50'), of('with', 'p50')],
    p99: [of('without', 'p99'), of('with', 'p99')],
    requestsPerSecond: [of('without', 'requestsPerSecond'), of('with', 'requestsPerSecond')],
    ...confidenceOf(
      pairs.map((pair) =>
        rate ? pair.without.p50 / pair.with.p50 : pair.with.requestsPerSecond / pair.without.requestsPerSecond,
      ),
    ),
  };
}

type Row = ReturnType<typeof rowOf>;

const cellsOf = ({ operation, load, p50, p99, requestsPerSecond, ratio, interval }: Row): string[] => [
  ...[operation, load, ...[p50, p99].map((pair) => pair.map((ms) => ms.toFixed(2)).join(' / '))],
  ...[requestsPerSecond.map((count) => count.toFixed(0)).join(' / '), ratio.toFixed(3)],
  interval.map((end) => end.toFixed(3)).join('–'),
];

const HEADER = ['operation', 'load', 'median, ms', 'p99, ms', 'requests/s', 'ratio', '95 % interval'];

const tableOf = (rows: Row[], { rounds, seconds }: Options, requests: number) => `
${markdown(HEADER, rows.map(cellsOf))}

Without / with ${TABS} tabs of ${TABS / TABS_PER_PERSON} staff users, half of them on Today and half on the attendance board, each polling every
${POLL_MS / 1000} s and reading its page again after a change: ${requests} requests in all. ${rounds} interleaved rounds of ${seconds} s; medians, and the
geometric mean of the rounds' ratios of requests per second, or of median times at a given rate, below 1 where tabs slow
them down. The tabs, the load generator and PostgreSQL share the machine's cores.
`;
