/**
 * Program that simulates tabs of the console. It runs at the lowest priority because the tabs of staff users run on other machines. A
 * message opens tabs or closes them; the reply is sent when this is done.
 */
import { readFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { TIME_ZONE } from './console-attendance.ts';

const LOWEST_PRIORITY = 19;
const DAY_MS = 24 * 3_600_000;
/** Same interval as in the browser: `src/console/browser/shared/live.tsx`. */
const POLL_MS = 1000;

const readDocument = (path: string) =>
  readFileSync(new URL(`../../../src/console/browser/${path}.graphql`, import.meta.url), 'utf8');

/** GraphQL documents of the pages. Each of them contains an operation that the tabs execute. */
const CHANGES = readDocument('graphql/scope');
const TODAY = readDocument('graphql/figures');
const BOARD = readDocument('pages/attendance/attendance');

export interface TabsOptions {
  origin: string;
  /** Number of tabs. Half of them show Today, the others the attendance board. */
  tabs: number;
  /** Cookies of the staff users' sessions. */
  sessions: string[];
  builderId: string;
  projectId: string;
}

/** Counts since the tabs were opened. */
export interface TabsResult {
  polls: number;
  /** Reads of a page after a poll. */
  reads: number;
  seconds: number;
  /** Milliseconds of the process's CPU time. */
  cpu: number;
}

/** One tab of the console. It polls for changes, and reads its page again after a change of the builder's records. */
class Tab {
  polls = 0;
  reads = 0;
  readonly #options: TabsOptions;
  readonly #session: string;
  readonly #isToday: boolean;
  readonly #closing = new AbortController();
  #cursor: string | null = null;
  #running: Promise<void> | null = null;

  constructor(options: TabsOptions, index: number) {
    this.#options = options;
    this.#session = options.sessions[index % options.sessions.length]!;
    this.#isToday = index % 2 === 0;
  }

  async open(): Promise<void> {
    await this.#poll();
    this.#running = this.#run();
    // `close` rejects with an error of the loop.
    this.#running.catch(() => undefined);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    // Spreads the polls of the tabs over the interval.
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
    const { builderId, projectId } = this.#options;
    if (!changes.reset && !changes.builderIds.includes(builderId)) return;
    const now = Date.now();
    const [monthBefore, date, dayAfter] = [-27, 0, 1].map((days) => toCalendarDate(now + days * DAY_MS));
    const day = { date, since: toMidnight(date!), until: toMidnight(dayAfter!), timeZone: TIME_ZONE };
    await (this.#isToday
      ? this.#query(TODAY, 'Today', { builderId, date, from: monthBefore, attendance: true })
      : this.#query(BOARD, 'Board', { builderId, projectId, ...day }));
    this.reads++;
  }

  async #query<T>(query: string, operationName: string, variables: object): Promise<T> {
    const response = await fetch(`${this.#options.origin}/console/graphql`, {
      method: 'POST',
      headers: { cookie: this.#session, 'content-type': 'application/json', 'x-console-csrf': '1' },
      body: JSON.stringify({ query, operationName, variables }),
    });
    const { data, errors } = (await response.json()) as { data: T; errors?: unknown[] };
    if (errors) throw new Error(`${operationName} failed: ${JSON.stringify(errors)}`);
    return data;
  }
}

const toCalendarDate = (time: number) => new Date(time).toLocaleDateString('sv-SE', { timeZone: TIME_ZONE });

/** Returns midnight in daylight saving time. The times only filter conflicts, and the data contain none. */
const toMidnight = (date: string) => new Date(`${date}T00:00:00+11:00`).toISOString();

let tabs: Tab[] = [];
let openedAt = 0;
let cpuBefore = process.cpuUsage();

async function openTabs(options: TabsOptions): Promise<null> {
  tabs = Array.from({ length: options.tabs }, (_, index) => new Tab(options, index));
  openedAt = performance.now();
  cpuBefore = process.cpuUsage();
  await Promise.all(tabs.map((tab) => tab.open()));
  return null;
}

async function closeTabs(): Promise<TabsResult> {
  const seconds = (performance.now() - openedAt) / 1000;
  await Promise.all(tabs.map((tab) => tab.close()));
  const { user, system } = process.cpuUsage(cpuBefore);
  const sum = (key: 'polls' | 'reads') => tabs.reduce((total, tab) => total + tab[key], 0);
  return { polls: sum('polls'), reads: sum('reads'), seconds, cpu: (user + system) / 1000 };
}

setPriority(LOWEST_PRIORITY);
process.on('message', (options: TabsOptions | null) => {
  (options ? openTabs(options) : closeTabs()).then(
    (result) => process.send!(result),
    (error) => process.send!(String(error)),
  );
});
process.on('disconnect', () => process.exit());
