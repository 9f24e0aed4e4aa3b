import type { LightMyRequestResponse } from 'fastify';
import pg from 'pg';
import { expect } from 'vitest';

/**
 * A transaction on a connection of its own. A test keeps it open while requests of the service wait for its locks, so that
 * their statements interleave in one known order. A request that waits for a lock for more than four seconds fails;
 * call `useLongerTimeLimits` in the test file.
 */
export class ConcurrentTransaction {
  readonly #client: pg.Client;
  /** A second connection: a transaction sees one snapshot of the activity of others. */
  readonly #observer: pg.Client;

  private constructor(url: string) {
    this.#client = new pg.Client({ connectionString: url });
    this.#observer = new pg.Client({ connectionString: url });
  }

  static async open(url: string): Promise<ConcurrentTransaction> {
    const transaction = new ConcurrentTransaction(url);
    await Promise.all([transaction.#client.connect(), transaction.#observer.connect()]);
    return transaction;
  }

  async close(): Promise<void> {
    await Promise.all([this.#client.end(), this.#observer.end()]);
  }

  /**
   * Runs the work while the transaction is open, after its first statement; then commits, also when the work fails. With a table lock `in
   * share mode`, other transactions can read the table and lock its rows, but not write.
   */
  async whileOpen<T>(sql: string, values: unknown[], work: () => Promise<T>): Promise<T> {
    await this.#client.query('begin');
    try {
      await this.#client.query(sql, values);
      return await work();
    } finally {
      await this.#client.query('commit');
    }
  }

  /**
   * Responses of requests that are sent one after the other while the transaction is open, each once those before it wait for
   * locks.
   *
   * @param check runs when all of them wait
   */
  async respondWhileOpen(
    sql: string,
    values: unknown[],
    requests: readonly (() => Promise<LightMyRequestResponse>)[],
    check: () => Promise<void> = async () => undefined,
  ): Promise<LightMyRequestResponse[]> {
    const responses: Promise<LightMyRequestResponse>[] = [];
    await this.whileOpen(sql, values, async () => {
      for (const send of requests) {
        responses.push(send());
        await this.untilWaiting(responses.length);
      }
      await check();
    });
    return Promise.all(responses);
  }

  /** Resolves once that many statements of this database wait for locks. */
  async untilWaiting(count: number): Promise<void> {
    const sql = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
    await expect.poll(async () => (await this.#observer.query(sql)).rows.length, { interval: 10 }).toBe(count);
  }

  /** Returns the ids of the rows on which no other transaction has a lock that conflicts with the mode. */
  async findUnlocked(table: string, ids: readonly string[], mode: 'share' | 'update'): Promise<string[]> {
    const sql = `select id from ${table} where id = any($1) order by id for ${mode} skip locked`;
    return (await this.#observer.query<{ id: string }>(sql, [ids])).rows.map(({ id }) => id);
  }
}
