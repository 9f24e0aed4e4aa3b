import type { Database } from '../../src/database/database.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { differencesOf } from './differences.ts';
import { Exchanges } from './exchange.ts';
import { Application, type WriteTarget } from './integrator.ts';
import type { ProofSite } from './site.ts';

interface LoadOptions {
  /** Origins of the instances, or of the balancer before them. */
  origins: () => string[];
  /** Name of the run, a prefix of its external ids. */
  run: string;
  /** Concurrent loops of each integrator. */
  atATime: number;
  /** Milliseconds between two requests of a loop. */
  pause: number;
  /** Reads per second, whether or not earlier ones have a response; 0 for none. */
  readsPerSecond: number;
}

/** The load of three integrators, and their records of the responses. */
export class MixedLoad {
  readonly exchanges = new Exchanges();
  readonly applications: Application[] = [];
  #over = false;
  #working: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  static async start(site: ProofSite, options: LoadOptions): Promise<MixedLoad> {
    const load = new MixedLoad();
    const database = site.database();
    let turn = 0;
    const origin = () => {
      const origins = options.origins();
      return origins[turn++ % origins.length]!;
    };
    for (const name of ['A', 'B', 'C']) {
      const client = site.demo.clients.find((one) => one.name === name)!;
      const target = await createWriteTarget(database, client.builderIds.at(-1)!, options.run, name);
      load.applications.push(new Application(client, target, load.exchanges, origin, options.run));
    }
    const isOver = () => load.#over;
    const { atATime, pause, readsPerSecond } = options;
    load.#working = Promise.all(
      load.applications.flatMap((application) => [
        application.keepReport(isOver, 4 * pause),
        ...Array.from({ length: atATime }, () => application.work(isOver, pause)),
      ]),
    );
    if (readsPerSecond > 0) {
      const [first] = load.applications;
      load.#timer = setInterval(() => void first!.read(), 1000 / readsPerSecond);
    }
    return load;
  }

  /** Waits for the requests in progress. */
  async end(): Promise<void> {
    this.#over = true;
    clearInterval(this.#timer);
    await this.#working;
    while (this.exchanges.inFlight > 0) await new Promise((done) => setTimeout(done, 20));
  }

  get acknowledged(): number {
    return this.applications.reduce((sum, { acknowledged }) => sum + acknowledged.size, 0);
  }

  get retries(): number {
    return this.applications.reduce((sum, { retries }) => sum + retries, 0);
  }

  forgetTokens(): void {
    for (const application of this.applications) application.forgetToken();
  }

  /** Returns acknowledged writes that the service does not have, or has twice. */
  async differences(database: Database, storage: Storage): Promise<string[]> {
    const found = this.applications.map((application) => differencesOf(database, storage, application));
    return (await Promise.all(found)).flat();
  }
}

async function createWriteTarget(
  database: Database,
  builderId: string,
  run: string,
  name: string,
): Promise<WriteTarget> {
  const em = database.fork();
  const sql = 'select id from project where builder_id = ? order by id limit 1';
  const [project] = (await em.execute(sql, [builderId])) as { id: string }[];
  const prefix = `wkr_${run}${name}`.toLowerCase();
  const workers = (await em.execute(
    `insert into worker (id, created_at, updated_at, builder_id, subcontractor_id, full_name)
      select ? || n, now(), now(), s.builder_id, s.id, 'Worker ' || n
      from generate_series(1, 50) n, (select id, builder_id from subcontractor where builder_id = ? limit 1) s
      returning id`,
    [prefix, builderId],
  )) as { id: string }[];
  await em.execute(
    `insert into site_access (builder_id, worker_id, project_id, granted_at)
      select builder_id, id, ?, now() from worker where id like ?`,
    [project!.id, `${prefix}%`],
  );
  return { builderId, projectId: project!.id, workers: workers.map(({ id }) => id) };
}
