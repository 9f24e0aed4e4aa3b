/**
 * Tabs of the console: a process of its own, which takes processor time only when no other process of the bench wants it, because the
 * tabs of staff run on other machines. Each message opens tabs, or closes them, and is answered when that is done.
 */
import { readFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { TIME_ZONE } from './console-day.ts';

const LOWEST_PRIORITY = 19;
const DAY_MS = 24 * 3_600_000;
/** As in the browser: `src/console/browser/shared/live.tsx`. */
const POLL_MS = 1000;

const documentOf = (path: string) =>
  readFileSync(new URL(`../../../src/console/browser/${path}.graphql`, import.meta.url), 'utf8');

/** The documents of the pages. A tab that shows Today or the board executes one operation of each. */
const CHANGES = documentOf('graphql/scope');
const TODAY = documentOf('graphql/figures');
const BOARD = documentOf('pages/attendance/attendance');

export interface TabsOrder {
  origin: string;
  /** Every other one shows Today, the others the attendance board. */
  tabs: number;
  /** Cookies of the staff users' sessions. */
  sessions: string[];
  builderId: string;
  projectId: string;
}

/** What the tabs have done since they were opened. */
export interface TabsResult {
  polls: number;
  /** Reads of a page after a poll. */
  reads: number;
  seconds: number;
  /** Milliseconds of the process's CPU time. */
  cpu: number;
}

/** One tab of the console: it polls, and reads its page again when something of the builder has changed. */
class Tab {
  polls = 0;
  reads = 0;
  readonly #order: TabsOrder;
  readonly #session: string;
  readonly #isToday: boolean;
  readonly #closing = new AbortController();
  #cursor: string | null = null;
  #running: Promise<void> | null = null;

  constructor(order: TabsOrder, index: number) {
    this.#order = order;
    this.#session = order.sessions[index % order.sessions.length]!;
    this.#isToday = index % 2 === 0;
  }

  async open(): Promise<void> {
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
    this.polls++;
    this.#cursor = changes.cursor;
    const { builderId, projectId } = this.#order;
    if (!changes.reset && !changes.builderIds.includes(builderId)) return;
    const now = Date.now();
    const [monthBefore, date, dayAfter] = [-27, 0, 1].map((days) => toCalendarDate(now + days * DAY_MS));
    const day = { date, since: toMidnight(date!), until: toMidnight(dayAfter!), timeZone: TIME_ZONE };
    await (this.#isToday
      ? this.#query(TODAY, 'Today', { builderId, date, from: monthBefore, attendance: true }, changes.cursor)
      : this.#query(BOARD, 'Board', { builderId, projectId, ...day }, changes.cursor));
    this.reads++;
  }

  /** @param cursor of the poll after which the page reads its records again. */
  async #query<T>(query: string, operationName: string, variables: object, cursor?: string): Promise<T> {
    const headers = { cookie: this.#session, 'content-type': 'application/json', 'x-console-csrf': '1' };
    const response = await fetch(`${this.#order.origin}/console/graphql`, {
      method: 'POST',
      headers: cursor ? { ...headers, 'x-console-cursor': cursor } : headers,
      body: JSON.stringify({ query, operationName, variables }),
    });
    const { data, errors } = (await response.json()) as { data: T; errors?: unknown[] };
    if (errors) throw new Error(`${operationName} failed: ${JSON.stringify(errors)}`);
    return data;
  }
}

const toCalendarDate = (at: number) => new Date(at).toLocaleDateString('sv-SE', { timeZone: TIME_ZONE });

/** Midnight in summer. Conflicts alone are filtered by it, and there are none. */
const toMidnight = (date: string) => new Date(`${date}T00:00:00+11:00`).toISOString();

let tabs: Tab[] = [];
let openedAt = 0;
let cpuBefore = process.cpuUsage();

async function open(order: TabsOrder): Promise<null> {
  tabs = Array.from({ length: order.tabs }, (_, index) => new Tab(order, index));
  openedAt = performance.now();
  cpuBefore = process.cpuUsage();
  await Promise.all(tabs.map((tab) => tab.open()));
  return null;
}

async function close(): Promise<TabsResult> {
  const seconds = (performance.now() - openedAt) / 1000;
  await Promise.all(tabs.map((tab) => tab.close()));
  const { user, system } = process.cpuUsage(cpuBefore);
  const sum = (key: 'polls' | 'reads') => tabs.reduce((total, tab) => total + tab[key], 0);
  return { polls: sum('polls'), reads: sum('reads'), seconds, cpu: (user + system) / 1000 };
}

setPriority(LOWEST_PRIORITY);
process.on('message', (order: TabsOrder | null) => {
  (order ? open(order) : close()).then(
    (result) => process.send!(result),
    (error) => process.send!(String(error)),
  );
});
process.on('disconnect', () => process.exit());
