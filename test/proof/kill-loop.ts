import { setTimeout as sleep } from 'node:timers/promises';
import type { Instance } from './instance.ts';
import type { KillablePostgres } from './killable-postgres.ts';

/** Kills the database and the instances by turns until `end` is called. All of them run afterwards. */
export class KillLoop {
  databaseKills = 0;
  instanceKills = 0;
  readonly #running: Promise<void>;
  #isOver = false;

  constructor(
    readonly postgres: KillablePostgres,
    readonly instances: Instance[],
    readonly pause: number,
    readonly log: (line: string) => void,
  ) {
    this.#running = this.#run();
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  async #run(): Promise<void> {
    for (let round = 0; ; round++) {
      await sleep(this.pause);
      if (this.#isOver) return;
      if (round % 2 === 0) {
        this.databaseKills++;
        this.log(`kill -9 of PostgreSQL (${this.databaseKills})`);
        await this.postgres.kill();
        await this.postgres.restart();
      } else {
        const instance = this.instances[this.instanceKills++ % this.instances.length]!;
        this.log(`kill -9 of an instance (${this.instanceKills})`);
        await instance.kill();
        await instance.start();
      }
    }
  }
}
