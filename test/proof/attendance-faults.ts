import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Database } from '../../src/database/database.ts';
import { loadDemoInto } from '../../src/demo/load.ts';
import { REGIONS } from '../../src/shared/regions.ts';
import { clientCredentials, GateClient, type GateEvent } from '../gate-client/gate-client.ts';
import { addWorkers, compareWithStory, storyOf } from '../support/attendance-story.ts';
import { randomOf, shuffled } from '../support/shuffle.ts';
import { Instance } from './instance.ts';
import { createSettings, startInstancePair } from './instance-pair.ts';
import { MortalPostgres } from './postgres.ts';

export interface FaultsOptions {
  events: number;
  workers: number;
  gates: number;
  /** Milliseconds between one fault and the next. */
  pause: number;
  say?: (line: string) => void;
}

interface FaultsReport {
  sent: number;
  events: number;
  visits: number;
  databaseKills: number;
  instanceKills: number;
  seconds: number;
  /** Deviations from the expected result. */
  wrong: string[];
}

const BASE_URL = 'http://localhost:4000';
const DUPLICATES = 0.2;

/**
 * Gates send their observed events to two instances, in random order and a fifth of them twice, while PostgreSQL and the instances are
 * killed and restarted; each gate repeats until every event has a response. No event may be lost or doubled.
 */
export async function attendanceFaults(options: FaultsOptions): Promise<FaultsReport> {
  const { events: count, workers, gates: gateCount, pause, say = () => {} } = options;
  const undo: (() => Promise<unknown>)[] = [];
  try {
    const postgres = await MortalPostgres.start();
    undo.push(() => postgres.remove());
    const databases = await postgres.openRegions();
    const demo = await loadDemoInto(databases, { baseUrl: BASE_URL, timesheets: 0 });
    const site = demo.attendance!;
    const { stays, events } = storyOf(await addWorkers(databases.au1, site, workers), count);
    for (const region of REGIONS) await databases[region].close();

    const instances = await startInstancePair(createSettings(postgres, BASE_URL), undo);

    const folder = await mkdtemp(join(tmpdir(), 'builder-api-gates-'));
    undo.push(() => rm(folder, { recursive: true, force: true }));
    const client = demo.clients.find(({ name }) => name === 'A')!;
    const gates = await Promise.all(
      Array.from({ length: gateCount }, (_, index) => {
        const baseUrl = instances[index % instances.length]!.origin;
        const credentials = {
          baseUrl,
          clientId: client.clientId,
          clientSecret: client.clientSecret!,
          audience: BASE_URL,
        };
        const { builderId, projectId } = site;
        return GateClient.open({
          ...{ baseUrl, builderId, projectId, token: clientCredentials(credentials) },
          ...{ folder: join(folder, String(index)), firstDelay: 50, longestDelay: 1_000, patience: 5_000 },
        });
      }),
    );
    const sent = await share(events, gates);
    const begun = Date.now();
    const faults = new Faults(postgres, instances, pause, say);
    await Promise.all(gates.map((gate) => gate.deliver())).finally(() => faults.end());
    const seconds = (Date.now() - begun) / 1000;

    const after = new Database('au1', postgres.url('au1'));
    undo.push(() => after.close());
    const wrong = [...wrongAnswers(events, gates), ...(await compareWithStory(after, stays, events))];
    const { databaseKills, instanceKills } = faults;
    return { sent, events: events.length, visits: stays.length, databaseKills, instanceKills, seconds, wrong };
  } finally {
    for (const step of undo.reverse()) await step().catch((error) => say(String(error)));
  }
}

/** Distributes the events to gates. An event that is sent twice is observed by two of them. */
async function share(events: GateEvent[], gates: GateClient[]): Promise<number> {
  const random = randomOf(20260601);
  const twice = shuffled(events, random).slice(0, events.length * DUPLICATES);
  const seen: GateEvent[][] = gates.map(() => []);
  for (const [list, shift] of [
    [shuffled(events, random), 0],
    [twice, 1],
  ] as const) {
    const places = new Map(events.map(({ sourceEventId }, index) => [sourceEventId, index + shift]));
    for (const event of list) seen[places.get(event.sourceEventId)! % gates.length]!.push(event);
  }
  await Promise.all(gates.map((gate, index) => gate.keep(...shuffled(seen[index]!, random))));
  return events.length + twice.length;
}

/** Returns the events that do not have one response of 201 or 202 at most, and 200 otherwise. */
function wrongAnswers(events: GateEvent[], gates: GateClient[]): string[] {
  const answers = new Map<string, number[]>(events.map(({ sourceEventId }) => [sourceEventId, []]));
  for (const { sourceEventId, status } of gates.flatMap(({ settled }) => settled)) {
    answers.get(sourceEventId)!.push(status);
  }
  return [...answers]
    .filter(([, statuses]) => {
      const first = statuses.filter((status) => status === 201 || status === 202);
      return statuses.length === 0 || first.length > 1 || statuses.some((status) => ![200, 201, 202].includes(status));
    })
    .map(([id, statuses]) => `event ${id} was answered ${statuses.join() || 'nothing'}`);
}

/** Kills the database and the instances in turn until the signal. All of them run afterwards. */
export class Faults {
  databaseKills = 0;
  instanceKills = 0;
  readonly #working: Promise<void>;
  #over = false;

  constructor(
    readonly postgres: MortalPostgres,
    readonly instances: Instance[],
    readonly pause: number,
    readonly say: (line: string) => void,
  ) {
    this.#working = this.#work();
  }

  async end(): Promise<void> {
    this.#over = true;
    await this.#working;
  }

  async #work(): Promise<void> {
    for (let turn = 0; ; turn++) {
      await sleep(this.pause);
      if (this.#over) return;
      if (turn % 2 === 0) {
        this.databaseKills++;
        this.say(`kill -9 of PostgreSQL (${this.databaseKills})`);
        await this.postgres.kill();
        await this.postgres.restart();
      } else {
        const instance = this.instances[this.instanceKills++ % this.instances.length]!;
        this.say(`kill -9 of an instance (${this.instanceKills})`);
        await instance.kill();
        await instance.start();
      }
    }
  }
}
