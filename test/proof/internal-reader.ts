import { setTimeout as sleep } from 'node:timers/promises';
import { Exchanges } from './exchange.ts';
import { isDuring, type Window } from './faults.ts';
import type { ReplicatedPostgres } from './replicated-postgres.ts';
import type { ProofSite } from './site.ts';

/** Milliseconds within which the reader has used every server. */
const SETTLED_MS = 1_000;

/** Longest time in milliseconds until a new standby answers reads. */
const PATIENCE_MS = 15_000;

interface InternalReaderOptions {
  site: ProofSite;
  servers: ReplicatedPostgres;
  token: () => Promise<string>;
  metricsToken: string;
}

/** An internal client, whose queries a standby may answer. It reads at one instance after the other. */
export class InternalReader {
  readonly #options: InternalReaderOptions;
  readonly #exchanges = new Exchanges();
  #isOver = false;
  readonly #reading: Promise<void>;

  constructor(options: InternalReaderOptions) {
    this.#options = options;
    this.#reading = this.#read();
  }

  get count(): number {
    return this.#exchanges.all.length;
  }

  /** Waits until the standby answers reads. Returns what is wrong. */
  async checkStandby(): Promise<string[]> {
    const url = this.#options.servers.replicasUrl('au1');
    const before = await this.#countReads(url);
    for (const until = Date.now() + PATIENCE_MS; Date.now() < until; await sleep(50)) {
      if ((await this.#countReads(url)) > before) return [];
    }
    return ['the standby answers no reads of an internal client'];
  }

  /** Returns what is wrong if the primary, which was a standby and is in both lists, is still used as one. */
  async checkPrimary(): Promise<string[]> {
    const url = this.#options.servers.primaryUrl('au1');
    const before = await this.#countReads(url);
    await sleep(SETTLED_MS);
    const reads = (await this.#countReads(url)) - before;
    return reads === 0 ? [] : [`the promoted server answered ${reads} reads as a standby`];
  }

  /** Returns the failures that no promotion explains. */
  async end(windows: readonly Window[]): Promise<string[]> {
    this.#isOver = true;
    await this.#reading;
    return this.#exchanges.all
      .filter((exchange) => exchange.problem !== '' && !windows.some((window) => isDuring(exchange, window)))
      .map(({ status, problem }) => `a query of an internal client: ${status} ${problem}`);
  }

  async #read(): Promise<void> {
    const { site, token } = this.#options;
    for (let turn = 0; !this.#isOver; turn++) {
      const { origin } = site.instances[turn % site.instances.length]!;
      const { body } = await this.#exchanges.send('internal query', `${origin}/graphql`, {
        method: 'POST',
        headers: { authorization: `Bearer ${await token()}`, 'content-type': 'application/json' },
        body: JSON.stringify({ query: '{ builders { data { id name } } }' }),
      });
      // An error of a field has status 200.
      if (body?.errors) this.#exchanges.all.at(-1)!.problem = JSON.stringify(body.errors).slice(0, 200);
      await sleep(20);
    }
  }

  /** Returns the reads that a server has answered as a standby, at all instances. */
  async #countReads(url: string): Promise<number> {
    const { host, pathname } = new URL(url);
    const label = `server="${host}${pathname}",outcome="ok"} `;
    const headers = { authorization: `Bearer ${this.#options.metricsToken}` };
    const counts = this.#options.site.instances.map(async ({ origin }) => {
      const text = await fetch(`${origin}/metrics`, { headers }).then((response) => response.text());
      const line = text.split('\n').find((each) => each.includes(label) && each.startsWith('database_replica_reads'));
      return Number(line?.split(label)[1] ?? 0);
    });
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  }
}
