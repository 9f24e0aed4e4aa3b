import { setTimeout as sleep } from 'node:timers/promises';
import { type FaultWindow, isDuring } from './faults.ts';
import type { ProofEnvironment } from './proof-environment.ts';
import type { ReplicatedPostgres } from './replicated-postgres.ts';
import { RequestRecorder } from './request-recorder.ts';

/** Milliseconds in which the reader uses every server. */
const OBSERVATION_MS = 1_000;

/** Maximum milliseconds until a new standby answers reads. */
const STANDBY_TIMEOUT_MS = 15_000;

interface InternalReaderOptions {
  environment: ProofEnvironment;
  servers: ReplicatedPostgres;
  token: () => Promise<string>;
  metricsToken: string;
}

/** Sends queries of an internal client, which standbys may answer, to one instance after the other. */
export class InternalReader {
  readonly #options: InternalReaderOptions;
  readonly #recorder = new RequestRecorder();
  #isOver = false;
  readonly #running: Promise<void>;

  constructor(options: InternalReaderOptions) {
    this.#options = options;
    this.#running = this.#read();
  }

  get count(): number {
    return this.#recorder.requests.length;
  }

  /** Waits until the standby answers reads. Returns a problem if it does not. */
  async checkStandby(): Promise<string[]> {
    const url = this.#options.servers.replicasUrl('au1');
    const before = await this.#countReads(url);
    for (const until = Date.now() + STANDBY_TIMEOUT_MS; Date.now() < until; await sleep(50)) {
      if ((await this.#countReads(url)) > before) return [];
    }
    return ['the standby answers no reads of an internal client'];
  }

  /** Returns a problem if the primary, which was a standby and is in both lists of servers, still answers reads as a standby. */
  async checkPrimary(): Promise<string[]> {
    const url = this.#options.servers.primaryUrl('au1');
    const before = await this.#countReads(url);
    await sleep(OBSERVATION_MS);
    const reads = (await this.#countReads(url)) - before;
    return reads === 0 ? [] : [`the promoted server answered ${reads} reads as a standby`];
  }

  /** Returns the failures that no promotion explains. */
  async end(windows: readonly FaultWindow[]): Promise<string[]> {
    this.#isOver = true;
    await this.#running;
    return this.#recorder.requests
      .filter((request) => request.problem !== '' && !windows.some((window) => isDuring(request, window)))
      .map(({ status, problem }) => `a query of an internal client: ${status} ${problem}`);
  }

  async #read(): Promise<void> {
    const { environment, token } = this.#options;
    for (let index = 0; !this.#isOver; index++) {
      const { origin } = environment.instances[index % environment.instances.length]!;
      const { body } = await this.#recorder.send('internal query', `${origin}/graphql`, {
        method: 'POST',
        headers: { authorization: `Bearer ${await token()}`, 'content-type': 'application/json' },
        body: JSON.stringify({ query: '{ builders { data { id name } } }' }),
      });
      // An error of a field has status 200.
      if (body?.errors) this.#recorder.requests.at(-1)!.problem = JSON.stringify(body.errors).slice(0, 200);
      await sleep(20);
    }
  }

  /** Returns the reads that a server has answered as a standby, at all instances. */
  async #countReads(url: string): Promise<number> {
    const { host, pathname } = new URL(url);
    const label = `server="${host}${pathname}",outcome="ok"} `;
    const headers = { authorization: `Bearer ${this.#options.metricsToken}` };
    const counts = this.#options.environment.instances.map(async ({ origin }) => {
      const text = await fetch(`${origin}/metrics`, { headers }).then((response) => response.text());
      const line = text.split('\n').find((each) => each.includes(label) && each.startsWith('database_replica_reads'));
      return Number(line?.split(label)[1] ?? 0);
    });
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  }
}
