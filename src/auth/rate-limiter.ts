import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import type { RateLimit } from '../config/parsers.ts';
import type { Database } from '../database/database.ts';
import { isReadOnlyError } from '../database/errors.ts';
import { statement } from '../database/pool/pg-pipeline.ts';
import type { Clock } from '../shared/clock.ts';
import { rateLimited } from '../shared/errors.ts';

const LEASE = statement('limits.lease')`insert into rate_budget (key, window_end, leased) values ($1, $2, $3)
  on conflict (key, window_end) do update set leased = rate_budget.leased + excluded.leased returning leased`;

/** Also compares the database's clock: an instance whose clock is ahead must not delete current windows. */
const PURGE = statement('limits.purge')`
  delete from rate_budget where window_end < least($1, now() - interval '1 minute')`;

/** Maximum windows in memory: an attacker with many addresses creates as many. */
const MAX_WINDOWS = 50_000;

/** Blocks that a window's budget is leased in. */
const BLOCKS = 20;

/** Rejections per key and window that are sent without delay. */
const PROMPT_REJECTIONS = 100;
/** Average delay of a rejection. It is random, because equal delays would send all rejections in one turn of the event loop. */
const REJECTION_DELAY_MS = 500;
/** Maximum concurrent delayed rejections per key and window. */
const MAX_DELAYED = 500;

interface Window {
  /** Milliseconds since the epoch. */
  end: number;
  /** Requests that remain of this instance's leases. */
  left: number;
  /** Requests that no instance had leased at the last lease. */
  unleased: number;
  leasing: Promise<void> | null;
  rejected: number;
  /** Rejections that are delayed now. */
  delayed: number;
}

/**
 * A request budget per key and fixed window, shared by all instances. Each instance leases small blocks of it from the database, so that
 * the limit is exact and a request need not write a row. LIM-6. While the database is read-only each process has the whole budget.
 */
export class RateLimiter {
  readonly name: string;
  /** Number of rejected requests, for metrics. */
  rejections = 0;
  readonly #limit: RateLimit | null;
  readonly #clock: Clock;
  /** By name and key, in the order of their start: ended windows come first. */
  readonly #windows = new Map<string, Window>();
  #purgedAt = 0;

  constructor(name: string, limit: RateLimit | null, clock: Clock) {
    this.name = name;
    this.#limit = limit;
    this.#clock = clock;
  }

  /**
   * Charges one request to the key's budget; rejects with 429 when the budget is used up. Undefined where there is nothing to wait for, as
   * for most requests.
   *
   * @param reply gets the rate-limit headers; null for requests whose responses have none (LIM-5).
   */
  take(database: Database, key: string, reply: FastifyReply | null): Promise<void> | undefined {
    if (!this.#limit) return undefined;
    const window = this.#currentWindow(`${this.name}:${key}`);
    if (window.left === 0) return this.#takeAfterLease(database, key, reply, window);
    window.left--;
    this.#setHeaders(reply, window);
    return undefined;
  }

  async #takeAfterLease(database: Database, key: string, reply: FastifyReply | null, window: Window): Promise<void> {
    while (window.left === 0 && window.unleased > 0) {
      window.leasing ??= this.#lease(database, `${this.name}:${key}`, window);
      await window.leasing;
    }
    const allowed = window.left > 0;
    if (allowed) window.left--;
    const seconds = this.#setHeaders(reply, window);
    if (allowed) return;
    this.rejections++;
    await this.#delayRejection(window);
    throw rateLimited(seconds);
  }

  /** Returns the seconds until the end of the window. */
  #setHeaders(reply: FastifyReply | null, window: Window): number {
    const seconds = Math.max(1, Math.ceil((window.end - this.#clock.now()) / 1000));
    reply?.headers({
      'x-ratelimit-limit': this.#limit!.requests,
      'x-ratelimit-remaining': window.left + window.unleased,
      'x-ratelimit-reset': seconds,
    });
    return seconds;
  }

  /** Delays a rejection after the first ones, so that a client that keeps sending does not cost as much as with responses. */
  async #delayRejection(window: Window): Promise<void> {
    if (++window.rejected <= PROMPT_REJECTIONS || window.delayed >= MAX_DELAYED) return;
    window.delayed++;
    await sleep(REJECTION_DELAY_MS * (0.5 + Math.random()));
    window.delayed--;
  }

  #currentWindow(key: string): Window {
    const { requests, seconds } = this.#limit!;
    const now = this.#clock.now();
    let window = this.#windows.get(key);
    if (!window || window.end <= now || window.end > now + seconds * 1000) {
      const end = (Math.floor(now / (seconds * 1000)) + 1) * seconds * 1000;
      window = { end, left: 0, unleased: requests, leasing: null, rejected: 0, delayed: 0 };
      this.#windows.delete(key);
      this.#windows.set(key, window);
      this.#evictOldest(now);
    }
    return window;
  }

  async #lease(database: Database, key: string, window: Window): Promise<void> {
    const { requests } = this.#limit!;
    const block = Math.ceil(requests / BLOCKS);
    try {
      const [row] = await database.runner.run(LEASE, [key, new Date(window.end), block]);
      const before = Number(row![0]) - block;
      window.left += Math.max(0, Math.min(block, requests - before));
      window.unleased = Math.max(0, requests - before - block);
      this.#purge(database);
    } catch (error) {
      if (!isReadOnlyError(error)) throw error;
      window.left += window.unleased;
      window.unleased = 0;
    } finally {
      window.leasing = null;
    }
  }

  /** Deletes ended windows from the database, at most once a minute. */
  #purge(database: Database): void {
    const now = this.#clock.now();
    if (now - this.#purgedAt < 60_000) return;
    this.#purgedAt = now;
    database.runner.run(PURGE, [new Date(now - 60_000)]).catch(() => undefined);
  }

  /** Drops ended windows, and the oldest beyond the bound. The rest of a dropped lease is lost, which keeps the limit. */
  #evictOldest(now: number): void {
    for (const [key, window] of this.#windows) {
      if (window.end > now && this.#windows.size <= MAX_WINDOWS) return;
      this.#windows.delete(key);
    }
  }
}
