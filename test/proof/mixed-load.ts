import type { Database } from '../../src/database/database.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { IntegratorApplication, type WriteTarget } from './integrator-application.ts';
import type { ProofEnvironment } from './proof-environment.ts';
import { RequestRecorder } from './request-recorder.ts';
import { verifyWrites } from './write-verification.ts';

interface LoadOptions {
  /** Origins of the instances, or of the balancer before them. */
  origins: () => string[];
  /** Name of the run, a prefix of its external ids. */
  run: string;
  /** Concurrent loops of each integrator. */
  concurrency: number;
  /** Milliseconds between two requests of a loop. */
  pause: number;
  /** Reads per second, whether or not earlier ones have a response; 0 for none. */
  readsPerSecond: number;
}

/** The load of three integrators, with records of the responses. */
export class MixedLoad {
  readonly recorder = new RequestRecorder();
  readonly applications: IntegratorApplication[] = [];
  #isOver = false;
  #running: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;

  static async start(environment: ProofEnvironment, options: LoadOptions): Promise<MixedLoad> {
    const load = new MixedLoad();
    const database = environment.database();
    let index = 0;
    const origin = () => {
      const origins = options.origins();
      return origins[index++ % origins.length]!;
    };
    for (const name of ['A', 'B', 'C']) {
      const client = environment.demo.clients.find((one) => one.name === name)!;
      const target = await createWriteTarget(database, client.builderIds.at(-1)!, options.run, name);
      load.applications.push(
        new IntegratorApplication(client, target, load.recorder, origin, options.run, environment.settings.BASE_URL),
      );
    }
    const isOver = () => load.#isOver;
    const { concurrency, pause, readsPerSecond } = options;
    load.#running = Promise.all(
      load.applications.flatMap((application) => [
        application.runReportLoop(isOver, 4 * pause),
        ...Array.from({ length: concurrency }, () => application.runLoop(isOver, pause)),
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
    this.#isOver = true;
    clearInterval(this.#timer);
    await this.#running;
    while (this.recorder.inFlight > 0) await new Promise((done) => setTimeout(done, 20));
  }

  get acknowledged(): number {
    return this.applications.reduce((sum, { acknowledged }) => sum + acknowledged.size, 0);
  }

  get retries(): number {
    return this.applications.reduce((sum, { retries }) => sum + retries, 0);
  }

  discardTokens(): void {
    for (const application of this.applications) application.discardToken();
  }

  /** Returns acknowledged writes that the service does not have, or has twice. */
  async verifyWrites(database: Database, storage: Storage): Promise<string[]> {
    const found = this.applications.map((application) => verifyWrites(database, storage, application));
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
