import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFileStore } from '../../sdk/src/gate/file-store.ts';
import { type GateEvent, GateQueue } from '../../sdk/src/gate/queue.ts';
import { createClient } from '../../sdk/src/index.ts';
import { Database } from '../../src/database/database.ts';
import { REGIONS } from '../../src/shared/regions.ts';
import { addGateWorkers, createAttendanceScenario, findAttendanceDifferences } from '../support/attendance-scenario.ts';
import { loadDemoInto } from '../support/load-demo.ts';
import { createRandom, shuffle } from '../support/random.ts';
import { createSettings, startInstancePair } from './instance-pair.ts';
import { KillLoop } from './kill-loop.ts';
import { KillablePostgres } from './killable-postgres.ts';

export interface AttendanceFaultsOptions {
  events: number;
  workers: number;
  gates: number;
  /** Milliseconds between one fault and the next. */
  pause: number;
  log?: (line: string) => void;
}

interface AttendanceFaultsReport {
  sent: number;
  events: number;
  visits: number;
  databaseKills: number;
  instanceKills: number;
  seconds: number;
  /** Deviations from the expected result. */
  problems: string[];
}

const BASE_URL = 'http://localhost:4000';
const DUPLICATES = 0.2;

/**
 * Gates send their observed events to two instances, in random order and a fifth of them twice, while PostgreSQL and the instances are
 * killed and restarted; each gate repeats until every event has a response. No event may be lost or doubled.
 */
export async function attendanceFaults(options: AttendanceFaultsOptions): Promise<AttendanceFaultsReport> {
  const { events: count, workers, gates: gateCount, pause, log = () => {} } = options;
  const undo: (() => Promise<unknown>)[] = [];
  try {
    const postgres = await KillablePostgres.start();
    undo.push(() => postgres.remove());
    const databases = await postgres.createRegionDatabases();
    const demo = await loadDemoInto(databases, { baseUrl: BASE_URL, timesheets: 0 });
    const site = demo.attendance!;
    const { visits: stays, events } = createAttendanceScenario(
      await addGateWorkers(databases.au1, site, workers),
      count,
    );
    for (const region of REGIONS) await databases[region].close();

    const instances = await startInstancePair(createSettings(postgres, BASE_URL), undo);

    const folder = await mkdtemp(join(tmpdir(), 'builder-api-gates-'));
    undo.push(() => rm(folder, { recursive: true, force: true }));
    const account = demo.clients.find(({ name }) => name === 'A')!;
    const gates = await Promise.all(
      Array.from({ length: gateCount }, (_, index) => {
        const client = createClient({
          baseUrl: instances[index % instances.length]!.origin,
          audience: BASE_URL,
          clientId: account.clientId,
          clientSecret: account.clientSecret!,
          scopes: ['write:sign_on_events'],
          timeoutMs: 5_000,
          retryDelayMs: 50,
        });
        const { builderId, projectId } = site;
        const store = createFileStore(join(folder, String(index)));
        return GateQueue.open({ client, builderId, projectId, store, maxRetryDelayMs: 1_000 });
      }),
    );
    const sent = await distribute(events, gates);
    const begun = Date.now();
    const faults = new KillLoop(postgres, instances, pause, log);
    await Promise.all(gates.map((gate) => gate.deliver())).finally(() => faults.end());
    const seconds = (Date.now() - begun) / 1000;

    const after = new Database('au1', postgres.url('au1'));
    undo.push(() => after.close());
    const problems = [
      ...findResponseProblems(events, gates),
      ...(await findAttendanceDifferences(after, stays, events)),
    ];
    const { databaseKills, instanceKills } = faults;
    return { sent, events: events.length, visits: stays.length, databaseKills, instanceKills, seconds, problems };
  } finally {
    for (const step of undo.reverse()) await step().catch((error) => log(String(error)));
  }
}

/** Distributes the events to gates, a fifth of them to two gates. Returns the number of events to send. */
async function distribute(events: GateEvent[], gates: GateQueue[]): Promise<number> {
  const random = createRandom(20260601);
  const twice = shuffle(events, random).slice(0, events.length * DUPLICATES);
  const eventsByGate: GateEvent[][] = gates.map(() => []);
  for (const [list, shift] of [
    [shuffle(events, random), 0],
    [twice, 1],
  ] as const) {
    const gateIndexes = new Map(events.map(({ sourceEventId }, index) => [sourceEventId, index + shift]));
    for (const event of list) eventsByGate[gateIndexes.get(event.sourceEventId)! % gates.length]!.push(event);
  }
  await Promise.all(gates.map((gate, index) => gate.enqueue(...shuffle(eventsByGate[index]!, random))));
  return events.length + twice.length;
}

/** Returns the events without a result, with one that is a refusal, or with more than one that is no duplicate. */
function findResponseProblems(events: GateEvent[], gates: GateQueue[]): string[] {
  const results = Map.groupBy(
    gates.flatMap((gate) => gate.results),
    ({ sourceEventId }) => sourceEventId,
  );
  return events.flatMap(({ sourceEventId }) => {
    const own = results.get(sourceEventId) ?? [];
    const isRight = own.length > 0 && own.every(({ status }) => status !== 'REFUSED');
    if (isRight && own.filter(({ duplicate }) => !duplicate).length <= 1) return [];
    return [`event ${sourceEventId} has the results ${JSON.stringify(own)}`];
  });
}
