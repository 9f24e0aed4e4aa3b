import { setTimeout as sleep } from 'node:timers/promises';
import type { ReplicatedPostgres } from './replicated-postgres.ts';

interface FeedReaderOptions {
  origins: () => string[];
  token: () => Promise<string>;
  builderId: string;
  types: readonly string[];
}

interface Page {
  data: { id: string }[];
  meta: { nextCursor: string; hasMore: boolean };
}

/** Reads the event feed as an integrator, from one instance after the other, during faults too. */
export class FeedReader {
  readonly #options: FeedReaderOptions;
  readonly #readIds: string[] = [];
  readonly #expired: number[] = [];
  #cursor = '';
  #isOver = false;
  #running: Promise<void> = Promise.resolve();

  private constructor(options: FeedReaderOptions) {
    this.#options = options;
  }

  /** Starts at the end of the log. */
  static async start(options: FeedReaderOptions): Promise<FeedReader> {
    const reader = new FeedReader(options);
    await reader.#read(0);
    if (reader.#cursor === '') throw new Error('The feed does not answer.');
    reader.#running = reader.#follow();
    return reader;
  }

  get cursor(): string {
    return this.#cursor;
  }

  /** Reads to the end of the log, and records missing, doubled and disordered events. Returns the number of events. */
  async end(servers: ReplicatedPostgres, problems: string[]): Promise<number> {
    const { builderId, types } = this.#options;
    await sleep(1_000);
    this.#isOver = true;
    await this.#running;
    for (let more = true; more; ) more = await this.#read(0);
    const stored = await servers.executeOnPrimary('au1', async (client) => {
      const sql = `select id from event where builder_id = $1 and type = any($2) order by number`;
      return (await client.query<{ id: string }>(sql, [builderId, types])).rows.map(({ id }) => id);
    });
    const expected = stored.slice(stored.indexOf(this.#readIds[0]!));
    if (this.#expired.length > 0) problems.push(`a cursor expired ${this.#expired.length} times`);
    if (new Set(this.#readIds).size !== this.#readIds.length) problems.push('an event was read twice');
    if (this.#readIds.length === 0 || this.#readIds.join() !== expected.join()) {
      problems.push(
        `${this.#readIds.length} events were read, and the log has ${expected.length} since the first of them`,
      );
    }
    return this.#readIds.length;
  }

  async #follow(): Promise<void> {
    for (let index = 0; !this.#isOver; index++) {
      await this.#read(index).catch(() => sleep(100));
      await sleep(50);
    }
  }

  /** Reads a page. Returns whether there are more events. */
  async #read(index: number): Promise<boolean> {
    const { origins, token, builderId, types } = this.#options;
    const list = origins();
    const search = new URLSearchParams([['builderId', builderId], ...types.map((type) => ['types', type])]);
    if (this.#cursor) search.set('after', this.#cursor);
    const response = await fetch(`${list[index % list.length]}/events?${search}`, {
      headers: { authorization: `Bearer ${await token()}` },
      signal: AbortSignal.timeout(15_000),
    });
    if (response.status === 410) this.#expired.push(index);
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
    const { data, meta } = (await response.json()) as Page;
    this.#readIds.push(...data.map(({ id }) => id));
    this.#cursor = meta.nextCursor;
    return meta.hasMore;
  }
}
