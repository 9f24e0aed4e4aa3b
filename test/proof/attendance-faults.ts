import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Database } from '../../src/database/database.ts';
import { loadDemoInto } from '../../src/demo/load.ts';
import { REGIONS } from '../../src/shared/regions.ts';
import { createTokenSource, GateClient, type GateEvent } from '../gate-client/gate-client.ts';
import { addGateWorkers, createAttendanceScenario, findAttendanceDifferences } from '../support/attendance-scenario.ts';
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
          ...{ baseUrl, builderId, projectId, getToken: createTokenSource(credentials) },
          ...{
            folder: join(folder, String(index)),
            firstRetryDelayMs: 50,
            maxRetryDelayMs: 1_000,
            requestTimeoutMs: 5_000,
          },
        });
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
async function distribute(events: GateEvent[], gates: GateClient[]): Promise<number> {
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

/** Returns the events without a response, with more than one of 201 or 202, or with another one than 200 in addition. */
function findResponseProblems(events: GateEvent[], gates: GateClient[]): string[] {
  const responses = new Map<string, number[]>(events.map(({ sourceEventId }) => [sourceEventId, []]));
  for (const { sourceEventId, status } of gates.flatMap(({ results: settled }) => settled)) {
    responses.get(sourceEventId)!.push(status);
  }
  return [...responses]
    .filter(([, statuses]) => {
      const first = statuses.filter((status) => status === 201 || status === 202);
      return statuses.length === 0 || first.length > 1 || statuses.some((status) => ![200, 201, 202].includes(status));
    })
    .map(([id, statuses]) => `event ${id} was answered ${statuses.join() || 'nothing'}`);
}
